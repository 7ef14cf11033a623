"""What findings about fields say. A message starts with the field's name, so that a surface can
put the whole place there."""

from __future__ import annotations

from typing import Any

from tool_intent.compiler.constraints import Part
from tool_intent.compiler.ir import Kind, Test
from tool_intent.runtime.pointer import quoted
from tool_intent.runtime.text import LONGEST_MARKS, LONGEST_TEXT

_KINDS: dict[Kind, str] = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
}
_NUMBERS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_COMPOUND = {
    "anyOf": "must fit at least one of the alternatives of its definition",
    "oneOf": "must fit exactly one of the alternatives of its definition",
    "not": "is what the `not` of its definition rules out",
    "if": "must fit the `then` or `else` of its definition",
    "false": "is never accepted",
}


def kinds_expected(name: str, kinds: tuple[Kind, ...]) -> str:
    """`rationale must be text`."""
    if not kinds:
        return f"{name} has definitions that exclude each other, so nothing is right"
    return f"{name} must be {_or([_KINDS[k] for k in kinds])}"


def unreadable(name: str) -> str:
    return (
        f"{name} cannot be read: it is longer than {LONGEST_TEXT:,} characters or piles more than "
        f"{LONGEST_MARKS} marks on one letter"
    )


def broken(name: str, part: Part) -> str:
    """What a value must be where a constraint does not hold: `rationale must have at least 20
    characters`."""
    if isinstance(part.constraint, Test):
        return f"{name} {_leaf(part.keyword, part.constraint.value)}"
    return f"{name} {_COMPOUND[part.keyword]}"


def _leaf(keyword: str, value: Any) -> str:
    if keyword in _NUMBERS:
        return f"must be {_NUMBERS[keyword]} {value}"
    match keyword:
        case "minLength":
            return f"must have at least {_characters(value)}"
        case "maxLength":
            return f"must have at most {_characters(value)}"
        case "pattern":
            return f"must match the pattern {_pattern(value)}"
        case "enum":
            return f"must be {_or([_shown(v) for v in value[:12]])}{_more(value)}"
        case "const":
            return f"must be {_shown(value)}"
    kinds: list[Any] = [value] if isinstance(value, str) else value
    return f"must be {_or([_KINDS.get(k, str(k)) for k in kinds])}"


def _characters(count: int) -> str:
    return "1 character" if count == 1 else f"{count} characters"


def _pattern(text: str) -> str:
    """A pattern in quotes, its backslashes as they are in the policy."""
    return quoted(text, 120).replace("\\\\", "\\")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value, 60) if isinstance(value, str) else str(value)


def _more(values: list[Any]) -> str:
    return f" or one of {len(values) - 12} more" if len(values) > 12 else ""


def _or(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
