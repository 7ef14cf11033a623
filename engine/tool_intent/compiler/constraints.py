"""JSON Schema for scalars, lowered: each keyword that can break becomes one check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tool_intent.compiler.ir import (
    AllOf,
    Always,
    AnyOf,
    Constraint,
    IfThenElse,
    Kind,
    Not,
    OneOf,
    Test,
)
from tool_intent.policy.model import FieldSchema
from tool_intent.runtime.pointer import escape, tokens

KINDS: tuple[Kind, ...] = ("string", "number", "integer", "boolean")
_LEAVES = frozenset({
    "minLength", "maxLength", "pattern", "enum", "const", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
})  # fmt: skip


class Part(NamedTuple):
    """One breakable part of a schema: its keyword, its pointer into the schema, what it says."""

    keyword: str
    pointer: str
    constraint: Constraint


def kinds(schema: FieldSchema) -> tuple[Kind, ...]:
    """The kinds a field's definition allows; text where it names none."""
    named = schema.get("type") if isinstance(schema, Mapping) else None
    if named is None:
        return ("string",)
    listed = [named] if isinstance(named, str) else list(named)
    return tuple(k for k in KINDS if k in listed)


def parts(schema: FieldSchema) -> Iterator[Part]:
    """The parts of a field's schema. `allOf` and `$ref` are opened, so that a finding names the
    keyword that broke; the schema has passed the loader."""
    yield from _parts(schema, schema, "")


def _parts(schema: Any, root: Any, pointer: str) -> Iterator[Part]:
    if isinstance(schema, bool):
        if not schema:
            yield Part("false", pointer, Always(False))
        return
    for keyword, value in schema.items():
        at = f"{pointer}/{escape(keyword)}"
        # The field's own type is fields/type; deeper, it is a constraint like any other.
        if keyword in _LEAVES or (keyword == "type" and pointer):
            yield Part(keyword, at, Test(keyword, value))
        elif keyword == "$ref":
            yield from _parts(_target(root, value), root, value[1:] or "/")
        elif keyword == "allOf":
            for n, part in enumerate(value):
                yield from _parts(part, root, f"{at}/{n}")
        elif keyword in _COMPOUNDS:
            yield Part(keyword, at, _COMPOUNDS[keyword](schema, root, pointer))


def _any_of(schema: Any, root: Any, pointer: str) -> Constraint:
    return AnyOf(_branches(schema["anyOf"], root, f"{pointer}/anyOf"))


def _one_of(schema: Any, root: Any, pointer: str) -> Constraint:
    return OneOf(_branches(schema["oneOf"], root, f"{pointer}/oneOf"))


def _not(schema: Any, root: Any, pointer: str) -> Constraint:
    return Not(_whole(schema["not"], root, f"{pointer}/not"))


def _if(schema: Any, root: Any, pointer: str) -> Constraint:
    return IfThenElse(
        _whole(schema["if"], root, f"{pointer}/if"),
        _whole(schema.get("then", True), root, f"{pointer}/then"),
        _whole(schema.get("else", True), root, f"{pointer}/else"),
    )


_COMPOUNDS: dict[str, Callable[[Any, Any, str], Constraint]] = {
    "anyOf": _any_of, "oneOf": _one_of, "not": _not, "if": _if,
}  # fmt: skip


def _branches(schemas: list[Any], root: Any, pointer: str) -> tuple[Constraint, ...]:
    return tuple(_whole(s, root, f"{pointer}/{n}") for n, s in enumerate(schemas))


def _whole(schema: Any, root: Any, pointer: str) -> Constraint:
    found = tuple(p.constraint for p in _parts(schema, root, pointer or "/"))
    return found[0] if len(found) == 1 else AllOf(found)


def _target(root: Any, reference: str) -> Any:
    value = root
    for token in tokens(reference[1:]):
        value = value[int(token)] if isinstance(value, list) else value[token]
    return value


def specialised(constraint: Constraint, kind: Kind) -> Constraint:
    """`constraint` for values of one kind, with what cannot break for it folded away.

    `number` stands for any number; there, `type: integer` remains to be tested.
    """
    match constraint:
        case Test(keyword, value):
            return _leaf(keyword, value, kind)
        case AllOf(inner):
            return _folded(AllOf, [specialised(p, kind) for p in inner], absorbing=False)
        case AnyOf(inner):
            return _folded(AnyOf, [specialised(p, kind) for p in inner], absorbing=True)
        case OneOf(inner):
            return OneOf(tuple(specialised(p, kind) for p in inner))
        case Not(part):
            inside = specialised(part, kind)
            return Always(not inside.holds) if isinstance(inside, Always) else Not(inside)
        case IfThenElse(condition, then, otherwise):
            test = specialised(condition, kind)
            if isinstance(test, Always):
                return specialised(then if test.holds else otherwise, kind)
            return IfThenElse(test, specialised(then, kind), specialised(otherwise, kind))
    return constraint


def _folded(
    make: Callable[[tuple[Constraint, ...]], Constraint],
    inner: list[Constraint],
    *,
    absorbing: bool,
) -> Constraint:
    if Always(absorbing) in inner:
        return Always(absorbing)
    rest = tuple(p for p in inner if not isinstance(p, Always))
    if not rest:
        return Always(not absorbing)
    return rest[0] if len(rest) == 1 else make(rest)


def _leaf(keyword: str, value: Any, kind: Kind) -> Constraint:
    if keyword == "type":
        named = {value} if isinstance(value, str) else set(value)
        if kind == "number" and "number" not in named:
            return Test("type", "integer") if "integer" in named else Always(False)
        return Always(kind in named)
    if keyword in ("enum", "const"):
        options = value if keyword == "enum" else [value]
        fitting = tuple(o for o in options if _is_kind(o, kind))
        return Test("enum", fitting) if fitting else Always(False)
    speaks_of = "string" if keyword in ("minLength", "maxLength", "pattern") else "number"
    return Test(keyword, value) if speaks_of == kind else Always(True)


def _is_kind(value: Any, kind: Kind) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return (
        isinstance(value, str)
        if kind == "string"
        else (kind == "number" and isinstance(value, int | float))
    )
