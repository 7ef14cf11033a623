"""The tree walker: the same IR, evaluated plainly. It explains decisions, and it is the oracle
that the compiler is tested against, so it shares no shortcut with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tool_intent.compiler.ir import (
    AllOf,
    Always,
    AnyOf,
    Constraint,
    Field,
    IfThenElse,
    Kind,
    Not,
    OneOf,
    Place,
    Report,
    Test,
    Tool,
)
from tool_intent.runtime.model import Finding
from tool_intent.runtime.numbers import is_integer, is_multiple
from tool_intent.runtime.patterns import searcher
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.text import is_absent, normalise


def walk(tool: Tool, args: dict[str, Any]) -> list[Finding]:
    """Everything that `args` breaks of what the tool's calls must satisfy."""
    found = [_finding(report, "") for report in tool.always]
    for place in tool.places:
        found += _place(place, place.at, args, "", is_element=False)
    return found


def holds(constraint: Constraint, value: Any) -> bool:
    """Whether a constraint holds of a scalar, as JSON Schema 2020-12 means it."""
    match constraint:
        case Always(verdict):
            return verdict
        case AllOf(inner):
            return all(holds(p, value) for p in inner)
        case AnyOf(inner):
            return any(holds(p, value) for p in inner)
        case OneOf(inner):
            return sum(holds(p, value) for p in inner) == 1
        case Not(part):
            return not holds(part, value)
        case IfThenElse(condition, then, otherwise):
            return holds(then if holds(condition, value) else otherwise, value)
        case Test(keyword, expected):
            return _leaf(keyword, expected, value)


def _place(
    place: Place, steps: tuple[str, ...], value: Any, at: str, *, is_element: bool
) -> Iterator[Finding]:
    if steps and steps[0] == "[]":
        if isinstance(value, list) and value:
            for n, element in enumerate(value):
                yield from _place(place, steps[1:], element, f"{at}/{n}", is_element=True)
        elif place.no_entry is not None:
            yield _finding(place.no_entry, at)
    elif not isinstance(value, dict):
        report = place.no_object if is_element else place.no_entry
        if report is not None:
            yield _finding(report, at)
    elif steps:
        below = f"{at}/{escape(steps[0])}"
        yield from _place(place, steps[1:], value.get(steps[0]), below, is_element=False)
    else:
        for field in place.fields:
            yield from _field(field, value, at)


def _field(field: Field, place: dict[str, Any], at: str) -> Iterator[Finding]:
    if field.key not in place:
        if field.missing is not None:
            yield _finding(field.missing, at)
        return
    value = place[field.key]
    if not any(_is(kind, value) for kind in field.kinds):
        yield _finding(field.wrong_type, at)
        return
    forms = [value]
    if isinstance(value, str):
        text = normalise(value)
        if text is None:
            yield _finding(field.unreadable, at)
            return
        if is_absent(text):
            if field.blank is not None:
                yield _finding(field.blank, at)
            return
        forms.append(text)
    for check in field.checks:
        if not all(holds(check.constraint, form) for form in forms):
            yield _finding(check.report, at)


def _is(kind: Kind, value: Any) -> bool:
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if not isinstance(value, int | float):
        return False
    return kind == "number" or is_integer(value)


def _leaf(keyword: str, expected: Any, value: Any) -> bool:
    if keyword == "type":
        named: list[Any] = [expected] if isinstance(expected, str) else expected
        return any(_is(kind, value) for kind in named if kind in _SCALARS)
    if keyword in ("enum", "const"):
        options = expected if keyword == "enum" else [expected]
        return any(isinstance(o, bool) == isinstance(value, bool) and o == value for o in options)
    if keyword in ("minLength", "maxLength", "pattern"):
        return not isinstance(value, str) or _text_leaf(keyword, expected, value)
    return isinstance(value, bool | str) or _number_leaf(keyword, expected, value)


def _text_leaf(keyword: str, expected: Any, value: str) -> bool:
    if keyword == "minLength":
        return bool(len(value) >= expected)
    if keyword == "maxLength":
        return bool(len(value) <= expected)
    return searcher(expected)(value)


def _number_leaf(keyword: str, expected: Any, value: float) -> bool:
    match keyword:
        case "minimum":
            return bool(value >= expected)
        case "maximum":
            return bool(value <= expected)
        case "exclusiveMinimum":
            return bool(value > expected)
        case "exclusiveMaximum":
            return bool(value < expected)
    return is_multiple(value, expected)


_SCALARS = frozenset({"string", "number", "integer", "boolean"})


def _finding(report: Report, at: str) -> Finding:
    return Finding(
        report.rule, report.effect, at + report.name, report.message, report.fix, report.origin,
        report.who,
    )  # fmt: skip
