"""Noticing that the files of a policy changed, at the price of one `stat` a file."""

from __future__ import annotations

import os
from time import time_ns
from typing import TYPE_CHECKING, Final, TypeAlias

from tool_intent.policy.sources import Unreadable, fingerprint, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tool_intent.compiler.query import File, Loaded, Places

#: Change time, modification time, inode, device and size; None where there is no such file.
_Stamp: TypeAlias = "tuple[int, int, int, int, int] | None"

#: Nanoseconds in which a file can change twice under one time stamp, on the coarsest file systems.
_COARSE: Final = 2_000_000_000


class Watch:
    """What a policy came from, and how that looked when it was last compared."""

    def __init__(self, loaded: Loaded) -> None:
        self.follow(loaded)

    def follow(self, loaded: Loaded) -> None:
        """Compare with what this came from, from now on."""
        self._files: tuple[File, ...] = loaded.files
        self._places = loaded.places
        self._stamps: list[_Stamp] | None = None

    def changed(self, places: Places) -> bool:
        """Whether `places`, which were found now, or the content of any file are others."""
        if places != self._places:
            return True
        stamps = [_stamp(file.path) for file in self._files]
        if stamps == self._stamps:
            return False
        if not all(_is_as_it_was(file) for file in self._files):
            return True
        # A file that changed just now can change again without a new stamp: compare once more.
        self._stamps = stamps if _is_settled(stamps) else None
        return False


def _stamp(path: str) -> _Stamp:
    try:
        s = os.stat(path)
    except (OSError, ValueError):
        return None
    return s.st_ctime_ns, s.st_mtime_ns, s.st_ino, s.st_dev, s.st_size


def _is_settled(stamps: Iterable[_Stamp]) -> bool:
    latest = time_ns() - _COARSE
    return all(stamp is not None and stamp[0] < latest for stamp in stamps)


def _is_as_it_was(file: File) -> bool:
    try:
        return fingerprint(read(file.path, file.rank, file.held)) == file.digest
    except Unreadable:
        return False
