"""Call time: what is needed to judge one call, on the standard library alone.

google-re2 is loaded only when a field has a `pattern`; yaml, lark, jsonschema, typer and rich are
never.
"""
