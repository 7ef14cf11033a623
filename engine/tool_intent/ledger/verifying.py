"""Whether a ledger is whole: every line hashed, every link followed."""

from __future__ import annotations

import os
from typing import Final, Literal, NamedTuple, TypeAlias

from tool_intent.ledger.chain import GENESIS, holds
from tool_intent.ledger.reading import Line, Progress, lines
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import segments

Fault: TypeAlias = Literal["line", "torn", "hash", "link", "number", "begin", "expected"]
_BATCH: Final = 1_000
#: Problems that are told one by one; of a ruined ledger the rest are counted.
MOST_TOLD: Final = 1_000


class Problem(NamedTuple):
    """Something that is not as it was written: where (`file:line`, or the folder), what kind, and
    what is wrong, in words."""

    place: str
    fault: Fault
    text: str


class Verified(NamedTuple):
    """What was found: segments, records, the head (the last record's hash; zeros where there is
    none), the first `MOST_TOLD` problems and how many there are (`wrong`). `authenticated` says
    that a head from outside was found in the chain with nothing wrong in front of it."""

    segments: int
    records: int
    head: str
    problems: tuple[Problem, ...]
    wrong: int
    authenticated: bool

    @property
    def whole(self) -> bool:
        """Whether there is nothing wrong."""
        return self.wrong == 0


def verify(folder: str, expect: str | None = None, progress: Progress | None = None) -> Verified:
    """Read a whole ledger. `expect` is a hash that was its head once, with or without `sha256:`.
    `progress` is told now and then how far it is.

    A chain proves nothing against whoever can write all of it anew: only a head that was kept
    elsewhere does. Raises OSError where a file cannot be read.
    """
    check = _Check(folder, expect)
    total = 0 if progress is None else _size(folder)
    done = 0
    for number, line in enumerate(lines(folder)):
        check.take(line)
        done += len(line.raw)
        if progress is not None and number % _BATCH == 0:
            progress(done, total)
    return check.result()


def _size(folder: str) -> int:
    return sum(os.stat(segment.path).st_size for segment in segments(folder))


class _Check:
    def __init__(self, folder: str, expect: str | None) -> None:
        self._folder = folder
        self._expect = None if expect is None else f"sha256:{expect.removeprefix('sha256:')}"
        self._segments: dict[str, None] = {}
        self._records = 0
        self._seq = 0
        self._head = GENESIS
        self._problems: list[Problem] = []
        self._count = 0
        self._found = False
        self._sound_until_found = False

    def take(self, line: Line) -> None:
        self._segments[line.segment.name] = None
        record = line.record
        if record is None:
            fault: Fault = "line" if line.raw.endswith(b"\n") else "torn"
            self._problem(line.place, fault, line.fault)
        elif not holds(line.raw):
            self._problem(line.place, "hash", "the line is not as it was written: its hash differs")
        else:
            self._linked(line, record)

    def _linked(self, line: Line, record: Record) -> None:
        if record["prev"] != self._head and not self._begins(record):
            if not self._records:
                text = "the chain begins in the middle: what was before it is gone"
                self._problem(line.place, "begin", text)
            else:
                text = (
                    f"record {record['seq']} does not follow record {self._seq}: lines were"
                    " removed, changed or put in between"
                )
                self._problem(line.place, "link", text)
        elif self._records and record["seq"] != self._seq + 1 and not self._begins(record):
            text = f"record {record['seq']} stands after record {self._seq}"
            self._problem(line.place, "number", text)
        self._records += 1
        self._seq, self._head = record["seq"], record["hash"]
        if self._head == self._expect:
            self._found, self._sound_until_found = True, not self._count

    def _begins(self, record: Record) -> bool:
        """Whether a writer said that nothing before could be linked to, and nothing could."""
        return (
            record["type"] == "marker"
            and record.get("kind") == "anchor"
            and record["prev"] == GENESIS
            and not self._records
        )

    def _problem(self, place: str, fault: Fault, text: str) -> None:
        self._count += 1
        if len(self._problems) < MOST_TOLD:
            self._problems.append(Problem(place, fault, text))

    def result(self) -> Verified:
        if self._expect is not None and not self._found:
            text = f"no record has the hash {self._expect}: this is not the ledger that had it"
            self._problem(self._folder, "expected", text)
        return Verified(
            len(self._segments), self._records, self._head, tuple(self._problems), self._count,
            self._sound_until_found,
        )  # fmt: skip
