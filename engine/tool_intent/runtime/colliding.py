"""Fields that a tool's own schema defines: what a policy says is to become of them."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from tool_intent.runtime.extend import collisions
from tool_intent.runtime.program import Program
from tool_intent.runtime.strip import Carrier, Steps

#: `reuse` the tool's own argument as the reason, or carry the reason under a `prefix`.
Otherwise: TypeAlias = Literal["reuse", "prefix"]
#: What a tool's calls carry otherwise than by the field's name: `(place, field, how)` each.
Treatment: TypeAlias = tuple[tuple[Steps, str, Otherwise], ...]


def prefixed(name: str) -> str:
    """The key that carries a field whose name is an argument of the tool."""
    return f"ti_{name}"


def treatment(program: Program, schema: Any) -> Treatment:
    """What becomes of the fields that a tool defines itself: by its own `schema`, or where that is
    None by what catalogs know. `program` is the one for a tool that defines none of them."""
    if schema is None:
        own = program.taken
    else:
        keys = tuple(Carrier(at, (name, prefixed(name))) for at, name, _ in program.settings)
        own = frozenset(collisions(schema, keys))
    return tuple(
        (at, name, how)
        for at, name, how in program.settings
        if (at, name) in own and (how == "reuse" or (at, prefixed(name)) not in own)
    )
