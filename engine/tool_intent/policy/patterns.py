"""Whether a field's `pattern` is one that RE2 runs; if not, what to write instead."""

from __future__ import annotations

from typing import Final, NamedTuple

#: What a JSON Schema offers for what a pattern cannot do, by how its fault is told.
_INSTEAD: Final = {
    "look-": (
        "the pattern looks around, which RE2 cannot do in linear time",
        (
            "put what must hold and what must not in two schemas: "
            "allOf: [{pattern: …}, {not: {pattern: …}}]"
        ),
    ),
    "back-references": (
        "the pattern refers back to a group, which RE2 cannot do in linear time",
        "write the repeated part out, or list the values under `enum`",
    ),
    "`{": ("", "use `minLength` and `maxLength` for lengths"),
    "counts": ("", "lower one of them, or use `minLength` and `maxLength` for lengths"),
    "conditional": ("", "put the cases in schemas of their own: anyOf: [{pattern: …}, …]"),
    "comments": ("", "put a comment on its own line of the policy"),
}


class PatternFault(NamedTuple):
    """Why RE2 refuses a pattern, and what to write."""

    message: str
    help: str


def pattern_fault(pattern: str) -> PatternFault | None:
    """What is wrong with a field's pattern, or None."""
    from tool_intent.rules.regex import PatternError, compile_pattern

    try:
        compile_pattern(pattern, unicode_classes=False)
    except PatternError as error:
        for start, (message, instead) in _INSTEAD.items():
            if error.message.startswith(start):
                return PatternFault(message or error.message, instead)
        return PatternFault(error.message, error.help)
    return None
