"""A file that somebody asks about: where it lies, what it holds, and who may know of it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from tool_intent.cli.terminal import fail
from tool_intent.cli.versions import Versions
from tool_intent.ledger.answering import Ledger, Sealed
from tool_intent.ledger.objects import LARGEST
from tool_intent.ledger.place import (
    NAME,
    LedgerError,
    Worktree,
    ledger_folder,
    state_folder,
    worktree,
)
from tool_intent.policy.git_objects import GitError
from tool_intent.rules.diagnostics import nearest

_LINES: Final = re.compile(r"(.+):([0-9]{1,12})(?:-([0-9]{1,12}))?", re.DOTALL)
#: Bytes in which git, too, looks for what a text has none of.
_BINARY_WITHIN: Final = 8_000


class Span(NamedTuple):
    """Lines from 1, both of them included."""

    start: int
    end: int


class Asked(NamedTuple):
    """A file's text, and all that tells about it. `shown` is its name for people, `names` its path
    as records have it and those it had before; `ledger` is empty where there is no record."""

    shown: str
    names: list[str]
    text: bytes
    ledger: Ledger
    sealed: list[Sealed]
    contents: Callable[[str], bytes | None] | None


def parted(target: str) -> tuple[str, Span | None]:
    """The file and the lines of `FILE[:LINE[-LINE]]`; a file that has such a name is meant as it
    is."""
    found = _LINES.fullmatch(target)
    if found is None or os.path.lexists(target):
        return target, None
    start = int(found[2])
    return found[1], Span(start, int(found[3] or start))


def asked(file: str, rev: str | None) -> Asked:
    """What there is to know of a file, in the work tree or, with `rev`, as committed. Ends the
    command where there is none, or it is no text."""
    path = os.path.realpath(file)
    if rev is None:
        _expect_file(file, path)
    here = worktree(os.path.dirname(path))
    if rev is not None:
        return _committed(file, path, here, rev)
    text = _read(file, path)
    if here is None:
        return Asked(file, [path], text, opened(os.path.dirname(path)), [], None)
    return _in_repository(file, path, here, text)


def opened(folder: str) -> Ledger:
    """The ledger of calls that are made in a folder."""
    try:
        place = ledger_folder(folder)
        here = worktree(folder)
        own = here is not None and place == os.path.join(here.common, NAME)
        return Ledger(place, everywhere=not own)
    except (LedgerError, OSError) as error:
        fail(f"the ledger cannot be read: {error}")


def no_record(folder: str) -> str:
    """Where records would be, and how they come to be there."""
    place = ledger_folder(folder)
    where = "TOOL_INTENT_LEDGER is off" if place is None else f"{place} holds no record of a change"
    return (
        f"nothing is known here: {where}, and no note was sealed. Calls are recorded once they go"
        " through tool-intent; notes that others sealed come with"
        " `git fetch origin refs/notes/tool-intent:refs/notes/tool-intent`"
    )


def expect_text(shown: str, text: bytes) -> None:
    """End the command where a content has no lines to speak of."""
    if b"\0" in text[:_BINARY_WITHIN]:
        fail(f"{shown} is binary: it has no lines to tell anything of; name a text file")


def _in_repository(file: str, path: str, here: Worktree, text: bytes) -> Asked:
    try:
        versions = Versions(here.root)
    except GitError as error:
        fail(f"{file} lies in a git repository, and {error.reason}")
    name = os.path.relpath(path, here.root)
    commit = _head(versions)
    names = [name] if commit is None else _names(versions, commit, name)
    sealed = versions.sealed(commit, names, text)
    ledger, roots = knowing(here, names)
    names = names_in(here, names, roots)
    return Asked(file, names, text, ledger, sealed, versions.content)


def _committed(file: str, path: str, here: Worktree | None, rev: str) -> Asked:
    if here is None:
        fail(f"--rev needs a git repository, and {file} lies in none: leave --rev away")
    try:
        versions = Versions(here.root)
        commit = versions.commit(rev)
        name = os.path.relpath(path, here.root)
        text = versions.content(versions.blob(commit, name))
        names = versions.names(commit, name)
    except GitError as error:
        fail(f"{file}: {error.reason}")
    if text is None:
        fail(f"{file}: it is larger than {LARGEST >> 20} MiB in {rev}, or cannot be read")
    shown = f"{rev}:{name}"
    expect_text(shown, text)
    sealed = versions.sealed(commit, names, text)
    ledger, roots = knowing(here, names)
    names = names_in(here, names, roots)
    return Asked(shown, names, text, ledger, sealed, versions.content)


def knowing(here: Worktree, names: list[str]) -> tuple[Ledger, list[str]]:
    """The ledger that knows one of some files of a work tree: the repository's own, else that of a
    repository around it, in which calls were made, else that of calls made in no repository; and
    the roots of the work trees around that were looked into."""
    whole = [os.path.join(here.root, name) for name in names]
    known, roots = names + whole, list[str]()
    inner = here
    ledger = first = opened(here.root)
    while not ledger.knows(known):
        around = worktree(os.path.dirname(inner.root))
        if around is None:
            outside = Ledger(state_folder(os.environ), everywhere=True)
            return (outside if outside.knows(whole) else first), roots
        roots.append(around.root)
        known += [os.path.relpath(name, around.root) for name in whole]
        ledger, inner = opened(around.root), around
    return ledger, roots


def names_in(here: Worktree, names: list[str], roots: list[str]) -> list[str]:
    """A file's names in its work tree, and those by which calls that were made elsewhere may know
    it: whole, and from the roots of work trees around."""
    whole = [os.path.join(here.root, name) for name in names]
    return names + whole + [os.path.relpath(name, root) for root in roots for name in whole]


def _head(versions: Versions) -> str | None:
    try:
        return versions.commit("HEAD")
    except GitError:
        return None  # a repository without commits


def _names(versions: Versions, commit: str, name: str) -> list[str]:
    try:
        return versions.names(commit, name)
    except GitError:
        return [name]  # a damaged history tells of no renames; records of this name still count


def _expect_file(file: str, path: str) -> None:
    if os.path.isdir(path):
        fail(f"{file} is a folder: name a file in it")
    if os.path.isfile(path):
        return
    if os.path.exists(path):
        fail(f"{file} is no regular file")
    try:
        beside = os.listdir(os.path.dirname(path))
    except OSError:
        beside = []
    close = nearest(os.path.basename(path), beside)
    meant = f"; did you mean {os.path.join(os.path.dirname(file), close)}?" if close else ""
    fail(f"there is no file {file}{meant or '; name one, or a commit that has it with --rev'}")


def _read(file: str, path: str) -> bytes:
    try:
        if os.path.getsize(path) > LARGEST:
            fail(f"{file} is larger than {LARGEST >> 20} MiB: of such files no content is kept")
        text = Path(path).read_bytes()
    except OSError as error:
        fail(f"{file} cannot be read: {(error.strerror or str(error)).lower()}")
    expect_text(file, text)
    return text
