"""The roots known to have had a policy: there, its absence is a finding and not a licence.

A list in the state folder of the user, one absolute path a line. Whoever acts as that user can
edit it, so it detects and proves nothing.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from tool_intent.policy.homes import root_files
from tool_intent.policy.sources import Unreadable, read

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Bytes after which a list takes no more.
_MOST: Final = 8 << 20


def known(
    env: Mapping[str, str], account: str
) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """The known roots, each with what is to be said where it has no policy; and the lists that
    cannot be read, `(path, name for people, reason)`: whoever makes one unreadable would otherwise
    make what it says unknown."""
    roots: dict[str, str] = {}
    unreadable: list[tuple[str, str, str]] = []
    for path, shown, _ in root_files(env, account):
        if not os.path.lexists(path):
            continue
        try:
            lines = os.fsdecode(read(path, "user")).split("\n")
        except Unreadable as error:
            unreadable.append((path, shown, error.reason))
        else:
            roots |= {root: _absence(root, shown) for root in lines if root}
    return roots, unreadable


def _absence(root: str, shown: str) -> str:
    return (
        f"{root} had a policy and has none now; put it back, or, if it is to have none,"
        f" remove the line `{root}` from {shown}"
    )


def remember(root: str, env: Mapping[str, str], account: str) -> str | None:
    """Note that `root`, an absolute path, has a policy; what hindered it, for people."""
    files = root_files(env, account)
    if not files:
        return f"{root} is not remembered: this user has no home folder"
    path, shown, _ = files[0]
    try:
        _append(path, os.fsencode(root))
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        return f"{root} is not remembered in {shown}: {why.lower()}"
    return None


def _append(path: str, root: bytes) -> None:
    import fcntl

    if b"\n" in root:
        raise ValueError("its name holds a line break")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is no regular file")
        fcntl.flock(file, fcntl.LOCK_EX)
        text = file.read(_MOST) or b""
        if root in text.split(b"\n"):
            return
        if len(text) >= _MOST:
            raise ValueError("the list is full")
        start = b"\n" if text and not text.endswith(b"\n") else b""
        file.write(start + root + b"\n")
