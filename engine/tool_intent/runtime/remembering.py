"""Values remembered by what they were made of, as an object and not by its content."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Source = TypeVar("Source")
Made = TypeVar("Made")

#: Word lists and calls that are remembered.
_MOST = 64


class ByIdentity(Generic[Source, Made]):
    """`make`, which looks at each object once. For immutable ones that are asked about again and
    again: hashing a list of a thousand words costs more than most questions about it."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[Source], Made]) -> None:
        self._make = make
        # The source is held, so that no other object gets its id.
        self._made: dict[int, tuple[Source, Made]] = {}

    def __call__(self, source: Source) -> Made:
        known = self._made.get(id(source))
        if known is not None and known[0] is source:
            return known[1]
        made = self._make(source)
        if len(self._made) >= _MOST:
            self._made.clear()
        self._made[id(source)] = (source, made)
        return made
