"""Folders and files of this user alone: made so, and trusted only where they are so."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from typing import Final

#: The folder of fetched sources in the cache. It is none of those that hold compiled policies.
SOURCES: Final = "sources"


class Refused(Exception):
    """A folder cannot be trusted or used; the text says why."""


def make_private(folder: str) -> None:
    """Make `folder` (mode 0700) unless it is there.

    Raises Refused unless it is then this user's own and nobody else can enter it.
    """
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.lstat(folder)
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror}") from None
    if not stat.S_ISDIR(status.st_mode):
        raise Refused(f"{folder} is no directory")
    if status.st_uid != os.geteuid():
        raise Refused(f"{folder} belongs to another user")
    if status.st_mode & 0o077:
        raise Refused(f"{folder} is open to other users (its mode should be 0700)")


def read_private(path: str, limit: int | None = None) -> bytes | None:
    """The bytes of a regular file that this user alone can have written, of at most `limit`, if
    there is one; None for anything else."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not _is_ours(status) or (limit is not None and status.st_size > limit):
            return None
        # One read takes a whole file; if it ever took less, the rest would not fit its digest.
        return os.read(descriptor, status.st_size)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def write_private(path: str, data: bytes) -> None:
    """Write a file whole or not at all (mode 0600). Raises OSError."""
    draft = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.remove(draft)
        raise


def home(environ: Mapping[str, str]) -> str:
    """The user's home folder."""
    return environ.get("HOME") or os.path.expanduser("~")


def cache_home(environ: Mapping[str, str]) -> str:
    """Where the user keeps what can be made again."""
    return environ.get("XDG_CACHE_HOME") or os.path.join(home(environ), ".cache")


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it, links followed."""
    whole = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(path), whole]) == whole


def _is_ours(status: os.stat_result) -> bool:
    alone = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return alone and stat.S_ISREG(status.st_mode)
