"""The names of files in git repositories: `git+https://host/path@REV#file/in/it.yaml`."""

from __future__ import annotations

import os
import posixpath
import re
from typing import Final, NamedTuple

from tool_intent.policy.git import expect_revision
from tool_intent.policy.git_objects import GitError, expect_path, is_commit_id
from tool_intent.policy.sources import SourceError

PREFIX: Final = "git+"
DEFAULT_FILE: Final = "policy.yaml"

_SHAPES: Final = "git+https://host/path@REV#file.yaml or git+file:///path@REV#file.yaml"
_HTTPS: Final = re.compile(
    r"https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?(?:/[A-Za-z0-9._~%+-]+)+/?"
)


class GitSource(NamedTuple):
    """A file in a repository at a revision. `url` starts with `https://` or `file:///`."""

    url: str
    rev: str
    path: str

    def __str__(self) -> str:
        """As a policy names it."""
        inner = "" if self.path == DEFAULT_FILE else f"#{self.path}"
        return f"{PREFIX}{self.url}@{self.rev}{inner}"

    @property
    def pinned(self) -> bool:
        """Whether the revision is a full commit id, and so can never come to mean another."""
        return is_commit_id(self.rev)

    @property
    def folder(self) -> str | None:
        """The repository's folder, where it is on this machine."""
        return self.url.removeprefix("file://") if self.url.startswith("file://") else None

    def beside(self, name: str) -> GitSource:
        """The file that this one names relative to itself. Raises SourceError."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.path), name))
        if path.startswith(("../", "/")) or path in ("..", "."):
            raise SourceError(
                f"`{name}` lies outside the repository {self.url}",
                "a file out of git names files of its own repository, packs and git sources",
            )
        return self._replace(path=path)


def is_git(name: str) -> bool:
    """Whether a name is meant to be one of a file in a git repository."""
    return name.startswith(PREFIX)


def parse_source(name: str) -> GitSource:
    """What a name starting with `git+` stands for. Raises SourceError."""
    whole, _, path = name.removeprefix(PREFIX).partition("#")
    url, at, rev = whole.rpartition("@")
    if not at:
        raise SourceError(
            f"`{name}` names no revision", f"write {PREFIX}{whole}@COMMIT, a full commit id"
        )
    if url.startswith("file://"):
        _expect_folder(url, name)
    elif not _HTTPS.fullmatch(url):
        raise SourceError(f"`{name}` is no git source", f"write {_SHAPES}")
    try:
        expect_revision(rev)
        expect_path(path or DEFAULT_FILE)
    except GitError as error:
        raise SourceError(error.reason, f"write {_SHAPES}") from None
    return GitSource(url.rstrip("/"), rev, path or DEFAULT_FILE)


def _expect_folder(url: str, name: str) -> None:
    folder = url.removeprefix("file://")
    plain = folder.isprintable() and "@" not in folder and "?" not in folder
    if not plain or not folder.startswith("/") or os.path.normpath(folder) != folder.rstrip("/"):
        raise SourceError(
            f"`{name}` names no folder of this machine", "write git+file:///whole/path@REV"
        )
