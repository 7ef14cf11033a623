"""Whose permissions count: what an org file says may lower a decision only if the agent's user
cannot write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import time
from typing import TYPE_CHECKING, TypeAlias

from tool_intent.policy.files import PolicyFile
from tool_intent.policy.sources import MACHINE
from tool_intent.runtime.model import Rank

if TYPE_CHECKING:
    from tool_intent.policy.keys import Key

#: Why what the file at a path, of these bytes, permits does not count; None where it does.
Doubts: TypeAlias = Callable[[str, bytes], str | None]


def doubts_here(machine: str = MACHINE) -> Doubts:
    """Whether the user of this process could have written a file, or a key pinned in the machine
    folder vouches for it, as of now."""
    keys: list[Key] = []

    def doubt(path: str, data: bytes) -> str | None:
        from tool_intent.policy.keys import pinned_keys
        from tool_intent.policy.standing import standing

        keys[:] = keys or pinned_keys(machine)
        found = standing(path, "org", data, keys, time())
        return None if found.admitted else found.reason

    return doubt


class Standings:
    """Why what a file says at a rank cannot lower decisions; None where it can.

    A file of another rank than org binds its own and weaker ranks only, so it may permit what it
    likes. A pack permits as much as the files that extend it.
    """

    def __init__(
        self, reached: Mapping[tuple[PolicyFile, Rank], list[PolicyFile]], doubts: Doubts
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

    def _of(self, file: PolicyFile) -> str | None:
        if id(file) not in self._known:
            why = self._doubts(file.path, file.source)
            self._known[id(file)] = None if why is None else f"{file.shown}: {why}"
        return self._known[id(file)]
