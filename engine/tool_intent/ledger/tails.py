"""The end of a segment: the last record that can be linked to, and what stands after it."""

from __future__ import annotations

import json
import os
from typing import Final, NamedTuple

from tool_intent.ledger.chain import GENESIS, holds, stated
from tool_intent.ledger.segments import Segment

#: Bytes from the end that are looked at first; doubled until a record is found.
_WINDOW: Final = 1 << 16


class Head(NamedTuple):
    """The last record of a chain: its number, hash and time, and whether it closes its segment."""

    seq: int
    hash: str
    ts: str
    closes: bool

    @property
    def begins(self) -> bool:
        """Whether there is no record: what comes next begins a chain."""
        return self.hash == GENESIS


NOTHING: Final = Head(0, GENESIS, "", False)


class Tail(NamedTuple):
    """How a segment ends: its last sound record, None where it has none; how many whole lines stand
    after that, how many bytes of a torn one, and whether the last line lacks its line feed."""

    head: Head | None
    bad: int
    torn: int
    open: bool


def tail_of(descriptor: int, size: int) -> Tail:
    """How an open segment of `size` bytes ends. Raises OSError."""
    window = _WINDOW
    while True:
        start = max(0, size - window)
        data = os.pread(descriptor, size - start, start)
        lines = data.split(b"\n")
        last = lines.pop()
        if start:
            lines = lines[1:]  # its beginning is not in the window
        whole = _head(last) if last else None
        if whole is not None:
            return Tail(whole, 0, 0, open=True)  # all of it was written but the line feed
        for bad, line in enumerate(reversed(lines)):
            head = _head(line)
            if head is not None:
                return Tail(head, bad, len(last), bool(last))
        if not start:
            return Tail(None, len(lines), len(last), bool(last))
        window *= 2


def last_of(earlier: list[Segment]) -> Head:
    """The last sound record of segments, `NOTHING` where there is none. Raises OSError."""
    for segment in reversed(earlier):
        descriptor = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            head = tail_of(descriptor, os.fstat(descriptor).st_size).head
        finally:
            os.close(descriptor)
        if head is not None:
            return head
    return NOTHING


def _head(line: bytes) -> Head | None:
    """What a whole line says, if it is a record of whatever version that has its own hash."""
    if not holds(line):
        return None
    try:
        record = json.loads(line)
        seq, ts = record["seq"], record["ts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    own = stated(line)
    if not isinstance(seq, int) or not isinstance(ts, str) or own is None:
        return None
    return Head(seq, own, ts, record.get("type") == "marker" and record.get("kind") == "closed")
