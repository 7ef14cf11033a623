"""The files of a ledger, in order: `ledger-YYYY-MM-DD-NNN.jsonl`."""

from __future__ import annotations

import os
import re
from typing import Final, NamedTuple

#: Bytes after which a segment is closed; a day has at least one of its own.
LARGEST: Final = 64 << 20
_NAME: Final = re.compile(r"ledger-([0-9]{4}-[0-9]{2}-[0-9]{2})-([0-9]{3,9})\.jsonl")


class Segment(NamedTuple):
    """A file of the ledger: its day (UTC), its number within the day, from 1, and its folder."""

    day: str
    number: int
    folder: str

    @property
    def name(self) -> str:
        """The file's name."""
        return f"ledger-{self.day}-{self.number:03}.jsonl"

    @property
    def path(self) -> str:
        """The file's path."""
        return os.path.join(self.folder, self.name)

    def following(self, day: str) -> Segment:
        """The one that comes after this when `day` is today; never one that sorts before it."""
        if day > self.day:
            return Segment(day, 1, self.folder)
        return Segment(self.day, self.number + 1, self.folder)


def segments(folder: str) -> list[Segment]:
    """The segments of a ledger, oldest first; none where there is no such folder.

    Raises OSError where it cannot be looked into.
    """
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    found = [m for name in names if (m := _NAME.fullmatch(name))]
    return sorted(Segment(m[1], int(m[2]), folder) for m in found)
