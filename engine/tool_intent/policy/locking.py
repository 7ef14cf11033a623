"""Making a lock of a repository's policy, and telling in what the two differ."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from tool_intent.policy import sources
from tool_intent.policy.fetching import Fetcher
from tool_intent.policy.files import CatalogFile, PolicyFile, Reader
from tool_intent.policy.git_objects import GitError
from tool_intent.policy.git_sources import GitSources, Place
from tool_intent.policy.lock import LOCK_FILE, Entry, Lock, LockFile, entries_of
from tool_intent.policy.opening import FOLDER, is_waivers
from tool_intent.policy.positions import START, Report, Span
from tool_intent.policy.private import within
from tool_intent.policy.sources import Root, named
from tool_intent.policy.wordlists import WordList

_AGAIN: Final = "look at the change, then run `tool-intent lock`"
_UPDATE: Final = "run `tool-intent lock --update`"
#: How far clocks may be apart before a time is one that has not come yet.
_APART: Final = timedelta(days=1)


def roots_of(folder: str, shown: str) -> list[Root]:
    """The policy and rule files of the repository in `folder`, known to people as `shown`.

    Raises sources.SourceError where it has none.
    """
    base = os.path.join(shown, FOLDER) if shown not in ("", ".") else FOLDER
    found = named(os.path.join(folder, FOLDER), folder)
    return [
        Root(root.path, "repo", os.path.join(base, os.path.basename(root.path)))
        for root in found
        if not is_waivers(root.path)
    ]


def closure(
    folder: str, roots: Iterable[Root], git: GitSources, report: Report
) -> dict[Entry, Place | None]:
    """Every source that the policy in `folder` is made of, with the place that names it, if any
    does. What is wrong goes to `report`."""
    reader = Reader(report, git)
    found: dict[str, Entry] = {}

    def add(path: str, shown: str, digest: str, kind: str = "") -> None:
        entry = _entry(folder, path, shown, digest, kind, git)
        if not entry.name.isprintable() or entry.name.startswith(".." + os.sep):
            report.error(
                "lock/name", shown, START, f"`{shown}` cannot be named in a lock",
                "rename it, or put it into the repository",
            )  # fmt: skip
        found[path] = entry

    for catalog in reader.shipped_catalogs():
        add(catalog.path, catalog.shown, catalog.digest, "catalogs")
    for root in roots:
        file = reader.root(root)
        for reached in file.closure() if file is not None else ():
            for part in _parts(reached):
                pack = isinstance(part, PolicyFile) and part.pack
                add(part.path, part.shown, part.digest, "packs" if pack else "")
    return {entry: reader.named(path) for path, entry in found.items()}


def _parts(file: PolicyFile) -> Iterator[PolicyFile | CatalogFile | WordList]:
    yield file
    yield from file.catalogs
    yield from file.lists.values()


def _entry(folder: str, path: str, shown: str, digest: str, kind: str, git: GitSources) -> Entry:
    if git.is_git(path):
        found = git.at(path)
        return Entry("git", str(found.source), digest, (found.source, found.pin))
    if kind:
        return Entry(kind, shown, digest)
    if within(path, sources.shipped()):
        return Entry("shipped", _relative(path, sources.shipped()), digest)
    return Entry("files", _relative(path, folder), digest)


def _relative(path: str, folder: str) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace(os.sep, "/")


def lock_of(entries: Iterable[Entry], before: Lock | None) -> Lock:
    """The lock of these sources; what a person set in the one `before` stays."""
    return Lock(entries_of(entries), max_stale=before.max_stale if before is not None else None)


class Comparison:
    """Tells in what a lock differs from what is there: as errors if `strict`, else as warnings."""

    def __init__(self, file: LockFile, report: Report, *, strict: bool) -> None:
        self._file = file
        self._tell = report.error if strict else report.warning

    def sources(self, current: Mapping[Entry, Place | None]) -> None:
        """Sources that changed, were added or are gone; an added one where a policy names it."""
        locked = self._file.lock.entries
        there = entries_of(current)
        for key, entry in sorted(there.items()):
            was = locked.get(key)
            if was is None:
                place = current[entry] or (self._file.shown, self._file.span(entry.list))
                self._tell(
                    "lock/missing", *place,
                    f"`{entry.name}` is part of the policy and not in {self._file.shown}", _AGAIN,
                )  # fmt: skip
            elif was.sha256 != entry.sha256:
                self._say(
                    "lock/changed", self._file.entry_span(was),
                    f"`{entry.name}` is not what was locked: its sha256 is {entry.sha256}", _AGAIN,
                )  # fmt: skip
        for key, was in sorted(locked.items()):
            if key not in there:
                self._say(
                    "lock/unused", self._file.entry_span(was),
                    f"`{was.name}` is locked and no longer part of the policy", _AGAIN,
                )  # fmt: skip

    def versions(self) -> None:
        """An engine or table of another version than the one that locked."""
        lock, ours = self._file.lock, Lock({})
        for key, what in (
            ("engine", "tool-intent"), ("functions", "the table of functions"),
            ("unicode", "Unicode"),
        ):  # fmt: skip
            was, now = getattr(lock, key), getattr(ours, key)
            if was != now:
                self._say(
                    "lock/version", self._file.span(key), f"{what} is {now} here, and {was} locked",
                    f"install tool-intent {lock.engine}, or run `tool-intent lock` and look at what"
                    " its new packs and catalogs change",
                )  # fmt: skip

    def ages(self, now: datetime) -> None:
        """Tags and branches that were last asked longer ago than `max_stale` days."""
        days = self._file.lock.max_stale
        for entry in self._file.lock.entries.values():
            if days is None or entry.git is None or entry.git[0].pinned:
                continue
            resolved = entry.git[1].resolved
            if resolved is None or now - resolved > timedelta(days=days):
                message = f"`{entry.name}` was last asked more than {days} days ago"
            elif resolved - now > _APART:
                message = f"`{entry.name}` was last asked at a time that has not come yet"
            else:
                continue
            self._say("lock/stale", self._file.entry_span(entry), message, _UPDATE)

    def tags(self, fetcher: Fetcher) -> list[str]:
        """Tags that stand for another commit by now; returns what could not be asked, and why."""
        unasked: list[str] = []
        seen: set[tuple[str, str]] = set()
        for entry in self._file.lock.entries.values():
            if entry.git is None or not entry.git[1].reference.startswith("refs/tags/"):
                continue
            source, pin = entry.git
            if source[:2] in seen:
                continue
            seen.add(source[:2])
            try:
                commit = fetcher.resolve(source).commit
            except GitError as error:
                told = f"{source.url}@{source.rev} could not be asked, its lock stands"
                unasked.append(f"{told}: {error.reason}")
                continue
            if commit != pin.commit:
                self._say(
                    "lock/moved", self._file.entry_span(entry),
                    f"the tag `{source.rev}` of {source.url} moved from {pin.commit} to {commit}",
                    f"a tag should not move: ask its owners why; then {_UPDATE}, or name a commit",
                )  # fmt: skip
        return unasked

    def _say(self, code: str, span: Span, message: str, mend: str) -> None:
        self._tell(code, self._file.shown, span, message, mend)


def write_lock(folder: str, lock: Lock) -> None:
    """Write a lock, whole or not at all; a link in its place is replaced. Raises OSError."""
    path = os.path.join(folder, LOCK_FILE)
    draft = f"{path}.{os.getpid()}"
    try:
        with open(draft, "x", encoding="utf-8") as file:
            file.write(lock.text())
        os.replace(draft, path)
    except OSError:
        if os.path.lexists(draft):
            os.remove(draft)
        raise
