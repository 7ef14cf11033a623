"""Owners of lines as JSON data, and back: what lines share is written once."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from tool_intent.ledger.attribution.hops import Author
from tool_intent.ledger.attribution.model import Owned, Touch


class Touches:
    """The touches of some lines, each after the one before it.

    As data it is `[[call, [entry, …]] or null, number of the touch before or null]` for each. What
    is read from data and written again keeps its numbers.
    """

    def __init__(self) -> None:
        self._all: list[Touch] = []
        self._numbers: dict[int, int] = {}

    @classmethod
    def read(cls, data: Any) -> Touches:
        """Raises TypeError, ValueError or IndexError where the data is none of ours."""
        found = cls()
        for by, before in data:
            author = None if by is None else _author(*by)
            found._add(Touch(author, None if before is None else found._of(before)))
        return found

    def data(self) -> list[Any]:
        return [
            [
                [touch.by.call, list(touch.by.entries)] if isinstance(touch.by, Author) else None,
                None if touch.before is None else self._numbers[id(touch.before)],
            ]
            for touch in self._all
        ]

    def written(self, owners: list[Owned]) -> list[list[int]]:
        """Owners as runs, `[touch, reformatted + 2 * moved, lines]`."""
        keys = ((self._number(o.touch), o.reformatted + 2 * o.moved) for o in owners)
        return [[*key, sum(1 for _ in run)] for key, run in groupby(keys)]

    def owners(self, runs: Any, lines: int) -> list[Owned]:
        """The owners of so many lines that `written` told of. Raises as `read`."""
        found: list[Owned] = []
        for number, state, length in runs:
            owned = Owned(self._of(number), bool(state & 1), bool(state & 2))
            found += [owned] * min(length, lines + 1 - len(found))
        if len(found) != lines:
            raise ValueError(lines)
        return found

    def _of(self, number: int) -> Touch:
        if number < 0:
            raise IndexError(number)
        return self._all[number]

    def _number(self, touch: Touch) -> int:
        chain: list[Touch] = []
        at: Touch | None = touch
        while at is not None and id(at) not in self._numbers:
            chain.append(at)
            at = at.before
        for one in reversed(chain):
            self._add(one)
        return self._numbers[id(touch)]

    def _add(self, touch: Touch) -> None:
        self._numbers[id(touch)] = len(self._all)
        self._all.append(touch)


def _author(call: Any, entries: Any) -> Author:
    if not isinstance(call, str) or not all(isinstance(entry, str) for entry in entries):
        raise TypeError(call)
    return Author(call, tuple(entries))
