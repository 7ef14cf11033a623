"""Ownership of lines carried over a change, from the text before to the text after.

A line keeps its owner where it is the same but for white space, where it is only laid out anew
(`layout`), and where it moved with its neighbours (`moves`). Every other line is owned by whoever
made the change: what looks similar is never credited to anybody else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tool_intent.ledger.attribution.alignment import aligned
from tool_intent.ledger.attribution.layout import Relaid, compared
from tool_intent.ledger.attribution.model import (
    Attributed,
    Owned,
    Touch,
    split_lines,
)
from tool_intent.ledger.attribution.moves import DISTINCTIVE, Place, moved
from tool_intent.ledger.attribution.spacing import stripped

_NOTHING: Final = Attributed(b"", [])


class Change(NamedTuple):
    """One file of a change: what it was, None where there was none, what it became, and by whom;
    None where nobody knows."""

    before: Attributed | None
    after: bytes
    by: Hashable | None


def carried(changes: Sequence[Change]) -> list[Attributed]:
    """The files after a change, with their owners.

    Blocks may have moved between the files: what was taken out of one is looked for in all.
    """
    files = [_Change(change) for change in changes]
    sources = moved(
        {Place(n, i): text for n, file in enumerate(files) for i, text in file.taken()},
        {Place(n, j): text for n, file in enumerate(files) for j, text in file.added()},
    )
    for place, source in sources.items():
        files[place.file].moved[place.line] = files[source.file].old[source.line]
        files[source.file].gone.add(source.line)
    return [file.attributed() for file in files]


class _Change:
    """The part of a file between what its beginning and end have in common before and after."""

    def __init__(self, change: Change) -> None:
        before, after = change.before or _NOTHING, change.after
        self.before, self.after, self.by = before, after, change.by
        start, end = _common(before.text, after)
        self.above = before.text.count(b"\n", 0, start)
        old = split_lines(before.text[start : len(before.text) - end])
        self.below = len(before.owners) - self.above - len(old)
        self.old = before.owners[self.above : self.above + len(old)]
        self.old_lines = old
        self.new_lines = split_lines(after[start : len(after) - end])
        self.old_keys = [stripped(line) for line in self.old_lines]
        self.new_keys = [stripped(line) for line in self.new_lines]
        pairs = aligned(self.old_keys, self.new_keys, _tells)
        firm = self._firm(pairs)
        self.weak = {j: i for i, j in pairs if j not in firm}
        self.origin = firm
        self.moved: dict[int, Owned] = {}
        self.gone = set(firm.values())

    def _firm(self, pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
        """The pairs to rely on, as {new line: old line}. Lines that stand everywhere, with changes
        on both sides of them, may stand for others: what they are is told by what is around."""
        runs: list[list[tuple[int, int]]] = []
        for i, j in pairs:
            if runs and runs[-1][-1] == (i - 1, j - 1):
                runs[-1].append((i, j))
            else:
                runs.append([(i, j)])
        last = len(self.old_keys) - 1, len(self.new_keys) - 1
        return {
            j: i
            for run in runs
            if run[0] == (0, 0) or run[-1] == last or any(_tells(self.old_keys[i]) for i, _ in run)
            for i, j in run
        }

    def taken(self) -> Iterator[tuple[int, str]]:
        """The old lines that are not where they were."""
        return ((i, key) for i, key in enumerate(self.old_keys) if i not in self.gone)

    def added(self) -> Iterator[tuple[int, str]]:
        """The new lines that were not there."""
        return ((j, key) for j, key in enumerate(self.new_keys) if j not in self.origin)

    def attributed(self) -> Attributed:
        owners: list[Owned] = []
        start = 0
        for j, i in [*sorted(self.origin.items()), (len(self.new_lines), len(self.old_lines))]:
            owners += self._hunk(start, len(owners), i, j)
            if j < len(self.new_lines):
                owners.append(self._kept(i, j))
            start = i + 1
        before = self.before.owners
        last = before[len(before) - self.below :] if self.below else []
        return Attributed(self.after, [*before[: self.above], *owners, *last])

    def _kept(self, i: int, j: int) -> Owned:
        old = self.old[i]
        if old.reformatted or self.old_lines[i] == self.new_lines[j]:
            return old
        return Owned(old.touch, reformatted=True, moved=old.moved)

    def _hunk(self, i0: int, j0: int, i1: int, j1: int) -> Iterator[Owned]:
        """The owners of new lines j0 to j1, which stand in the place of old ones i0 to i1."""
        old = [i for i in range(i0, i1) if i not in self.gone]
        new = [j for j in range(j0, j1) if j not in self.moved]
        after = self.new_lines[j1] if j1 < len(self.new_lines) else ""
        found = dict(
            zip(
                new,
                compared([self.old_lines[i] for i in old], [self.new_lines[j] for j in new], after),
                strict=True,
            )
        )
        taken = {line.source for line in found.values()}
        vacant = next((n for n in range(len(old)) if n not in taken), None)
        for j in range(j0, j1):
            if j in self.moved:
                moved = self.moved[j]
                yield Owned(moved.touch, reformatted=moved.reformatted, moved=True)
                continue
            line = found[j]
            if isinstance(line, Relaid):
                yield self._kept(old[line.source], j)
                continue
            if j in self.weak and not self.new_keys[j]:
                yield self._kept(self.weak[j], j)
                continue
            # A line that shares nothing with those it replaces is still in the place of one of
            # them, if nothing else is.
            source = line.source if line.source is not None else vacant
            nearest = None if source is None else old[source]
            yield Owned(_touched(self.by, None if nearest is None else self.old[nearest].touch))


def _touched(by: Hashable | None, before: Touch | None) -> Touch:
    """A change that one made to its own line, or nobody to nobody's, is no change of hands."""
    if before is not None and before.by == by:
        return Touch(by, before.before)
    return Touch(by, before)


def _tells(key: str) -> bool:
    return len(key) >= DISTINCTIVE


def _common(a: bytes, b: bytes) -> tuple[int, int]:
    """The bytes that two texts have in common at their beginning and at their end, in whole lines
    that do not overlap."""
    most = min(len(a), len(b))
    start = a.rfind(b"\n", 0, _longest(most, lambda n, m: a[n:m] == b[n:m])) + 1
    end = _longest(
        most - start, lambda n, m: a[len(a) - m : len(a) - n] == b[len(b) - m : len(b) - n]
    )
    if not (_starts_line(a, start, end) and _starts_line(b, start, end)):
        found = a.find(b"\n", len(a) - end) + 1
        end = len(a) - found if found else 0
    return start, end


def _longest(most: int, equal: Callable[[int, int], bool]) -> int:
    """The greatest length up to which two texts are equal; `equal` compares a part of them. Halving
    leaves the comparing to the machine's own instructions, not to a loop over characters."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if equal(least, middle):
            least = middle
        else:
            most = middle - 1
    return least


def _starts_line(text: bytes, start: int, end: int) -> bool:
    at = len(text) - end
    return at == start or text[at - 1 : at] == b"\n"
