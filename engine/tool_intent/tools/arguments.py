"""The arguments of a call held against the tool's schema.

The schemas of the built-in tools use `type`, `properties`, `required`, `items` and
`additionalProperties: false` and nothing else, so this reads no more than these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tool_intent.tools.model import ToolError
from tool_intent.tools.wording import nearest, shown

#: Faults one message lists.
_LISTED: Final = 8

_WORDS: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
}


def checked(tool: str, schema: Mapping[str, Any], args: object) -> dict[str, Any]:
    """`args` as a dictionary that holds to `schema`.

    Raises `ToolError` that names every unknown, missing and mistyped argument.
    """
    if not isinstance(args, Mapping):
        raise ToolError(
            f"{tool} was not run: the arguments are {_kind(args)}, not an object. {_usage(schema)}"
        )
    faults = list(_faults(schema, args, ""))
    if not faults:
        return dict(args)
    listed = "; ".join(faults[:_LISTED])
    more = f"; and {len(faults) - _LISTED} more" if len(faults) > _LISTED else ""
    raise ToolError(f"{tool} was not run: {listed}{more}. {_usage(schema)}")


def _faults(schema: Mapping[str, Any], value: object, at: str) -> Iterator[str]:
    kind = schema["type"]
    if not _is(kind, value):
        yield f"{at} must be {_WORDS[kind]}, not {_kind(value)}"
    elif isinstance(value, Mapping):
        yield from _object_faults(schema, value, f"{at}." if at else "")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _faults(schema["items"], element, f"{at}[{index}]")


def _object_faults(
    schema: Mapping[str, Any], value: Mapping[str, object], prefix: str
) -> Iterator[str]:
    known: Mapping[str, Any] = schema["properties"]
    for name in schema["required"]:
        if name not in value:
            yield f"{prefix}{name} is missing"
    for name, element in value.items():
        if name in known:
            yield from _faults(known[name], element, f"{prefix}{name}")
        else:
            yield _unknown(f"{prefix}{shown(str(name))}", nearest(str(name), known))


def _unknown(at: str, known: str | None) -> str:
    return f"{at} is no argument" + (f" (did you mean {known}?)" if known else "")


def _is(kind: str, value: object) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list)
    if kind == "object":
        return isinstance(value, Mapping)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # JSON Schema counts 3.0 as an integer; infinities and NaN are no JSON at all.
    return kind == "number" or isinstance(value, int) or value.is_integer()


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    for kind in ("string", "array", "object", "integer", "number"):
        if _is(kind, value):
            return _WORDS[kind]
    return type(value).__name__


def _usage(schema: Mapping[str, Any]) -> str:
    parts = [
        f"{name} ({_WORDS[part['type']]}{'' if name in schema['required'] else ', optional'})"
        for name, part in schema["properties"].items()
    ]
    return f"It takes {', '.join(parts)}."
