"""Compiled policies on disk, so that a fresh process decides without parsing YAML.

Marshalled code is code: it is read only from a directory and files that belong to this user, that
nobody else can write, and whose bytes are those that were written. Anything else is a miss.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

#: Entries of one policy, and policies: more are not kept.
_MOST_ENTRIES: Final = 20_000
_MOST_POLICIES: Final = 64
_DIGEST: Final = 32


class CacheRefused(Exception):
    """The cache directory cannot be trusted or used; the text says why."""


class Cache:
    """A directory of named entries, each the SHA-256 of its body and the body."""

    def __init__(self, folder: str) -> None:
        """Raises CacheRefused unless `folder` is, or can be made, this user's own (mode 0700)."""
        self._folder = folder
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            status = os.lstat(folder)
        except OSError as error:
            raise CacheRefused(f"{folder}: {error.strerror}") from None
        if not stat.S_ISDIR(status.st_mode):
            raise CacheRefused(f"{folder} is no directory")
        if status.st_uid != os.geteuid():
            raise CacheRefused(f"{folder} belongs to another user")
        if status.st_mode & 0o077:
            raise CacheRefused(f"{folder} is open to other users (its mode should be 0700)")

    def read(self, name: str) -> bytes | None:
        """The body of an entry, or None where it is missing or not as it was written."""
        data = self._data(name)
        if data is None:
            return None
        body = data[_DIGEST:]
        return body if data[:_DIGEST] == sha256(body).digest() else None

    def holds(self, name: str, body: bytes) -> bool:
        """Whether an entry has this very body: compared, which is ten times as fast as hashing."""
        data = self._data(name)
        return data is not None and len(data) == _DIGEST + len(body) and data.endswith(body)

    def _data(self, name: str) -> bytes | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(self._path(name), flags)
        except OSError:
            return None
        try:
            status = os.fstat(descriptor)
            # One read takes a whole file; if it ever took less, the rest would not fit it.
            return os.read(descriptor, status.st_size) if _is_ours(status) else None
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def write(self, name: str, body: bytes) -> None:
        """Keep an entry, whole or not at all. A disk that takes no more is no error."""
        path = self._path(name)
        draft = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
        try:
            self._make_room(os.path.dirname(path))
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(sha256(body).digest() + body)
            os.replace(draft, path)
        except OSError:
            _remove(draft)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _make_room(self, folder: str) -> None:
        if not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            policies = [e for e in os.scandir(self._folder) if e.is_dir(follow_symlinks=False)]
            policies.sort(key=lambda e: e.stat(follow_symlinks=False).st_mtime)
            for old in policies[:-_MOST_POLICIES]:
                for entry in os.scandir(old.path):
                    _remove(entry.path)
                os.rmdir(old.path)
        elif len(os.listdir(folder)) >= _MOST_ENTRIES:
            raise OSError("the cache holds as many entries as it may")


def open_cache(environ: Mapping[str, str], workspaces: list[str]) -> Cache | None:
    """The user's cache, or None where `TOOL_INTENT_CACHE=off`.

    Raises CacheRefused, also where the cache would lie inside one of the `workspaces`: what an
    agent can write must not become code.
    """
    setting = environ.get("TOOL_INTENT_CACHE", "")
    if setting == "off":
        return None
    base = environ.get("XDG_CACHE_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".cache"
    )
    folder = os.path.realpath(setting or os.path.join(base, "tool-intent"))
    for workspace in workspaces:
        if within(folder, workspace):
            raise CacheRefused(f"{folder} lies inside the workspace {workspace}")
    return Cache(folder)


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it, links followed."""
    whole = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(path), whole]) == whole


def engine_stamp() -> str:
    """What identifies the engine and interpreter whose artifacts can be exchanged."""
    from tool_intent.__about__ import __version__

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    seen: list[Any] = [__version__, sys.implementation.cache_tag, sys.hexversion]
    for room in ("compiler", "policy", "rules", "runtime"):
        with os.scandir(os.path.join(package, room)) as entries:
            seen += sorted(
                (e.name, e.stat().st_size, e.stat().st_mtime_ns)
                for e in entries
                if e.name.endswith((".py", ".lark"))
            )
    return repr(seen)


def digest(*parts: str) -> str:
    """A name for an entry, from everything that it depends on."""
    hashed = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "big") + data)
    return hashed.hexdigest()


def _is_ours(status: os.stat_result) -> bool:
    """Whether this is a file that this user alone can have written."""
    alone = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return alone and stat.S_ISREG(status.st_mode)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)
