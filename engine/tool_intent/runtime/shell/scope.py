"""What is known at a place of a command: variables and the directory."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Final

from tool_intent.runtime.shell.words import Word

#: More directories than this, and none is known.
_MAX_DIRECTORIES: Final = 4
_MAX_VALUE: Final = 65_536
_BUILT_IN: Final = {"HOME": "~", "IFS": " \t\n"}
_ABSOLUTE: Final = re.compile(r"[/~]")


class Scope:
    """Variables that the text sets, and the directories a relative path may start from.

    A variable maps to None where it is set to what the text does not decide; `lost` says that
    any variable may have been set. `directories` are joined to relative paths, "" is where the
    command starts; None is nobody knows where. `volatile` names what a function body sets: it
    holds for the whole command and is shared.
    """

    __slots__ = ("cwd", "directories", "lost", "values", "volatile")

    def __init__(self, cwd: str | None = None) -> None:
        self.cwd = cwd
        self.values: dict[str, str | None] = {}
        self.directories: tuple[str, ...] | None = ("",)
        self.lost = False
        self.volatile: set[str] = set()

    def copy(self) -> Scope:
        new = Scope(self.cwd)
        new.values = dict(self.values)
        new.directories = self.directories
        new.lost = self.lost
        new.volatile = self.volatile
        return new

    def child(self) -> Scope:
        """The scope of another shell: the same directory, and who knows which variables."""
        new = self.copy()
        new.lost = True
        return new

    def adopt(self, other: Scope, temporary: set[str]) -> None:
        """Take over what a command with `temporary` assignments before it did to `other`."""
        self.directories, self.lost = other.directories, other.lost
        for name, value in other.values.items():
            if name not in temporary:
                self.values[name] = value

    def lookup(self, name: str) -> str | None:
        """The value of a variable, None where the text does not decide it."""
        if name in self.volatile or self.lost:
            return None
        if name in self.values:
            return self.values[name]
        if name == "PWD":
            return self._pwd()
        return _BUILT_IN.get(name)

    def set(self, name: str, value: str | None) -> None:
        too_long = value is not None and len(value) > _MAX_VALUE
        self.values[name] = None if too_long else value

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self.values[name] = None

    def merge(self, other: Scope, places_only: bool = False) -> None:
        """Become what is known where either this scope or `other` holds."""
        if self.directories is None or other.directories is None:
            self.directories = None
        else:
            both = tuple(dict.fromkeys((*self.directories, *other.directories)))
            self.directories = both if len(both) <= _MAX_DIRECTORIES else None
        if places_only:
            return
        self.lost = self.lost or other.lost
        for name in self.values.keys() | other.values.keys():
            mine, theirs = self.lookup(name), other.lookup(name)
            self.values[name] = mine if mine == theirs else None

    def change(self, target: Word | None) -> None:
        """`cd target`; None is the home directory."""
        text = "~" if target is None else target.text
        if text is None or text in ("-", "") or self.lookup("CDPATH") or text[0] in "+":
            self.directories = None
        elif self.directories is not None:
            self.directories = tuple(dict.fromkeys(_join(d, text) for d in self.directories))

    def located(self, path: str) -> tuple[tuple[str, ...], bool]:
        """The paths that `path` may be, and whether these are all."""
        if _ABSOLUTE.match(path):
            return (path,), True
        if self.directories is None:
            return (path,), False
        return tuple(_join(directory, path) for directory in self.directories), True

    def _pwd(self) -> str | None:
        if self.directories is None or len(self.directories) != 1:
            return None
        (directory,) = self.directories
        if directory[:1] == "/":
            return directory
        return None if self.cwd is None else posixpath.join(self.cwd, directory).rstrip("/") or "/"


def _join(directory: str, path: str) -> str:
    if _ABSOLUTE.match(path) or not directory:
        return path
    return posixpath.join(directory, path)
