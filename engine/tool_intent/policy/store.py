"""What was fetched from git, kept so that policies load without a network.

Who works for an agent can write here as well as the agent's user can, so nothing is believed for
being kept. Commits and trees are kept by their ids and a file by its commit and path: each time a
file is read, its bytes are proven to be those that its commit has there. What a tag or branch stood
for cannot be proven: that is for a lock to say. Nothing is ever taken away: a lock may name it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

from tool_intent.policy.git import Reference
from tool_intent.policy.git_objects import GitError, Mismatch, ObjectKind, blob_at, is_commit_id
from tool_intent.policy.private import (
    SOURCES,
    Refused,
    cache_home,
    make_private,
    read_private,
    within,
    write_private,
)

_OBJECTS: Final = "objects"
_FILES: Final = "files"
_REFERENCES: Final = "references"
#: Bytes of what a reference stood for.
_LARGEST_REFERENCE: Final = 4096


class Store:
    """A folder of git objects, files and what references stood for when they were last asked."""

    def __init__(self, folder: str) -> None:
        """Raises Refused unless `folder` and what it stands in are, or can be made, this user's
        own (mode 0700)."""
        self.folder = folder
        make_private(os.path.dirname(folder))
        for inner in ("", _OBJECTS, _FILES, _REFERENCES):
            make_private(os.path.join(folder, inner).rstrip(os.sep))

    def path(self, commit: str, path: str) -> str:
        """Where the file at `path` of a commit is kept: one place for each, its ending its own."""
        name = sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        ending = os.path.splitext(path)[1]
        return os.path.join(self.folder, _FILES, f"{commit}-{name}{ending}")

    def file(self, commit: str, path: str, limit: int) -> bytes:
        """The file at `path` of a commit, at most `limit` bytes, as that commit has it. Raises
        GitError where it is not kept, or is not what the commit's id says."""

        def read(id: str, kind: ObjectKind, limit: int) -> bytes:
            place = self.path(commit, path) if kind == "blob" else self._object(id)
            data = read_private(place, limit)
            if data is None:
                raise GitError("it was never fetched, or is no longer kept")
            return data

        try:
            return blob_at(read, commit, path, limit)
        except Mismatch as error:
            raise GitError(f"what is kept is not what its commit says: {error.reason}") from None

    def keep_file(self, commit: str, path: str, data: bytes) -> None:
        """Keep the file at `path` of a commit. Raises GitError."""
        self._write(self.path(commit, path), data)

    def keep_object(self, id: str, data: bytes) -> None:
        """Keep a commit or tree. Raises GitError."""
        self._write(self._object(id), data)

    def reference(self, url: str, rev: str) -> Reference | None:
        """What `rev` stood for at `url` when it was last asked."""
        data = read_private(self.reference_path(url, rev), _LARGEST_REFERENCE)
        commit, _, name = (data or b"").decode("utf-8", "replace").partition(" ")
        return Reference(commit, name) if is_commit_id(commit) else None

    def keep_reference(self, url: str, rev: str, reference: Reference) -> None:
        """Keep what `rev` stands for at `url` now. Raises GitError."""
        self._write(self.reference_path(url, rev), written(reference))

    def _object(self, id: str) -> str:
        return os.path.join(self.folder, _OBJECTS, id)

    def reference_path(self, url: str, rev: str) -> str:
        """Where it is kept what `rev` stood for."""
        name = sha256(f"{url} {rev}".encode("utf-8", "surrogatepass")).hexdigest()
        return os.path.join(self.folder, _REFERENCES, name)

    def _write(self, path: str, data: bytes) -> None:
        try:
            write_private(path, data)
        except OSError as error:
            raise GitError(f"{path} cannot be written: {error.strerror}") from None


def written(reference: Reference) -> bytes:
    """A reference as it is kept."""
    return f"{reference.commit} {reference.name}".encode()


def open_store(environ: Mapping[str, str], workspaces: Iterable[str]) -> Store:
    """The user's store, `tool-intent/sources` in the user's cache folder.

    Raises Refused, also where it would lie inside one of the `workspaces`: an agent could put a
    policy there that nobody wrote.
    """
    folder = os.path.realpath(os.path.join(cache_home(environ), "tool-intent", SOURCES))
    for workspace in workspaces:
        if within(folder, workspace):
            raise Refused(f"{folder} lies inside the workspace {workspace}")
    return Store(folder)
