"""The records that a question is about, out of a ledger of any size: a line is looked at before it
is taken apart, which is what costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from tool_intent.ledger.reading import LONGEST_LINE, read
from tool_intent.ledger.records import VERSION, Record
from tool_intent.ledger.segments import Segment, segments

#: Bytes from the start of a line in which its type and id stand.
_FRAME = 256


#: What every line of this version begins with, and ends with.
_BEGIN = f'{{"v":"{VERSION}",'.encode("ascii")
_END = b'"}\n'


class Unreadable:
    """Lines that are no records: how many there are, and the first, `file:line: what is wrong`."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def look(self, segment: Segment, number: int, raw: bytes) -> None:
        """Count a line if it is no record; one without an end may still be written."""
        if raw.endswith(b"\n") and not (raw.startswith(_BEGIN) and raw.endswith(_END)):
            record, fault = read(raw)
            if record is None:
                self.first = self.first or f"{segment.name}:{number}: {fault}"
                self.count += 1


def changes(
    folder: str, *, decisions: bool = False, unreadable: Unreadable | None = None
) -> Iterator[Record]:
    """The outcomes of calls that changed files, oldest first; with `decisions`, the decisions on
    calls that may change files as well. What is passed over since it is no record is counted in
    `unreadable`. Raises OSError where a file cannot be read."""

    def wanted(line: bytes) -> bool:
        kind = b'"type":"outcome"' in line[:_FRAME]
        kind = kind or (decisions and b'"type":"decision"' in line[:_FRAME])
        return kind and b'"files":' in line

    return _scanned(folder, wanted, unreadable)


def decisions(folder: str, ids: Collection[str]) -> Iterator[Record]:
    """The decisions with these ids. Raises OSError where a file cannot be read."""
    names = {one.encode("ascii", "replace") for one in ids}

    def wanted(line: bytes) -> bool:
        if b'"type":"decision"' not in line[:_FRAME]:
            return False
        _, _, rest = line[:_FRAME].partition(b'"id":"')
        return rest.partition(b'"')[0] in names

    found = _scanned(folder, wanted)
    return (record for record in found if record["type"] == "decision" and record["id"] in ids)


def _scanned(
    folder: str, wanted: Callable[[bytes], bool], unreadable: Unreadable | None = None
) -> Iterator[Record]:
    for segment in segments(folder):
        with open(segment.path, "rb") as file:
            number = 0
            while raw := file.readline(LONGEST_LINE):
                number += 1
                if unreadable is not None:
                    unreadable.look(segment, number, raw)
                record = read(raw)[0] if wanted(raw) else None
                if record is not None:
                    yield record
