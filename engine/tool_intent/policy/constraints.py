"""What a field's JSON Schema says beyond its shape: bounds that cross, patterns RE2 refuses,
references that lead nowhere or in a circle, keywords that cannot apply to the field's type."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeGuard
from urllib.parse import unquote

from tool_intent.policy.patterns import pattern_fault
from tool_intent.policy.schema_errors import kind

_TEXT: Final = frozenset({"string"})
_NUMBERS: Final = frozenset({"integer", "number"})
#: Types a keyword applies to; keywords not named here apply to all.
_APPLIES: Final = {
    "minLength": _TEXT, "maxLength": _TEXT, "pattern": _TEXT,
    "minimum": _NUMBERS, "maximum": _NUMBERS, "multipleOf": _NUMBERS,
    "exclusiveMinimum": _NUMBERS, "exclusiveMaximum": _NUMBERS,
}  # fmt: skip
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLES: Final = ("not", "if", "then", "else")
_INSTEAD: Final = {
    "minLength": "minimum", "maxLength": "maximum",
    "minimum": "minLength", "maximum": "maxLength",
}  # fmt: skip


class Fault(NamedTuple):
    """Something wrong at `path` within the schema; the key itself is at fault, not its value,
    where `at_key` says so. A warning where the schema means something all the same."""

    path: tuple[str | int, ...]
    code: str
    message: str
    help: str
    at_key: bool = False
    severity: Literal["error", "warning"] = "error"


_Place: TypeAlias = tuple[str | int, ...]
_Check: TypeAlias = Callable[[dict[str, Any], frozenset[str]], Iterator[Fault]]


def types_of(schema: Any) -> frozenset[str]:
    """The types a schema names itself; empty where it names none."""
    named = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(named, str):
        return frozenset((named,))
    if isinstance(named, list):
        return frozenset(name for name in named if isinstance(name, str))
    return frozenset()


def faults(schema: Any, types: frozenset[str]) -> Iterator[Fault]:
    """Everything wrong with a field's schema. `types` are the field's, where others give them.

    Parts of the wrong shape are passed over: the published schema has named those.
    """
    if isinstance(schema, dict) and schema:
        yield from _walk(schema, types, ())
        yield from _references(schema)


def _walk(schema: Any, inherited: frozenset[str], path: _Place) -> Iterator[Fault]:
    if not isinstance(schema, dict):
        return
    types = types_of(schema) or inherited
    for check in _CHECKS:
        for fault in check(schema, types):
            yield fault._replace(path=(*path, *fault.path))
    for step, part in _parts(schema):
        yield from _walk(part, types, (*path, *step))


def _parts(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The schemas directly within one, with the way to each."""
    for word in _SINGLES:
        if word in schema:
            yield (word,), schema[word]
    for word in _LISTS:
        if isinstance(schema.get(word), list):
            for index, part in enumerate(schema[word]):
                yield (word, index), part
    if isinstance(schema.get("$defs"), dict):
        for name, part in schema["$defs"].items():
            yield ("$defs", name), part


def _inapplicable(schema: dict[str, Any], named: frozenset[str]) -> Iterator[Fault]:
    types = named or _TEXT
    for word in schema:
        if word in _APPLIES and not _APPLIES[word] & types:
            instead = _INSTEAD.get(word)
            mend = f"use `{instead}`, or give the field another type" if instead else "remove it"
            if types == _TEXT:
                mend = "give the field `type: integer` or `type: number`"
                mend += f", or use `{instead}`" if instead else ""
            yield Fault(
                (word,), "policy/constraint", f"`{word}` says nothing: {_typed(named)}", mend,
                True, _severity(named),
            )  # fmt: skip


def _unmatched(schema: dict[str, Any], named: frozenset[str]) -> Iterator[Fault]:
    types = named or _TEXT
    values: list[tuple[_Place, Any]] = []
    if isinstance(schema.get("enum"), list):
        values += [(("enum", n), value) for n, value in enumerate(schema["enum"])]
    if "const" in schema:
        values.append((("const",), schema["const"]))
    for path, value in values:
        if isinstance(value, str | int | float) and not _is_of(value, types):
            mend = "put it in quotes" if "string" in types else "give the field a type that fits"
            if types == _TEXT:
                wanted = "boolean" if isinstance(value, bool) else "number"
                mend = f"put it in quotes, or give the field `type: {wanted}`"
            yield Fault(
                path, "policy/constraint",
                f"no value of the field equals {kind(value)}: {_typed(named)}", mend,
                False, _severity(named),
            )  # fmt: skip


def _typed(named: frozenset[str]) -> str:
    if not named:
        return "a field is text unless it has a type"
    return f"the field's type is {' or '.join(sorted(named))}"


def _severity(named: frozenset[str]) -> Literal["error", "warning"]:
    # A stated type contradicts the keyword. Without one the schema is JSON Schema's and means
    # what it means there, most likely not what its writer thought.
    return "error" if named else "warning"


def _is_of(value: str | float | bool, types: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, str):
        return "string" in types
    return "number" in types or ("integer" in types and float(value).is_integer())


def _bounds(schema: dict[str, Any], _: frozenset[str]) -> Iterator[Fault]:
    for low, high, strict in _PAIRS:
        least, most = schema.get(low), schema.get(high)
        if not (_is_number(least) and _is_number(most)):
            continue
        if least > most or (strict and least == most):
            yield Fault(
                (low,), "policy/constraint",
                f"`{low}` is {least} and `{high}` is {most}: no value is within", "swap them",
            )  # fmt: skip


_PAIRS: Final = (
    ("minLength", "maxLength", False),
    ("minimum", "maximum", False),
    ("minimum", "exclusiveMaximum", True),
    ("exclusiveMinimum", "maximum", True),
    ("exclusiveMinimum", "exclusiveMaximum", True),
)


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pattern(schema: dict[str, Any], _: frozenset[str]) -> Iterator[Fault]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        fault = pattern_fault(pattern)
        if fault is not None:
            yield Fault(("pattern",), "policy/pattern", fault.message, fault.help)


def _branches(schema: dict[str, Any], _: frozenset[str]) -> Iterator[Fault]:
    for word in ("then", "else"):
        if word in schema and "if" not in schema:
            yield Fault(
                (word,), "policy/constraint", f"`{word}` says nothing without `if`", "add `if`",
                True, "warning",
            )  # fmt: skip


_CHECKS: Final[tuple[_Check, ...]] = (_inapplicable, _unmatched, _bounds, _pattern, _branches)


def _references(root: dict[str, Any]) -> Iterator[Fault]:
    """References that lead to no schema, or round in a circle: a scalar has no inner part, so any
    circle is endless."""
    places = dict(_places(root, ()))
    refs = {place: part["$ref"] for place, part in places.items() if _has_reference(part)}
    if not refs:
        return
    by_name = {tuple(str(step) for step in place): place for place in places}
    leads: dict[_Place, list[_Place]] = {}
    for place, part in places.items():
        steps = (step for step, _ in _parts(part)) if isinstance(part, dict) else iter(())
        leads[place] = [(*place, *step) for step in steps if step[0] != "$defs"]
    for place, target in refs.items():
        tokens = _tokens(target)
        found = None if tokens is None else by_name.get(tokens)
        if found is None:
            yield Fault(
                (*place, "$ref"), "policy/ref", f"`{target}` leads to no schema of this field",
                _known_targets(places),
            )  # fmt: skip
        else:
            leads[place].append(found)
    endless = _endless(leads)
    for place, target in refs.items():
        if place in endless:
            yield Fault(
                (*place, "$ref"), "policy/ref", f"`{target}` goes round in a circle",
                "write out what it stands for",
            )  # fmt: skip


def _has_reference(part: Any) -> bool:
    # One that does not start with # is no local reference, which the published schema says.
    return (
        isinstance(part, dict)
        and isinstance(part.get("$ref"), str)
        and part["$ref"].startswith("#")
    )


def _places(schema: Any, path: _Place) -> Iterator[tuple[_Place, Any]]:
    yield path, schema
    if isinstance(schema, dict):
        for step, part in _parts(schema):
            yield from _places(part, (*path, *step))


def _tokens(target: str) -> tuple[str, ...] | None:
    first, *tokens = unquote(target[1:]).split("/")
    if first:
        return None
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def _known_targets(places: dict[_Place, Any]) -> str:
    names = [place for place in places if len(place) == 2 and place[0] == "$defs"]
    if not names:
        return "define it under `$defs` in the same field"
    return "there are: " + ", ".join(f"#/$defs/{name[1]}" for name in names)


def _endless(leads: dict[_Place, list[_Place]]) -> set[_Place]:
    """The places from which a way never ends: what stays after all ends are taken away."""
    left = {place: len(targets) for place, targets in leads.items()}
    back: dict[_Place, list[_Place]] = {place: [] for place in leads}
    for place, targets in leads.items():
        for target in targets:
            back[target].append(place)
    ends = [place for place, count in left.items() if not count]
    while ends:
        end = ends.pop()
        del left[end]
        for place in back[end]:
            left[place] -= 1
            if not left[place]:
                ends.append(place)
    return set(left)
