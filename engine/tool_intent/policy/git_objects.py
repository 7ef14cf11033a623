"""Git objects: a file proven to be what the id of its commit stands for.

The id of an object is the hash of its bytes, and a commit names its tree, a tree its folders and
files: whoever has the id of a commit can tell of any bytes whether they are a file of it. That
holds wherever the bytes come from, a repository that others write or a folder that an agent can.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from typing import Final, Literal, Protocol, TypeAlias

ObjectKind: TypeAlias = Literal["commit", "tree", "blob"]

#: Bytes of a commit or of a tree.
LARGEST_NODE: Final = 16 << 20
#: Bytes of a blob, unless a caller says otherwise: as of a policy file of a repository.
LARGEST_BLOB: Final = 1 << 20

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_KINDS: Final = {"40000": "a folder", "120000": "a link", "160000": "a submodule"}


class GitError(Exception):
    """Git cannot give what was asked of it. `reason` completes the sentence "cannot be read: …"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Mismatch(GitError):
    """Bytes are not those that an id is the hash of."""


class ReadObject(Protocol):
    """Gives the bytes of an object, at most `limit` of them, or raises GitError."""

    def __call__(self, id: str, kind: ObjectKind, limit: int) -> bytes: ...


def is_commit_id(rev: str) -> bool:
    """Whether a revision is a full commit id: the only one that always means the same."""
    return _COMMIT.fullmatch(rev) is not None


def blob_at(read: ReadObject, commit: str, path: str, limit: int) -> bytes:
    """The file at `path` in a commit, each object on the way to it checked against its id: `read`
    may give what it likes. Raises Mismatch where an object has other bytes, and GitError where
    there is no such file or it has more than `limit` bytes."""
    *folders, name = expect_path(path).split("/")
    tree = _tree(_checked(read, commit, "commit", LARGEST_NODE), commit)
    for folder in folders:
        tree = _entry(read, tree, folder, path, "a folder")
    blob = _entry(read, tree, name, path, "a file")
    return _checked(read, blob, "blob", limit)


def _tree(data: bytes, commit: str) -> str:
    """The id of the tree of a commit whose bytes are `data`."""
    label, _, said = data.partition(b"\n")[0].partition(b" ")
    tree = said.decode("ascii", "replace")
    if label != b"tree" or len(tree) != len(commit) or not is_commit_id(tree):
        raise GitError(f"the commit {commit} cannot be read")
    return tree


def expect_path(path: str) -> str:
    """`path`; raises GitError unless it names a file below a repository's top."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or not path.isprintable():
        raise GitError(f"`{path}` is no path of a file in a repository")
    return path


def _checked(read: ReadObject, id: str, kind: ObjectKind, limit: int) -> bytes:
    data = read(id, kind, limit)
    if object_id(kind, data, len(id)) != id:
        raise Mismatch(f"the {kind} {id} is not what its id says")
    return data


def object_id(kind: ObjectKind, data: bytes, digits: int = 40) -> str:
    """The id that git gives an object, in hexadecimal: of 40 digits, or 64."""
    whole = f"{kind} {len(data)}\0".encode() + data
    return hashlib.sha256(whole).hexdigest() if digits == 64 else hashlib.sha1(whole).hexdigest()  # noqa: S324 (git's own naming)


def _entry(read: ReadObject, tree: str, name: str, path: str, wanted: str) -> str:
    """The id of the entry `name` of a tree, which must be "a file" or "a folder"."""
    data = _checked(read, tree, "tree", LARGEST_NODE)
    for mode, found, named in _entries(data, len(tree) // 2):
        if found == os.fsencode(name):
            kind = "a file" if mode.startswith("100") else _KINDS.get(mode, "something else")
            if kind == wanted:
                return named
            raise GitError(f"`{name}` of `{path}` is {kind} there")
    raise GitError(f"there is no `{path}` in it")


def _entries(tree: bytes, width: int) -> Iterator[tuple[str, bytes, str]]:
    """The mode, name and id of each entry of a tree whose ids have `width` bytes."""
    place = 0
    while place < len(tree):
        end = tree.find(b"\0", place)
        mode, space, name = tree[place:end].partition(b" ")
        digits = tree[end + 1 : end + 1 + width]
        if end < 0 or not space or len(digits) < width:
            raise GitError("a tree in it cannot be read")
        yield mode.decode("ascii", "replace").lstrip("0"), name, digits.hex()
        place = end + 1 + width
