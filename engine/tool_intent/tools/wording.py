"""How paths, numbers and system errors read in the messages of the tools."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from typing import Final

#: Characters of an argument that a message shows.
_SHOWN: Final = 120

_CAUSES: Final = {
    errno.EACCES: "this user may not do that; choose another path or ask for access",
    errno.EPERM: "the system forbids it for this user; choose another path or ask for access",
    errno.ENOSPC: "the disk is full; free some space and send the call again",
    errno.EDQUOT: "the disk quota is used up; free some space and send the call again",
    errno.EROFS: "the file system is read-only; choose another path",
    errno.ENAMETOOLONG: "the name is longer than the file system takes; shorten it",
    errno.EFBIG: "the file would be larger than the system allows; write less",
    errno.ELOOP: "it became a symbolic link while it was being opened; send the call again",
    errno.ENOTDIR: "a folder of it changed while it was being opened; send the call again",
    errno.ENOENT: "it vanished while it was being opened; send the call again",
}


def shown(text: str) -> str:
    """`text` on one line, in a bounded length, with what is not printable escaped."""
    cut = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


def counted(number: int, noun: str) -> str:
    """`1 line`, `2,000 lines`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def system_error(path: str, error: OSError) -> str:
    """Why the system refused `path`, and what to do about it."""
    cause = _CAUSES.get(error.errno or 0)
    reason = error.strerror or type(error).__name__
    return f"{shown(path)}: {reason}" + (f": {cause}." if cause else "; nothing was done.")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, letter case aside, or None when none is alike."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None
