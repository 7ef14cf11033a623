"""Requests that wait for their answer."""

from __future__ import annotations

from tool_intent.surfaces.mcp.calls import Admitted


class Batch:
    """The answers to one batch of a client's, given back as one line once all are there."""

    def __init__(self, owed: int) -> None:
        self._owed = owed
        self._answers: list[bytes] = []

    def add(self, answer: bytes | None) -> list[bytes]:
        """Count one answer in, None for a request that was cancelled; the lines to send."""
        self._owed -= 1
        if answer is not None:
            self._answers.append(answer.strip())
        if self._owed or not self._answers:
            return []
        return [b"[" + b",".join(self._answers) + b"]\n"]


class Waiting:
    """A request of the client's that was passed on: its method, the call that it made, and where a
    person approved that, what was approved."""

    __slots__ = ("approved", "batch", "call", "method")

    def __init__(
        self,
        method: str,
        batch: Batch | None,
        call: Admitted | None = None,
        approved: str | None = None,
    ) -> None:
        self.method = method
        self.batch = batch
        self.call = call
        self.approved = approved


class Pending:
    """What the client waits for, by the JSON text of the ids: 1 and "1" are two."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Waiting]] = {}

    def add(self, id: str, waiting: Waiting) -> None:
        """A request was passed on; one with the same id may be waiting already."""
        self._waiting.setdefault(id, []).append(waiting)

    def take(self, id: str) -> Waiting | None:
        """What an answer with this id answers, None where nothing waits for it.

        Where several requests wait under one id, nobody can tell which is answered: such an answer
        settles no call, and is read as a list of tools if it is one.
        """
        several = self._waiting.get(id)
        if several is None:
            return None
        first = several.pop(0)
        if not several:
            del self._waiting[id]
            return first
        for one in (first, *several):
            one.call = None
            one.method = ""
        return first

    def left_by(self, exchange: Pending, most: int) -> None:
        """Wait for what an exchange waited for, each alone; past `most` ids the oldest are given
        up."""
        for key, waiting in exchange.drain():
            waiting.batch = None
            self.add(key, waiting)
        while len(self._waiting) > most:
            del self._waiting[next(iter(self._waiting))]

    def drain(self) -> list[tuple[str, Waiting]]:
        """Everything that still waits, each with its id; nothing waits any more."""
        left = [(key, one) for key, several in self._waiting.items() for one in several]
        self._waiting.clear()
        return left

    def __len__(self) -> int:
        return len(self._waiting)
