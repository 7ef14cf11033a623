"""Fields at their places: taking them out, and saying what they said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime.pointer import escape

#: The path to a kind of place: member names, and "[]" for each element of a list.
Steps: TypeAlias = tuple[str, ...]


class Carrier(NamedTuple):
    """A kind of place and the fields it carries, in the order the policy names them.

    `fields` are the keys that are taken out of the arguments; `names` what the policy calls each of
    them, where that is not the key itself; `own` are fields that are arguments of the tool, which
    it gets.
    """

    at: Steps
    fields: tuple[str, ...]
    names: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    @property
    def carried(self) -> tuple[str, ...]:
        """Every field that a place of this kind carries, by its name."""
        return (*(self.names or self.fields), *self.own)

    def keys(self, name: str) -> list[str]:
        """The keys that stand for a field, by its name."""
        return [key for key, called in self._pairs if called == name]

    def said(self, place: dict[str, Any]) -> dict[str, Any]:
        """What an object at a place of this kind says, by the fields' names."""
        if not (self.names or self.own):
            return {key: place[key] for key in self.fields if key in place}
        return {called: place[key] for key, called in self._pairs if key in place}

    def without(self, keys: Collection[str]) -> Carrier:
        """The carrier less some of the keys it takes out."""
        kept = [pair for pair in zip(self.fields, self.names or self.fields, strict=True)
                if pair[0] not in keys]  # fmt: skip
        names = tuple(called for _, called in kept) if self.names else ()
        return Carrier(self.at, tuple(key for key, _ in kept), names, self.own)

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        taken_out = zip(self.fields, self.names or self.fields, strict=True)
        return [*taken_out, *((name, name) for name in self.own)]


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
            given = carrier.said(place)
            if given:
                said.setdefault(pointer, {"at": pointer}).update(given)
    return tuple(said.values())


def strip(args: dict[str, Any], carriers: Iterable[Carrier]) -> dict[str, Any]:
    """Delete the fields from `args` in place, at their places and nowhere else; returns `args`."""
    for carrier in carriers:
        for _, place in places(args, carrier.at):
            for name in carrier.fields:
                place.pop(name, None)
    return args


def innermost(carriers: Iterable[Carrier], names: Collection[str]) -> tuple[Steps, ...]:
    """The kinds of place that carry one of the fields and hold no other such place; the call
    where there is none."""
    kinds = {c.at for c in carriers if any(field in names for field in c.carried)}
    inner = [k for k in kinds if not any(o != k and o[: len(k)] == k for o in kinds)]
    return tuple(sorted(inner)) or ((),)


def depth(at: Steps) -> int:
    """How many objects below the call a place is."""
    return sum(step != "[]" for step in at)


def duplicate(value: Any) -> Any:
    """A deep copy of JSON containers; everything else is shared."""
    if value.__class__ is dict:
        return {k: duplicate(v) for k, v in value.items()}
    if value.__class__ is list:
        return [duplicate(v) for v in value]
    return value
