"""A policy as it was at a git revision: the whole tree, so that what it refers to is as it was."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tool_intent.policy.git import Git
from tool_intent.policy.git_objects import GitError

#: Bytes that a tree may have.
_LARGEST: Final = 256 << 20


class NoRevision(Exception):
    """There is no such revision of a file, or no repository around it; `str` says which."""


@contextmanager
def at_revision(path: str, revision: str) -> Iterator[str]:
    """The path of a file as it was at `revision` (anything git takes for one commit), while the
    block runs. Raises NoRevision."""
    real = Path(path).resolve()
    top = next((folder for folder in real.parents if (folder / ".git").exists()), None)
    if top is None:
        raise NoRevision(f"{path} lies in no git repository")
    inner = real.relative_to(top)
    try:
        git = Git.found()
        commit = _commit(git, str(top), revision)
        archive = git.run("archive", "--format=tar", commit, directory=str(top), limit=_LARGEST)
    except GitError as error:
        raise NoRevision(f"`{revision}` is no revision of {top}: {error}") from None
    with TemporaryDirectory(prefix="tool-intent-eval-") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        found = os.path.join(folder, inner)
        if not os.path.isfile(found):
            raise NoRevision(f"`{revision}` has no file {inner}")
        yield found


def _commit(git: Git, folder: str, revision: str) -> str:
    if revision.startswith("-"):
        raise GitError("a revision does not start with a hyphen")
    wanted = f"{revision}^{{commit}}"
    return git.run("rev-parse", "--verify", wanted, directory=folder).decode().strip()
