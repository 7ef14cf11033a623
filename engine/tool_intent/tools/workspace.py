"""The folder that path tools stay inside.

A path is walked one component at a time from a descriptor of the root, never following a link
that the kernel would follow by itself, so that a link swapped in after a check is not followed
either. What a link says is read and walked by the same rules.

A hard link to a file outside cannot be told from the file and is read like any other; writing
replaces the link, never the file that it shares. Mounts inside the workspace belong to it.
"""

from __future__ import annotations

import os
import stat
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Final, NamedTuple

from tool_intent.tools.model import ToolError
from tool_intent.tools.wording import nearest, shown, system_error

_NAME_BYTES: Final = 255
_PATH_BYTES: Final = 4_096
_LINKS: Final = 40
_LISTED: Final = 10_000

# O_PATH enters a folder that may be searched but not listed.
_FOLDER: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_PATH
_RULE: Final = "Paths are relative to the workspace and stay inside it; name a file inside it."


class Place(NamedTuple):
    """Where a path leads: `name` in the open folder `folder`, and the path as messages show it.

    `name` is "." for the folder itself. It is no link, unless one was put there since.
    """

    folder: int
    name: str
    shown: str


class Workspace:
    """A folder to confine read, write and edit to, and to run bash in.

    `root` is resolved once; links on the way to it are the caller's own. Raises
    `NotADirectoryError` if it is no folder. One object may serve several threads.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        given = os.path.abspath(os.fspath(root))
        self.root: Final = os.path.realpath(given)
        if not os.path.isdir(self.root):
            raise NotADirectoryError(
                f"the workspace {shown(given)} is no folder; create it or name another"
            )
        self._prefixes = (_components(given), _components(self.root))
        #: Held while a file is changed, so that edits sent side by side do not undo one another.
        self.changing: Final = threading.Lock()

    @contextmanager
    def locate(self, path: str, *, make_parents: bool = False) -> Iterator[Place]:
        """The place that `path` leads to, which need not exist, open as long as the context.

        With `make_parents`, missing folders on the way are made. Raises `ToolError` for a path
        that is malformed or leaves the workspace, and for any `OSError` of the walk or the body.
        """
        walk = _Walk(self, path, make_parents)
        try:
            yield walk.place()
        except OSError as error:
            raise ToolError(system_error(path, error)) from error
        finally:
            walk.close()

    def gone(self, error: OSError) -> str:
        """That the root itself cannot be entered."""
        return (
            f"the workspace folder {shown(self.root)} cannot be entered ({error.strerror}); "
            "nothing can be done there until it is put back."
        )

    def inside(self, path: str) -> list[str] | None:
        """The components of `path` below the root, or None if an absolute one lies outside."""
        parts = _components(path)
        if not path.startswith("/"):
            return parts
        for prefix in self._prefixes:
            if parts[: len(prefix)] == prefix:
                return parts[len(prefix) :] or ["."]
        return None


class _Walk:
    """The walk of one path; `folders` are the open folders from the root to where it stands."""

    def __init__(self, workspace: Workspace, path: str, make_parents: bool) -> None:
        self.workspace = workspace
        self.shown = shown(path)
        self.make_parents = make_parents
        self.links = 0
        self.folders: list[int] = []
        _well_formed(path)
        self.pending: deque[str] = deque(self._inside(path, "it is an absolute path outside"))

    def close(self) -> None:
        while self.folders:
            os.close(self.folders.pop())

    def place(self) -> Place:
        self.folders.append(self._root())
        while self.pending:
            name = self.pending.popleft()
            if name == "..":
                self._up()
            elif name != "." and self._enter(name):
                return Place(self.folders[-1], name, self.shown)
        return Place(self.folders[-1], ".", self.shown)

    def _root(self) -> int:
        try:
            return os.open(self.workspace.root, _FOLDER)
        except OSError as error:
            raise ToolError(self.workspace.gone(error)) from error

    def _inside(self, path: str, fault: str) -> list[str]:
        parts = self.workspace.inside(path)
        if parts is None:
            raise ToolError(f"{self.shown} leaves the workspace: {fault}. {_RULE}")
        return parts

    def _up(self) -> None:
        if len(self.folders) == 1:
            raise ToolError(f"{self.shown} leaves the workspace: it climbs above the root. {_RULE}")
        os.close(self.folders.pop())

    def _enter(self, name: str) -> bool:
        """Whether the walk ends at `name`; otherwise it stands in it, or will after a link."""
        folder = self.folders[-1]
        try:
            mode = os.lstat(name, dir_fd=folder).st_mode
        except FileNotFoundError:
            if not self.pending:
                return True
            self._make(name)
            return False
        if stat.S_ISLNK(mode):
            self._follow(name)
            return False
        if not self.pending:
            return True
        if not stat.S_ISDIR(mode):
            raise ToolError(f"{self.shown}: {shown(name)} on the way is a file, not a folder.")
        self.folders.append(os.open(name, _FOLDER, dir_fd=folder))
        return False

    def _follow(self, name: str) -> None:
        self.links += 1
        if self.links > _LINKS:
            raise ToolError(
                f"{self.shown} goes through more than {_LINKS} symbolic links; "
                "name the file itself."
            )
        target = os.readlink(name, dir_fd=self.folders[-1])
        fault = f"{shown(name)} is a symbolic link to a place outside"
        self.pending.extendleft(reversed(self._inside(target, fault)))
        if target.startswith("/"):
            while len(self.folders) > 1:
                os.close(self.folders.pop())

    def _make(self, name: str) -> None:
        if not self.make_parents:
            raise ToolError(missing(Place(self.folders[-1], name, self.shown)))
        if ".." in self.pending or self.pending[-1] == ".":
            raise ToolError(
                f"{self.shown}: {shown(name)} does not exist, so the path behind it leads to no "
                "file; give the file's path without '..' and without a '/' at its end."
            )
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.folders[-1])
        self.pending.appendleft(name)


def missing(place: Place) -> str:
    """That `place` does not exist, with the nearest name of its folder."""
    near = nearest(place.name, names(place))
    hint = f"the nearest name in that folder is {shown(near)}" if near else "check the path"
    at = "" if place.shown.endswith(shown(place.name)) else f": there is no {shown(place.name)}"
    return f"{place.shown} does not exist{at}; {hint}."


def names(place: Place) -> list[str]:
    """Up to 10,000 names in the folder of `place`; none if it may not be listed."""
    try:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.folder)
    except OSError:
        return []
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, _LISTED)]
    finally:
        os.close(folder)


def _components(path: str) -> list[str]:
    """The components of `path`; a last "." says that it names a folder, as a last slash does."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.rsplit("/", 1)[-1] in {"", "."} and path.strip("/"):
        parts.append(".")
    return parts


def _well_formed(path: str) -> None:
    if not path:
        raise ToolError("path is empty; name a file of the workspace.")
    if "\0" in path:
        raise ToolError("path holds a NUL character, which no file name can; leave it out.")
    if path.startswith("~"):
        raise ToolError(
            f"{shown(path)}: ~ is not expanded. {_RULE} A file whose name starts with ~ is ./~name."
        )
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise ToolError(
            "path holds a lone surrogate, which UTF-8 cannot; spell it again."
        ) from None
    longest = max(len(part) for part in encoded.split(b"/"))
    if longest > _NAME_BYTES:
        raise ToolError(
            f"a name in path has {longest:,} bytes; file systems take {_NAME_BYTES}. Shorten it."
        )
    if len(encoded) > _PATH_BYTES:
        raise ToolError(
            f"path has {len(encoded):,} bytes; {_PATH_BYTES:,} is the limit. Shorten it."
        )
