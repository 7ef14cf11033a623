"""Compiled policies on disk, so that a fresh process decides without parsing YAML.

Marshalled code is code: it is read only from a directory and files that belong to this user, that
nobody else can write, and whose bytes are those that were written. Anything else is a miss.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from tool_intent.policy.private import (
    SOURCES,
    cache_home,
    home,
    make_private,
    read_private,
    within,
    write_private,
)
from tool_intent.policy.private import Refused as CacheRefused

__all__ = [
    "Cache",
    "CacheRefused",
    "digest",
    "engine_stamp",
    "home",
    "open_cache",
    "within",
]

#: Entries of one policy, and policies: more are not kept.
_MOST_ENTRIES: Final = 20_000
_MOST_POLICIES: Final = 64
_DIGEST: Final = 32


class Cache:
    """A directory of named entries, each the SHA-256 of its body and the body."""

    def __init__(self, folder: str) -> None:
        """Raises CacheRefused unless `folder` is, or can be made, this user's own (mode 0700)."""
        make_private(folder)
        self._folder = folder

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
        return read_private(self._path(name))

    def write(self, name: str, body: bytes) -> None:
        """Keep an entry, whole or not at all. A disk that takes no more is no error."""
        path = self._path(name)
        with contextlib.suppress(OSError):
            self._make_room(os.path.dirname(path))
            write_private(path, sha256(body).digest() + body)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)

    def _make_room(self, folder: str) -> None:
        if not os.path.isdir(folder):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            policies = [
                e
                for e in os.scandir(self._folder)
                if e.is_dir(follow_symlinks=False) and e.name != SOURCES
            ]
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
    folder = os.path.realpath(setting or os.path.join(cache_home(environ), "tool-intent"))
    for workspace in workspaces:
        if within(folder, workspace):
            raise CacheRefused(f"{folder} lies inside the workspace {workspace}")
    return Cache(folder)


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


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)
