"""Uses of waivers that are for so many calls: counted in files of this user, taken under a lock.

The folder is in the home that the system knows of the user, whatever the environment says. A file
has one line a use. Whatever cannot be read, written or made out is as good as used up.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Final

_PARTS: Final = (".local", "state", "tool-intent", "uses")
#: One use: when it was taken.
_LINE: Final = "%Y-%m-%dT%H:%M:%SZ\n"
_LENGTH: Final = 21
#: Seconds to wait for others who take a use, which takes them a thousandth of that.
_PATIENCE: Final = 5.0


class Unusable(Exception):
    """The uses of a waiver cannot be counted; the text says why."""


def folder() -> str:
    """Where uses are kept. Raises Unusable for a user that the system does not know."""
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        raise Unusable("the system knows no home of this user") from None
    return os.path.join(home, *_PARTS)


def left(waiver: str, most: int) -> int:
    """How many uses are left of the waiver with this digest. Raises Unusable."""
    where = folder()
    path = os.path.join(where, waiver)
    if not os.path.lexists(path):
        _expect_writable(where)
        return most
    with _opened(path) as descriptor:
        return max(0, most - _count(descriptor))


def take(wanted: Mapping[str, int], now: float) -> bool:
    """Take one use of each waiver, given by digest with the most that it is for: of all, or of
    none where one is used up or cannot be counted. `now` is in seconds since the epoch."""
    from time import gmtime, strftime

    line = strftime(_LINE, gmtime(now)).encode()
    try:
        where = folder()
        _make(where)
        with ExitStack() as held:
            # In one order, so that two who take the same do not wait for each other for ever.
            files = {
                name: held.enter_context(_locked(os.path.join(where, name)))
                for name in sorted(wanted)
            }
            if any(_count(files[name]) >= most for name, most in wanted.items()):
                return False
            for descriptor in files.values():
                if os.write(descriptor, line) != len(line):
                    return False
                os.fsync(descriptor)
            return True
    except (Unusable, OSError):
        return False


def _make(where: str) -> None:
    os.makedirs(where, mode=0o700, exist_ok=True)
    _expect_own(os.lstat(where), where, stat.S_ISDIR)


def _expect_writable(where: str) -> None:
    """Raise Unusable unless the folder, or the first above it that exists, can be written."""
    while not os.path.lexists(where) and where != os.path.dirname(where):
        where = os.path.dirname(where)
    if not os.path.isdir(where) or not os.access(where, os.W_OK | os.X_OK):
        raise Unusable(f"uses cannot be counted: `{where}` cannot be written")


def _expect_own(status: os.stat_result, path: str, is_kind: Callable[[int], bool]) -> None:
    if not is_kind(status.st_mode):
        raise Unusable(f"`{path}` is not what it should be: move it away")
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise Unusable(f"`{path}` may be written by others")


@contextmanager
def _opened(path: str, flags: int = os.O_RDONLY) -> Iterator[int]:
    safely = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags | safely, 0o600)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise Unusable(f"`{path}` cannot be opened: {why}") from None
    try:
        status = os.fstat(descriptor)
        _expect_own(status, path, stat.S_ISREG)
        if status.st_size % _LENGTH:
            raise Unusable(f"`{path}` holds something else than uses")
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: str) -> Iterator[int]:
    import fcntl
    from time import monotonic, sleep

    with _opened(path, os.O_RDWR | os.O_CREAT | os.O_APPEND) as descriptor:
        until = monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() > until:
                    raise Unusable(f"`{path}` is locked by another process") from None
                sleep(0.005)
        yield descriptor


def _count(descriptor: int) -> int:
    return os.fstat(descriptor).st_size // _LENGTH
