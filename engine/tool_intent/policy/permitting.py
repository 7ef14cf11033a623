"""Whose permissions count: what an org file says may lower a decision only if the agent's user
cannot write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from tool_intent.policy.files import PolicyFile
from tool_intent.runtime.model import Rank

#: Why what the file at a path, of these bytes, permits does not count; None where it does.
Doubting: TypeAlias = Callable[[str, bytes], str | None]


class Standings:
    """Why what a file says at a rank cannot lower decisions; None where it can.

    A file of another rank than org binds its own and weaker ranks only, so it may permit what it
    likes. A pack permits as much as the files that extend it.
    """

    def __init__(
        self, reached: Mapping[tuple[PolicyFile, Rank], list[PolicyFile]], doubts: Doubting
    ) -> None:
        self._reached = reached
        self._doubts = doubts
        self._known: dict[int, str | None] = {}

    def __call__(self, file: PolicyFile, rank: Rank) -> str | None:
        if rank != "org":
            return None
        sources = self._reached.get((file, rank), [])
        if not file.pack:
            sources = [file, *sources]
        return next((why for why in map(self._of, sources) if why is not None), None)

    @property
    def doubted(self) -> list[str]:
        """The files that were asked about and whose permissions do not count."""
        return sorted(why.partition(":")[0] for why in self._known.values() if why is not None)

    def _of(self, file: PolicyFile) -> str | None:
        if id(file) not in self._known:
            why = self._doubts(file.path, file.source)
            self._known[id(file)] = None if why is None else f"{file.shown}: {why}"
        return self._known[id(file)]
