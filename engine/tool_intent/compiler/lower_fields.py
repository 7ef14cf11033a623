"""What a policy's definitions say of one field: kinds, description, origin, advertised schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tool_intent.compiler.conditions import ArgumentPaths
from tool_intent.compiler.constraints import KINDS, kinds
from tool_intent.compiler.ir import Constraint, Kind, Place, Test
from tool_intent.policy.model import CatalogTool, FieldDefinition, FieldUse, Requirement
from tool_intent.runtime.arguments import PROTOTYPE_KEYS
from tool_intent.runtime.model import SENIORITY, STRENGTH, Origin, Rank
from tool_intent.runtime.pointer import escape

Use = tuple[Requirement, FieldUse]


def allowed_kinds(definitions: Sequence[FieldDefinition], uses: Sequence[Use]) -> tuple[Kind, ...]:
    """The kinds that every definition and every use allow. A definition without a `type` says
    text; where an entry names none, and in what is built in, nothing is said of it."""
    schemas = [d.schema for d in definitions if d.origin.rank != "shipped"]
    schemas += [u.schema for _, u in uses if isinstance(u.schema, Mapping) and "type" in u.schema]
    if not schemas:
        return ("string",)
    allowed = set(KINDS)
    for schema in schemas:
        named = set(kinds(schema))
        allowed &= named | ({"integer"} if "number" in named else set())
    if "number" in allowed:
        allowed.discard("integer")
    return tuple(k for k in KINDS if k in allowed)


def description(definition: FieldDefinition) -> str | None:
    schema = definition.schema
    text = schema.get("description") if isinstance(schema, Mapping) else None
    return text if isinstance(text, str) and text else None


def at_least(rank: Rank, definitions: Iterable[FieldDefinition]) -> tuple[FieldDefinition, ...]:
    """The definitions of a rank and of stronger ones."""
    return tuple(d for d in definitions if SENIORITY[d.origin.rank] <= SENIORITY[rank])


def describing_of(
    rank: Rank, definitions: Sequence[FieldDefinition]
) -> tuple[FieldDefinition, ...]:
    """The definitions that describe a field which a rank uses: its own and stronger ones, or where
    those say nothing any."""
    own = at_least(rank, definitions)
    return own if any(map(description, own)) else tuple(definitions)


def strongest_of(uses: Iterable[Use]) -> Use | None:
    """The use whose entry has the strongest effect."""
    return max(uses, key=lambda u: STRENGTH[u[0].effect], default=None)


def nearest_origin(origins: Mapping[str, Origin], pointer: str, whole: Origin) -> Origin:
    while pointer:
        if pointer in origins:
            return origins[pointer]
        pointer = pointer.rpartition("/")[0]
    return whole


def container(at: tuple[str, ...], name: str) -> str:
    """The place of a collision: the field on the call, or the list whose elements carry it."""
    before = at[: at.index("[]")] if "[]" in at else at
    path = "".join(f"/{escape(step)}" for step in before)
    return path if "[]" in at else f"{path}/{escape(name)}"


def known_names(schemas: Sequence[Mapping[str, Any]], places: Sequence[Place]) -> frozenset[str]:
    names = {f.key for p in places if not p.at for f in p.fields}
    for schema in schemas:
        properties = schema.get("properties")
        names |= set(properties) if isinstance(properties, Mapping) else set()
    return frozenset(
        n for n in names if n.isascii() and n.isidentifier() and n not in PROTOTYPE_KEYS
    )


def advertised(
    allowed: tuple[Kind, ...],
    definitions: Sequence[FieldDefinition],
    constraints: Sequence[Constraint],
) -> dict[str, Any]:
    """A flat property schema: nothing in it that would drop a provider's strict mode."""
    tests = [c for c in constraints if isinstance(c, Test)]
    schema: dict[str, Any] = {"type": allowed[0] if len(allowed) == 1 else list(allowed)}
    text = next(filter(None, (description(d) for d in definitions)), None)
    if text:
        schema["description"] = text
    if "string" in allowed:
        schema["minLength"] = max([t.value for t in tests if t.keyword == "minLength"] + [1])
        longest = [t.value for t in tests if t.keyword == "maxLength"]
        if longest:
            schema["maxLength"] = min(longest)
        pattern = [t.value for t in tests if t.keyword == "pattern"]
        if pattern:
            schema["pattern"] = pattern[0]
    options = [t.value for t in tests if t.keyword == "enum"]
    options += [[t.value] for t in tests if t.keyword == "const"]
    if options:
        schema["enum"] = [v for v in options[0] if all(v in other for other in options[1:])]
    return schema


def roles_of(tools: Sequence[CatalogTool]) -> dict[str, ArgumentPaths]:
    """The argument paths of each role; where catalogs differ on a tool of one name, all of them."""
    found: dict[str, dict[tuple[str, ...], None]] = {}
    for tool in tools:
        for role, paths in tool.roles.items():
            steps = (tuple(path.replace("[]", ".[]").split(".")) for path in paths)
            found.setdefault(role, {}).update(dict.fromkeys(steps))
    return {role: tuple(paths) for role, paths in found.items()}


def is_text(definitions: Sequence[FieldDefinition]) -> bool:
    return allowed_kinds(definitions, ()) == ("string",)
