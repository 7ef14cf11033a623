"""Files out of git repositories, for one load: where they are kept, and what a lock says of them.

Loading a policy fetches nothing. With a `Fetcher`, as `tool-intent lock` has, what is not kept yet
is fetched and kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from tool_intent.policy import sources
from tool_intent.policy.git_objects import GitError
from tool_intent.policy.git_source import PREFIX, GitSource, parse_source
from tool_intent.policy.lock import LOCK_FILE, LockFile, Pin, read_lock
from tool_intent.policy.model import Source
from tool_intent.policy.opening import FOLDER
from tool_intent.policy.positions import Report, Span
from tool_intent.policy.private import Refused, home, within
from tool_intent.policy.sources import Root, SourceError
from tool_intent.policy.store import Store, open_store, written
from tool_intent.runtime.model import Rank

if TYPE_CHECKING:
    from tool_intent.policy.fetching import Fetcher

#: How many files of git repositories one load reads.
_MOST: Final = 200
_LOCK_IT: Final = "run `tool-intent lock`"
#: Ranks whose policies no lock is about and no agent may bend: nothing that can move is theirs.
_UNMOVED: Final[frozenset[Rank]] = frozenset({"org", "team"})

Place = tuple[str, Span]


class Found(NamedTuple):
    """A file of a git repository, where it is kept on this machine, what its revision stood for,
    and its bytes: those that were proven, whatever stands at `path` by now."""

    source: GitSource
    path: str
    pin: Pin
    data: bytes


class GitSources:
    """Finds the files that policies name with `git+…`, and those that such files name."""

    def __init__(
        self,
        report: Report,
        open_store: Callable[[], Store],
        fetcher: Fetcher | None = None,
    ) -> None:
        self._report = report
        self._open = open_store
        self._fetcher = fetcher
        self._store: Store | None = None
        self._rank: Rank = "session"
        self._holder: tuple[str, str] | None = None
        self._locks: dict[str, tuple[LockFile | None, bool]] = {}
        self._found: dict[str, Found] = {}
        self._consulted: dict[str, Source] = {}

    @classmethod
    def kept(
        cls,
        report: Report,
        roots: Sequence[Root],
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> GitSources:
        """Those that were fetched before, for a load of `roots` by who works in `cwd`; environment
        and folder are the process's unless given."""
        env = os.environ if environ is None else environ
        here = os.getcwd() if cwd is None else cwd
        return cls(report, lambda: open_store(env, workspaces(env, roots, here)))

    @property
    def consulted(self) -> list[Source]:
        """Files that are no policies and that say which commits are read."""
        return list(self._consulted.values())

    def enter(self, root: Root) -> None:
        """Say which root the names that follow are reached from."""
        self._rank = root.rank
        self._holder = holder(root)

    def is_git(self, path: str) -> bool:
        """Whether a file was found here."""
        return path in self._found

    def at(self, path: str) -> Found:
        """The file that is kept at a path which this object gave."""
        return self._found[path]

    def named(self, name: str, asked: Place) -> str | None:
        """Where the file that a policy names is kept; None, and an error, where it is not."""
        try:
            return self._find(parse_source(name), asked)
        except SourceError as error:
            self._report.error("policy/extends", *asked, error.message, error.help)
            return None

    def beside(self, path: str, name: str, asked: Place) -> str | None:
        """Where the file is kept that one kept at `path` names relative to itself."""
        try:
            return self._find(self._found[path].source.beside(name), asked)
        except SourceError as error:
            self._report.error("policy/extends", *asked, error.message, error.help)
            return None

    def _find(self, source: GitSource, asked: Place) -> str | None:
        try:
            pin = self._pin(source, asked)
            if pin is None:
                return None
            store = self._kept()
            path = store.path(pin.commit, source.path)
            if path not in self._found and len(self._found) >= _MOST:
                self._unreadable(source, asked, f"a policy has at most {_MOST} files out of git")
                return None
            found = self._found.get(path)
            data = self._data(store, source, pin) if found is None else found.data
        except (GitError, Refused) as error:
            self._unreadable(source, asked, str(error))
            return None
        if not self._is_as_locked(source, data, asked):
            return None
        self._found.setdefault(path, Found(source, path, pin, data))
        return path

    def _kept(self) -> Store:
        self._store = self._store or self._open()
        return self._store

    def _data(self, store: Store, source: GitSource, pin: Pin) -> bytes:
        limit = sources.size_limit(self._rank)
        if self._fetcher is not None:
            return self._fetcher.file(source, pin.commit, limit)
        return store.file(pin.commit, source.path, limit)

    def _pin(self, source: GitSource, asked: Place) -> Pin | None:
        """The commit to read; None, and an error, where there is none that may be read."""
        lock, usable = self._lock()
        if not usable:
            return None
        if self._fetcher is not None:
            return self._fetcher.pin(source, lock.lock.revision(source) if lock else None)
        if lock is not None:
            locked = lock.lock.pin(source)
            if locked is None:
                self._report.error(
                    "lock/missing", *asked, f"`{source}` is not in {lock.shown}",
                    f"{_LOCK_IT}, and look at what it adds",
                )  # fmt: skip
            return locked[1] if locked is not None else None
        return self._unlocked(source, asked)

    def _unlocked(self, source: GitSource, asked: Place) -> Pin | None:
        if source.pinned:
            return Pin(source.rev)
        if self._rank in _UNMOVED:
            self._report.error(
                "policy/unpinned", *asked,
                f"`{source.rev}` is a tag or branch, which can move: no {self._rank} policy may",
                "write the full commit id",
            )  # fmt: skip
            return None
        place = self._kept().reference_path(source.url, source.rev)
        kept = self._kept().reference(source.url, source.rev)
        if kept is None:
            raise GitError("it was never fetched, or is no longer kept")
        said = sources.fingerprint(written(kept))
        self._consult(place, f"{PREFIX}{source.url}@{source.rev}", said)
        lockable = self._holder is not None
        self._report.warning(
            "policy/unpinned", *asked, f"`{source.rev}` is a tag or branch, which can move",
            f"{_LOCK_IT}, or write the full commit id" if lockable else "write the full commit id",
        )  # fmt: skip
        return Pin(kept.commit, kept.name)

    def _lock(self) -> tuple[LockFile | None, bool]:
        """The lock beside the root's folder, and whether what it says, if anything, is known."""
        if self._holder is None:
            return None, True
        folder, shown = self._holder
        if folder not in self._locks:
            report = Report()
            lock = read_lock(folder, shown, report)
            self._report.extend((*report.of("error"), *report.of("warning")))
            self._locks[folder] = lock, not report.of("error")
            if lock is not None:
                self._consult(lock.path, lock.shown, lock.digest)
        return self._locks[folder]

    def _consult(self, path: str, shown: str, digest: str) -> None:
        self._consulted[path] = Source(path, shown, self._rank, digest)

    def _is_as_locked(self, source: GitSource, data: bytes, asked: Place) -> bool:
        lock, _ = self._lock()
        locked = lock.lock.pin(source) if lock is not None and self._fetcher is None else None
        if lock is None or locked is None or sources.fingerprint(data) == locked[0]:
            return True
        self._report.error(
            "lock/changed", *asked, f"`{source}` is not what {lock.shown} says",
            f"if the lock is right, remove {self._kept().folder} and {_LOCK_IT}",
        )  # fmt: skip
        return False

    def _unreadable(self, source: GitSource, asked: Place, reason: str) -> None:
        mend = "see that the repository can be reached and has it"
        if self._fetcher is None:
            mend = f"{_LOCK_IT}, which fetches it"
        self._report.error(
            "policy/unreadable", *asked, f"`{source}` cannot be read: {reason}", mend
        )


def holder(root: Root) -> tuple[str, str] | None:
    """The folder that a root's `.tool-intent` stands in, and the name of the lock there for people;
    None for a root that stands elsewhere: machine, user and other policies are in no lock."""
    folder = os.path.dirname(os.path.abspath(root.path))
    if os.path.basename(folder) != FOLDER:
        return None
    shown = os.path.join(os.path.dirname(os.path.dirname(root.shown)), LOCK_FILE)
    return os.path.dirname(folder), shown


def workspaces(environ: Mapping[str, str], roots: Sequence[Root], cwd: str) -> list[str]:
    """The folders that an agent works in: nothing in them is trusted to be as it was fetched."""
    found = [held[0] for held in map(holder, roots) if held is not None]
    # Who works in a home folder may write its start-up files, and so needs no store to change.
    return found if within(home(environ), cwd) else [*found, cwd]
