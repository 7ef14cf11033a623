"""Fields at their places: taking them out, and saying what they said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime.pointer import escape

#: The path to a kind of place: member names, and "[]" for each element of a list.
Steps: TypeAlias = tuple[str, ...]


class Carrier(NamedTuple):
    """A kind of place and the fields it carries, in the order the policy names them."""

    at: Steps
    fields: tuple[str, ...]


def places(args: dict[str, Any], at: Steps) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object at `at`, with its JSON Pointer, in argument order."""
    found: list[tuple[str, Any]] = [("", args)]
    for step in at:
        below: list[tuple[str, Any]] = []
        for pointer, value in found:
            if step == "[]":
                if value.__class__ is list:
                    below += [(f"{pointer}/{n}", v) for n, v in enumerate(value)]
            elif value.__class__ is dict and step in value:
                below.append((f"{pointer}/{escape(step)}", value[step]))
        found = below
    for pointer, value in found:
        if value.__class__ is dict:
            yield pointer, value


def provenance(args: dict[str, Any], carriers: tuple[Carrier, ...]) -> tuple[dict[str, Any], ...]:
    """What each place says, as sent: `{"at": pointer, field: value, …}`, places that say nothing
    left out."""
    said: dict[str, dict[str, Any]] = {}
    for carrier in carriers:
        for pointer, place in places(args, carrier.at):
            given = {name: place[name] for name in carrier.fields if name in place}
            if given:
                said.setdefault(pointer, {"at": pointer}).update(given)
    return tuple(said.values())


def strip(args: dict[str, Any], carriers: tuple[Carrier, ...]) -> dict[str, Any]:
    """Delete the fields from `args` in place, at their places and nowhere else; returns `args`."""
    for carrier in carriers:
        for _, place in places(args, carrier.at):
            for name in carrier.fields:
                place.pop(name, None)
    return args


def innermost(carriers: Iterable[Carrier], names: Collection[str]) -> tuple[Steps, ...]:
    """The kinds of place that carry one of the fields and hold no other such place; the call
    where there is none."""
    kinds = {c.at for c in carriers if any(field in names for field in c.fields)}
    inner = [k for k in kinds if not any(o != k and o[: len(k)] == k for o in kinds)]
    return tuple(sorted(inner)) or ((),)


def duplicate(value: Any) -> Any:
    """A deep copy of JSON containers; everything else is shared."""
    if value.__class__ is dict:
        return {k: duplicate(v) for k, v in value.items()}
    if value.__class__ is list:
        return [duplicate(v) for v in value]
    return value
