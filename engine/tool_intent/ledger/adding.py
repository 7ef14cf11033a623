"""Lines into the tables of an index, many at a time."""

from __future__ import annotations

import sqlite3
from typing import Any

from tool_intent.ledger.choosing import count_of, stored_text, terms_of
from tool_intent.ledger.families import parentage
from tool_intent.ledger.members import text
from tool_intent.ledger.postings import BLOCK, Postings
from tool_intent.ledger.reading import Line


class Adding:
    """Adds records to an index, in the order of the ledger. Nothing is sure to be stored before
    `flush`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._postings = Postings(database)
        self._next = count_of(database)
        self._decisions: list[tuple[Any, ...]] = []
        self._outcomes: list[tuple[Any, ...]] = []
        self._started: set[tuple[str, str]] = set()

    def add(self, line: Line) -> None:
        """Add what a line holds, where it is a decision or an outcome."""
        record = line.record
        if record is None:
            return
        place = (line.segment.name, line.offset, len(line.raw))
        own = stored_text(record["id"])
        if record["type"] == "outcome":
            self._outcomes.append((stored_text(text(record, "of")), *place, own))
        elif record["type"] == "decision":
            self._decisions.append((self._next, own, *place, stored_text(record["ts"])))
            self._postings.add(self._next, terms_of(record))
            parent, child = parentage(record)
            if parent:
                self._started.add((stored_text(parent), stored_text(child)))
            self._next += 1
            if self._next % BLOCK == 0:
                self.flush()

    def flush(self) -> None:
        """Store what was added."""
        self._postings.flush()
        self._bound()
        for statement, rows in (
            ("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)", self._decisions),
            ("INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?)", self._outcomes),
            ("INSERT OR IGNORE INTO started VALUES (?, ?)", self._started),
        ):
            self._database.executemany(statement, rows)
            rows.clear()

    def _bound(self) -> None:
        """Keep between which times the block of these decisions lies."""
        if self._decisions:
            times = [row[-1] for row in self._decisions]
            self._database.execute(
                "INSERT INTO blocks VALUES (?, ?, ?) ON CONFLICT (block) DO UPDATE SET"
                " oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)",
                [self._decisions[0][0] // BLOCK, min(times), max(times)],
            )
