"""Whose permissions count: what an org file says may lower a decision only if the agent's user
cannot write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tool_intent.policy.files import PolicyFile
from tool_intent.runtime.model import Rank

#: Why what the file at a path, of these bytes, permits does not count; None where it does.
Doubting: TypeAlias = Callable[[str, bytes], str | None]


#: Every file at each rank that reaches it, with the roots that do and whether those grant anything.
Reached: TypeAlias = dict[tuple[PolicyFile, Rank], list[tuple[PolicyFile, bool]]]


class Standings:
    """Why what a file says at a rank cannot lower decisions; None where it can.

    A file of another rank than org binds its own and weaker ranks only, so it may permit what it
    likes, unless it was the environment that named it. A pack permits as much as the files that
    extend it.
    """

    def __init__(self, reached: Reached, doubts: Doubting) -> None:
        self._reached = reached
        self._doubts = doubts
        self._known: dict[int, str | None] = {}

    def __call__(self, file: PolicyFile, rank: Rank) -> str | None:
        roots = self._reached.get((file, rank), [])
        if not all(grants for _, grants in roots):
            return "the environment names it, and that grants nothing"
        if rank != "org":
            return None
        sources = [root for root, _ in roots] if file.pack else [file, *(r for r, _ in roots)]
        return next((why for why in map(self._of, sources) if why is not None), None)

    def of_others(self, file: PolicyFile, rank: Rank) -> str | None:
        """Why what a file says at a rank cannot lower a rule of a stronger one, as far as that
        rule's floor or an option's bounds would let it."""
        if rank == "session":
            return "what is named for one session lowers nothing of others"
        return self(file, rank)

    @property
    def doubted(self) -> list[str]:
        """The files that were asked about and whose permissions do not count."""
        return sorted(why.partition(":")[0] for why in self._known.values() if why is not None)

    def _of(self, file: PolicyFile) -> str | None:
        if id(file) not in self._known:
            why = self._doubts(file.path, file.source)
            self._known[id(file)] = None if why is None else f"{file.shown}: {why}"
        return self._known[id(file)]
