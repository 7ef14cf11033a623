"""Where earlier calls are filed by what rules join them to later ones by."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime.reading import Seq
from tool_intent.runtime.state import State

#: Roles, and names of arguments.
Reads: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
Chain: TypeAlias = tuple[dict[str, Any], ...]


class AtomCode(NamedTuple):
    """What is asked of every call when it is judged, so that later ones can look back at it.

    `meant` says whether a tool is meant; `filter` answers true, false or None; `keys` and
    `captures` give values; `by_place` says which keys are compared as places in the file system;
    `fields` are those it reads, so it is asked at the places that carry one; `view` is the number
    of the rank that asks; `reads` are the roles and the arguments that it looks at, None where it
    may look at any.
    """

    meant: Callable[[str], bool]
    filter: Callable[[State, Chain], bool | None]
    keys: Callable[[State, Chain], tuple[Any, ...]]
    by_place: tuple[bool, ...]
    captures: Callable[[State, Chain], tuple[Any, ...]]
    fields: tuple[str, ...]
    view: int
    reads: Reads | None


#: What a call without a path is filed under: nothing looks there, but who does not know what to
#: look for looks everywhere.
NO_PLACE = ("",)


class Entry(NamedTuple):
    """One call that an atom may mean."""

    number: int
    captured: tuple[Any, ...]


class Shelf:
    """The calls under one key: their numbers, ascending, by what came of them."""

    __slots__ = ("by_outcome", "entries")

    def __init__(self) -> None:
        self.by_outcome: dict[str, list[int]] = {"tried": [], "passed": [], "failed": []}
        self.entries: list[Entry] = []


#: One value for each join of an atom; None where it was unknown.
Key: TypeAlias = tuple[Any, ...]


class Index:
    """The calls of one atom by key: those that its filter surely accepts, and those that it may.

    `odd` are the keys of what is not surely meant by whoever looks for its key: shelves of
    `unsure`, and those of `sure` that have something unknown in their key.
    """

    __slots__ = ("odd", "sure", "unsure")

    def __init__(self) -> None:
        self.sure: dict[Key, Shelf] = {}
        self.unsure: dict[Key, Shelf] = {}
        self.odd: dict[tuple[bool, Key], Shelf] = {}

    def shelf(self, key: Key, sure: bool) -> Shelf:
        """The shelf of a key, made if there is none."""
        shelves = self.sure if sure else self.unsure
        shelf = shelves.get(key)
        if shelf is None:
            shelf = shelves[key] = Shelf()
            if not sure or None in key:
                self.odd[sure, key] = shelf
        return shelf


def shortened(shelf: Shelf, oldest: int) -> bool:
    """Drop what is older than `oldest`; whether anything is left."""
    for numbers in shelf.by_outcome.values():
        del numbers[: bisect_left(numbers, oldest)]
    shelf.entries = [e for e in shelf.entries if e.number >= oldest]
    return bool(shelf.entries)


def spellings(
    keys: tuple[Any, ...],
    by_place: tuple[bool, ...],
    state: State,
    nowhere: tuple[str, ...] = (),
) -> list[list[Any]]:
    """For each join the values that a call is filed or looked up under, `[None]` for unknown.
    `nowhere` are those of a path that leads to no place."""
    ways: list[list[Any]] = []
    for key, place in zip(keys, by_place, strict=True):
        several = isinstance(key, Seq)
        if key is None or isinstance(key, dict) or (several and not (place and key.complete)):
            ways.append([None])
        elif not place:
            ways.append([(isinstance(key, bool), key)])
        else:
            forms = [_forms(path, state) for path in (key.items if several else (key,))]
            known = [form for found in forms for form in found or ()]
            ways.append([None] if None in forms else known or list(nowhere))
    return ways


def may_be(key: Key, ways: list[list[Any]]) -> bool:
    """Whether a key may be one of those looked for, by what is known of both."""
    return all(k is None or way == [None] or k in way for k, way in zip(key, ways, strict=True))


def _forms(path: Any, state: State) -> list[Any] | None:
    if not isinstance(path, str):
        return None
    resolved = state.resolved(path)
    if not resolved.known or (state.place.ignores_case is None and not resolved.forms):
        return None
    if state.place.ignores_case:
        from tool_intent.runtime.casing import folded

        return [folded(form) for form in resolved.forms]
    return list(resolved.forms)
