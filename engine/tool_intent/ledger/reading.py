"""Reading a ledger, line by line. A bad line is told and stepped over, never the end."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from tool_intent.ledger.records import FAMILY, TYPES, VERSION, Record
from tool_intent.ledger.segments import Segment, segments

#: Bytes of a line past which it is no record, and is not held in memory.
LONGEST_LINE: Final = 64 << 20

#: Told how many bytes of how many of a ledger are read.
Progress: TypeAlias = Callable[[int, int], None]


class Line(NamedTuple):
    """A line as it is stored: its segment, its number in it (from 1), where it begins (bytes), and
    its bytes with their line feed. `record` is what it holds; where that is None, `fault` says why.
    """

    segment: Segment
    number: int
    offset: int
    raw: bytes
    record: Record | None
    fault: str

    @property
    def place(self) -> str:
        """`file:line`, for people."""
        return f"{self.segment.name}:{self.number}"


def lines(folder: str) -> Iterator[Line]:
    """Every line of a ledger, oldest first. Raises OSError where a file cannot be read."""
    for segment in segments(folder):
        yield from lines_of(segment)


def records(folder: str) -> Iterator[Record]:
    """Every record of a ledger, oldest first; lines that hold none are left out.

    Raises OSError where a file cannot be read.
    """
    return (line.record for line in lines(folder) if line.record is not None)


def lines_of(segment: Segment, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """The lines of one segment, from the byte `offset`, where line `number` begins."""
    with open(segment.path, "rb") as file:
        file.seek(offset)
        while raw := file.readline(LONGEST_LINE):
            size = len(raw)
            if size == LONGEST_LINE and not raw.endswith(b"\n"):
                while (more := file.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
                    size += len(more)
                size += len(more)
                fault = f"the line is longer than {LONGEST_LINE >> 20} MiB"
                yield Line(segment, number, offset, raw, None, fault)
            else:
                yield Line(segment, number, offset, raw, *read(raw))
            offset += size
            number += 1


def read(raw: bytes) -> tuple[Record | None, str]:
    """The record that a stored line holds, or None and what is wrong with it."""
    if not raw.endswith(b"\n"):
        return None, "the line has no end: its writer was stopped, or is still at it"
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None, "the line is no JSON"
    if not isinstance(value, dict) or not isinstance(value.get("v"), str):
        return None, "the line is no record"
    if value["v"] != VERSION:
        if value["v"].startswith(FAMILY):
            return (
                None,
                f"the record is of another version, {value['v'][:40]}; this reads {VERSION}",
            )
        return None, "the line is no record"
    whole = (
        value.get("type") in TYPES
        and isinstance(value.get("seq"), int)
        and all(isinstance(value.get(name), str) for name in ("id", "ts", "prev", "hash"))
    )
    return (value, "") if whole else (None, "the record lacks what every record has")
