"""Whose permissions count: what an org file says may lower a decision only if the agent's user
cannot write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tool_intent.policy.files import PolicyFile
from tool_intent.runtime.model import Rank

#: Why what the file at a path, of these bytes, permits does not count; None where it does.
Doubting: TypeAlias = Callable[[str, bytes], str | None]


#: Every file at each rank that reaches it, and whether all that name it there may grant anything.
Reached: TypeAlias = dict[tuple[PolicyFile, Rank], bool]


class Standings:
    """Why what a file says at a rank cannot lower decisions; None where it can.

    A file of another rank than org binds its own and weaker ranks only, so it may permit what it
    likes, unless it was the environment that named it. One of rank org counts only where all that
    extend it do: they chose it. A pack, and a file out of git that is the one which the id of a
    commit stands for, need no more.
    """

    def __init__(self, reached: Reached, doubts: Doubting) -> None:
        self._reached = reached
        self._doubts = doubts
        self._known: dict[int, str | None] = {}
        self._extenders: dict[int, list[PolicyFile]] = {}
        for file, rank in reached:
            for extended in file.extends if rank == "org" else ():
                self._extenders.setdefault(id(extended), []).append(file)

    def __call__(self, file: PolicyFile, rank: Rank) -> str | None:
        if not self._reached.get((file, rank), True):
            return "the environment names it, and that grants nothing"
        return self._of(file) if rank == "org" else None

    def of_others(self, file: PolicyFile, rank: Rank) -> str | None:
        """Why what a file says at a rank cannot lower a rule of a stronger one, as far as that
        rule's floor or an option's bounds would let it."""
        if rank == "session":
            return "what is named for one session lowers nothing of others"
        return self(file, rank)

    @property
    def doubted(self) -> list[str]:
        """The files that were asked about and whose permissions do not count."""
        found = {why.partition(":")[0] for why in self._known.values() if why is not None}
        return sorted(found)

    def _of(self, file: PolicyFile) -> str | None:
        if id(file) not in self._known:
            extenders = self._extenders.get(id(file), [])
            found = [self._itself(file), *map(self._of, extenders)]
            self._known[id(file)] = next((why for why in found if why is not None), None)
        return self._known[id(file)]

    def _itself(self, file: PolicyFile) -> str | None:
        if file.pack or file.proven:
            return None
        why = self._doubts(file.path, file.source)
        return None if why is None else f"{file.shown}: {why}"
