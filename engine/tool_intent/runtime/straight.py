"""Paths that are just what they look like, so that most need no full resolution.

A straight path is relative, in plain letters, and passes no symbolic link; the folder of the call
is the root. Then its lexical and its real form are the same name below the root.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from functools import lru_cache
from os import F_OK, X_OK, access, lstat
from typing import TYPE_CHECKING, Any

from tool_intent.runtime.globs import compile_glob

if TYPE_CHECKING:
    from tool_intent.runtime.paths import Place

_NAME = r"\.?[A-Za-z0-9_-][A-Za-z0-9_.-]*"
_is_plain = re.compile(f"{_NAME}(?:/{_NAME})*").fullmatch


def straight(path: str, place: Place) -> bool:
    """Whether a path is straight; the file system is asked for links each time."""
    root, cwd, _, case_insensitive, windows, _ = place
    if case_insensitive is not False or windows or cwd != root or not _is_plain(path):
        return False
    above = root
    for name in path.split("/"):
        at = f"{above}/{name}"
        # Asked first because, unlike `lstat`, it needs no exception to say that there is nothing.
        if not access(at, F_OK, follow_symlinks=False):
            return access(above, X_OK)
        try:
            if stat.S_ISLNK(lstat(at).st_mode):
                return False
        except OSError:
            return False
        above = at
    return True


def like_straight(path: str, globs: tuple[str, ...], place: Place) -> bool | None:
    """Whether a straight path matches one of the globs; None where this way cannot tell."""
    matches = _union(globs)
    if matches is None or not straight(path, place):
        return None
    return matches(path) is not None


def under_straight(path: str, folders: tuple[str, ...], place: Place) -> bool | None:
    """Whether a straight path is one of the folders or in one; None where this way cannot tell."""
    for folder in folders:
        if folder != "." and not straight(folder, place):
            return None
    if not straight(path, place):
        return None
    return any(f in (".", path) or path.startswith(f"{f}/") for f in folders)


@lru_cache(maxsize=512)
def _union(globs: tuple[str, ...]) -> Callable[[str], Any] | None:
    """One search for globs that speak of names below the root only; None where one does not."""
    compiled = [compile_glob(g) for g in globs if not g.startswith("~")]
    if len(compiled) < len(globs) or any(g.rooted or g.directory for g in compiled):
        return None
    return re.compile("|".join(f"(?:{g.exact.pattern})" for g in compiled), re.DOTALL).match
