"""Sessions and those that they started: what a sub-agent did belongs to who sent it."""

from __future__ import annotations

from collections.abc import Iterable, Set

from tool_intent.ledger.members import part, text
from tool_intent.ledger.records import Record


class Family:
    """The sessions whose id begins with a text, and all that they started, and so on."""

    def __init__(self, begins: str, started: Iterable[str] = ()) -> None:
        """`started` are ids that are known to belong to it."""
        self._begins = begins
        self._started = set(started)
        self._children: dict[str, set[str]] = {}

    def learn(self, record: Record) -> None:
        """Take in which session started that of a decision."""
        parent, child = parentage(record)
        if not parent or child in self._children.setdefault(parent, set()):
            return
        self._children[parent].add(child)
        if not self.has(parent):
            return
        new = [child]
        while new:
            one = new.pop()
            if one not in self._started:
                self._started.add(one)
                new += self._children.get(one, ())

    @property
    def started(self) -> Set[str]:
        """The ids of those that belong to it for having been started, as far as is known."""
        return self._started

    def has(self, session: str) -> bool:
        """Whether a session, by its id, is one of them, as far as is known."""
        return session.startswith(self._begins) or session in self._started


def parentage(record: Record) -> tuple[str, str]:
    """The session that started a decision's, "" where there is none, and its own."""
    session = part(record, "session")
    return text(session, "parent"), text(session, "id")
