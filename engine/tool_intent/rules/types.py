"""The types of the rule language, and which fits where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "any", "bool", "int", "float", "text", "string", "path", "command", "duration", "pattern",
    "list", "record", "mixed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Type:
    """A type.

    `any` is a value nobody has described: it fits wherever any type would, and is looked at when
    the call comes. `string` is an argument whose schema says no more: it fits as text, path or
    command. A `list` has an `element`, a `mixed` its `options`. A `record` has `members`; one
    that is `open` may have others, of type any; `optional` ones are there only sometimes. `label`
    is what messages call it.
    """

    kind: Kind
    element: Type | None = None
    members: tuple[tuple[str, Type], ...] = ()
    optional: frozenset[str] = frozenset()
    open: bool = False
    options: tuple[Type, ...] = ()
    label: str = ""

    def __str__(self) -> str:
        if self.kind == "list":
            return f"list<{self.element}>"
        if self.kind == "mixed":
            return " or ".join(map(str, self.options))
        return self.label or self.kind

    def member(self, name: str) -> Type | None:
        """A record's member; None where it has none of that name."""
        return dict(self.members).get(name) or (ANY if self.open else None)


ANY: Final = Type("any")
BOOL: Final = Type("bool")
INT: Final = Type("int")
FLOAT: Final = Type("float")
TEXT: Final = Type("text")
STRING: Final = Type("string", label="text")
PATH: Final = Type("path")
DURATION: Final = Type("duration")
PATTERN: Final = Type("pattern")


def list_of(element: Type) -> Type:
    """The type of lists of `element`."""
    return Type("list", element=element)


def record(label: str, **members: Type) -> Type:
    """A closed record."""
    return Type("record", members=tuple(members.items()), label=label)


OPEN_RECORD: Final = Type("record", open=True)
URL: Final = record("url", scheme=TEXT, host=TEXT, path=TEXT, query=TEXT)
CALL: Final = record("call", paths=list_of(PATH), urls=list_of(URL))
_PART: Final = record("part", program=TEXT, flags=list_of(TEXT), args=list_of(TEXT))
_PIPE: Final = Type("record", members=(("from", TEXT), ("to", TEXT)), label="pipe")
COMMAND: Final = Type(
    "command",
    members=(
        ("parts", list_of(_PART)),
        ("program", TEXT),
        ("flags", list_of(TEXT)),
        ("args", list_of(TEXT)),
        ("pipes", list_of(_PIPE)),
        ("writes", list_of(PATH)),
        ("deletes", list_of(PATH)),
        ("refs", list_of(TEXT)),
        ("parsed", BOOL),
        ("resolved", BOOL),
    ),
)
CONTEXT: Final = record(
    "context", agent=TEXT, model=TEXT, branch=TEXT, repo=TEXT, user=TEXT, hour=INT, weekday=TEXT
)

#: The roles that arguments play, and what they read as.
ROLES: Final[Mapping[str, Type]] = {"path": PATH, "content": TEXT, "command": COMMAND, "url": URL}

_TEXTUAL = frozenset({"text", "string", "path", "command"})
_NUMERIC = frozenset({"int", "float"})
_WIDENS: Mapping[str, frozenset[str]] = {
    "path": frozenset({"text"}),
    "command": frozenset({"text"}),
    "string": frozenset({"text", "path", "command"}),
}


def fits(given: Type, wanted: Type) -> bool:
    """Whether a value of type `given` may stand where `wanted` is asked for."""
    if given.kind == "any" or wanted.kind == "any":
        return True
    if given.kind == "mixed":
        return all(fits(option, wanted) for option in given.options)
    if wanted.kind == "mixed":
        return any(fits(given, option) for option in wanted.options)
    if given.kind == wanted.kind == "list":
        return fits(given.element or ANY, wanted.element or ANY)
    if given.kind == wanted.kind == "record":
        return given.label == wanted.label or given.open or wanted.open
    return given.kind == wanted.kind or wanted.kind in _WIDENS.get(given.kind, ())


def comparable(left: Type, right: Type) -> bool:
    """Whether two values can be equal: any text with any text, any number with any number. A
    mixture can where one of its options can."""
    if left.kind == "any" or right.kind == "any":
        return True
    if left.kind == "mixed":
        return any(comparable(option, right) for option in left.options)
    if right.kind == "mixed":
        return any(comparable(left, option) for option in right.options)
    for kinds in (_TEXTUAL, _NUMERIC):
        if left.kind in kinds:
            return right.kind in kinds
    return left.kind == right.kind and left.kind in {"bool", "duration"}


def ordered(left: Type, right: Type) -> bool:
    """Whether one can be less than the other: numbers and durations."""
    kinds = _NUMERIC | {"duration", "any"}
    return left.kind in kinds and right.kind in kinds and comparable(left, right)


def joined(types: Iterable[Type]) -> Type:
    """The one type of the elements of a list: their own, the wider of two, or a mixture."""
    out: list[Type] = []
    for given in types:
        if any(o == given for o in out):
            continue
        if given.kind == "any":
            return ANY
        out.append(given)
    if len(out) > 1 and all(o.kind in _NUMERIC for o in out):
        return FLOAT
    if len(out) > 1:
        return Type("mixed", options=tuple(out))
    return out[0] if out else ANY


_SCALARS: Mapping[str, Type] = {
    "string": STRING, "integer": INT, "number": FLOAT, "boolean": BOOL
}  # fmt: skip


def from_schema(schema: Any, depth: int = 0) -> Type:
    """What a JSON Schema says a value is; `any` where it says little or in a roundabout way."""
    if not isinstance(schema, Mapping) or depth > 16:
        return ANY
    named = schema.get("type")
    if not isinstance(named, str):
        return ANY
    if named == "array":
        return list_of(from_schema(schema.get("items"), depth + 1))
    if named != "object":
        return _SCALARS.get(named, ANY)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return OPEN_RECORD
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    return Type(
        "record",
        members=tuple((str(k), from_schema(v, depth + 1)) for k, v in properties.items()),
        optional=frozenset(str(k) for k in properties if k not in required),
        open=schema.get("additionalProperties", True) is not False,
    )
