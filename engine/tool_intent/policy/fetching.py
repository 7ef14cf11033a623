"""Fetching what policies name in git repositories, and keeping it: for authoring commands only."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import Self

from tool_intent.policy.git import Git, Reference, Remote, Repository
from tool_intent.policy.git_objects import GitError, ObjectKind, blob_at
from tool_intent.policy.git_source import GitSource
from tool_intent.policy.lock import Pin
from tool_intent.policy.store import Store


class Fetcher:
    """Asks repositories what revisions stand for, and fetches files into a store.

    A context manager: what it makes for itself is gone at the end. `update` asks again what a lock
    already says. `say` is told of each repository that is reached over a network. A policy without
    git sources needs neither a store nor git.
    """

    def __init__(
        self,
        open_store: Callable[[], Store],
        find_git: Callable[[], Git],
        now: datetime,
        say: Callable[[str], None],
        *,
        update: bool = False,
    ) -> None:
        self._open_store = open_store
        self._find_git = find_git
        self._now = now
        self._say = say
        self._update = update
        self._ends = ExitStack()
        self._repositories: dict[str, Repository | Remote] = {}
        self._asked: dict[tuple[str, str], Reference] = {}

    @cached_property
    def store(self) -> Store:
        """What is fetched goes here. Raises private.Refused."""
        return self._open_store()

    @cached_property
    def _git(self) -> Git:
        return self._find_git()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.close()

    def pin(self, source: GitSource, locked: Pin | None) -> Pin:
        """What a source's revision stands for: as it was locked, else as its repository says.
        Raises GitError."""
        if locked is not None and (source.pinned or not self._update):
            return locked
        reference = self.resolve(source)
        if not source.pinned:
            self.store.keep_reference(source.url, source.rev, reference)
        return Pin(reference.commit, reference.name, self._now)

    def resolve(self, source: GitSource) -> Reference:
        """What a source's revision stands for in its repository now. Raises GitError."""
        key = (source.url, source.rev)
        if source.pinned:
            return Reference(source.rev, "")
        if key not in self._asked:
            self._asked[key] = self._repository(source).resolve(source.rev)
        return self._asked[key]

    def file(self, source: GitSource, commit: str, limit: int) -> bytes:
        """A source's file at a commit, out of the store, else fetched into it. Raises GitError."""
        try:
            return self.store.file(commit, source.path, limit)
        except GitError:
            return self._fetched(source, commit, limit)

    def _fetched(self, source: GitSource, commit: str, limit: int) -> bytes:
        repository = self._repository(source)
        nodes: dict[str, bytes] = {}

        def read(id: str, kind: ObjectKind, limit: int) -> bytes:
            data = repository.object(id, kind, limit)
            if kind != "blob":
                nodes[id] = data
            return data

        data = blob_at(read, commit, source.path, limit)
        for name, node in nodes.items():
            self.store.keep_object(name, node)
        self.store.keep_file(commit, source.path, data)
        return data

    def _repository(self, source: GitSource) -> Repository | Remote:
        if source.url not in self._repositories:
            self._repositories[source.url] = self._reached(source)
        return self._repositories[source.url]

    def _reached(self, source: GitSource) -> Repository | Remote:
        if source.folder is not None:
            return Repository(self._git, source.folder)
        self._say(f"asking {source.url}")
        try:
            folder = self._ends.enter_context(
                tempfile.TemporaryDirectory(prefix="fetch-", dir=self.store.folder)
            )
        except OSError as error:
            raise GitError(f"{self.store.folder}: {error.strerror}") from None
        return Remote(self._git, source.url, folder)
