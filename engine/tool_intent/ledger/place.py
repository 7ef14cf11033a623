"""Where the ledger of a folder is, and what git knows of that folder.

No git process is started for it: this stands on the way of calls, and a repository may be hostile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

#: The folder's name, in git's folder or the user's state.
NAME: Final = "tool-intent"
VARIABLE: Final = "TOOL_INTENT_LEDGER"
#: Bytes of one of git's small files.
_MOST_BYTES: Final = 1 << 16
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


class LedgerError(Exception):
    """There is no place for records, or one cannot be kept; the text says why and what to do."""


class Worktree(NamedTuple):
    """A git work tree: its root, its own git folder, and the one that all work trees share."""

    root: str
    git: str
    common: str

    @property
    def repository(self) -> str:
        """The repository's name: the folder that holds the shared git folder."""
        folder = self.common
        if os.path.basename(folder) == ".git":
            folder = os.path.dirname(folder)
        return os.path.basename(folder).removesuffix(".git")

    def head(self) -> tuple[str | None, str | None]:
        """The branch and the commit that are checked out; None for what there is not, or cannot be
        read."""
        said = _small(os.path.join(self.git, "HEAD"))
        if not said.startswith("ref: "):
            return None, said if _COMMIT.fullmatch(said) else None
        name = said.removeprefix("ref: ").strip()
        branch = name.removeprefix("refs/heads/")
        if ".." in name or not name.startswith("refs/"):
            return None, None
        commit = _small(os.path.join(self.common, name)) or self._packed(name)
        return branch, commit if _COMMIT.fullmatch(commit) else None

    def _packed(self, name: str) -> str:
        try:
            with open(os.path.join(self.common, "packed-refs"), encoding="utf-8") as file:
                for line in file:
                    if line.rstrip("\n").endswith(f" {name}"):
                        return line.partition(" ")[0]
        except (OSError, UnicodeDecodeError):
            pass
        return ""


def worktree(cwd: str) -> Worktree | None:
    """The git work tree that a folder is in; None outside of any."""
    folder = os.path.realpath(cwd)
    while True:
        found = _git_folder(os.path.join(folder, ".git"))
        if found is not None:
            shared = _small(os.path.join(found, "commondir"))
            common = os.path.normpath(os.path.join(found, shared)) if shared else found
            if os.path.isdir(os.path.join(common, "objects")):
                return Worktree(folder, found, common)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def ledger_folder(cwd: str, environ: Mapping[str, str] | None = None) -> str | None:
    """The folder of the ledger that calls made in `cwd` are recorded in; None where
    `TOOL_INTENT_LEDGER` is `off`. It need not be there yet.

    Raises LedgerError where that variable names no place that can be written to.
    """
    env = os.environ if environ is None else environ
    given = env.get(VARIABLE, "")
    if given == "off":
        return None
    if _URL.match(given):
        raise LedgerError(
            f"{VARIABLE} is a URL, and this version of tool-intent keeps its ledger in a folder:"
            " name a folder, or leave the variable away"
        )
    if "\0" in given:
        raise LedgerError(f"{VARIABLE} is no path: name a folder, or leave the variable away")
    if given:
        return os.path.join(cwd, os.path.expanduser(given))
    here = worktree(cwd)
    return state_folder(env) if here is None else os.path.join(here.common, NAME)


def state_folder(environ: Mapping[str, str]) -> str:
    """The ledger of calls that are made outside of any repository."""
    home = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):  # a relative one is to be ignored, says its specification
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, NAME)


def _git_folder(path: str) -> str | None:
    """The git folder that `.git` is, or leads to."""
    if os.path.isfile(path):
        said = _small(path)
        if not said.startswith("gitdir: "):
            return None
        path = os.path.join(os.path.dirname(path), said.removeprefix("gitdir: "))
        path = os.path.normpath(path)
    return path if os.path.isfile(os.path.join(path, "HEAD")) else None


def _small(path: str) -> str:
    """What a small file of git's says, without the line feed; empty where it cannot be read."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8").strip("\n")
    except (OSError, UnicodeDecodeError):
        return ""
