"""Symbolic links on the way to a place, each looked at once a decision."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from tool_intent.runtime.paths import Place

MAX_LINKS: Final = 40
#: No link leads to either.
_NO_LINK: Final = ""
_ABSENT: Final = "\0"
#: Answers that are kept: enough for the folders and globs of large policies.
_MOST_KEPT: Final = 2_048

Answer = TypeVar("Answer")


class Seen(dict[str, str | None]):
    """Where the link at a path leads, looked at when first asked for, and by `before` if given;
    `_NO_LINK`, `_ABSENT`, or None if unknown."""

    __slots__ = ("_before",)

    def __init__(self, before: Seen | None = None) -> None:
        self._before = before

    def __missing__(self, path: str) -> str | None:
        target = self[path] = _look(path) if self._before is None else self._before[path]
        return target


def real(path: str, place: Place) -> str | None:
    """The path behind all links; what does not exist is taken as it stands. None if unknown."""
    seen = Seen() if place.seen is None else place.seen
    done = ""
    todo = [name for name in reversed(path.split("/")) if name not in ("", ".")]
    links = 0
    while todo:
        name = todo.pop()
        if name == "..":
            done = done.rpartition("/")[0]
            continue
        here = f"{done}/{name}"
        target = seen[here]
        if target is None:
            return None
        if target == _ABSENT:
            return normal("/".join((here, *reversed(todo))))
        if target == _NO_LINK:
            done = here
            continue
        links += 1
        if links > MAX_LINKS:
            return None
        done = "" if target.startswith("/") else done
        todo += [part for part in reversed(target.split("/")) if part not in ("", ".")]
    return done or "/"


def normal(path: str) -> str:
    """An absolute path without `.` and `..`, as its text goes."""
    return "/" + posixpath.normpath(path).lstrip("/")


def kept(key: tuple[Any, ...], place: Place, make: Callable[[Place], Answer]) -> Answer:
    """What `make` gives of a place, made anew only where a link that it went by has changed.

    `make` may depend on nothing but the key, the place and `real`.
    """
    if place.windows:
        return make(place)
    seen = Seen() if place.seen is None else place.seen
    key = (*key, place.root, place.cwd, place.home, place.case_insensitive)
    known = _kept.get(key)
    if known is not None and all(seen[path] == target for path, target in known[0]):
        answer: Answer = known[1]
        return answer
    own = Seen(seen)
    made = make(place._replace(seen=own))
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[key] = (tuple(own.items()), made)
    return made


_kept: dict[tuple[Any, ...], tuple[tuple[tuple[str, str | None], ...], Any]] = {}


def _look(path: str) -> str | None:
    try:
        return os.readlink(path) if stat.S_ISLNK(os.lstat(path).st_mode) else _NO_LINK
    except (FileNotFoundError, NotADirectoryError):
        return _ABSENT
    except (OSError, ValueError):
        return None
