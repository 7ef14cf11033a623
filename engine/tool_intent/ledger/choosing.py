"""The rows of an index that a question is about, block by block: what is not shown is not read."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from tool_intent.ledger.families import Family
from tool_intent.ledger.members import part, text
from tool_intent.ledger.postings import BLOCK, Postings, Rows, Term, rows_in
from tool_intent.ledger.queries import Wanted, paths, rules
from tool_intent.ledger.records import Record

#: Characters after which no text that begins alike comes any more.
_LAST: Final = "\U0010ffff"
#: Folders of a path, and characters of it, that it is found by; who asks for more looks at each.
_DEEPEST: Final = 32
_LONGEST: Final = 4096
#: Blocks that are looked at together, at most.
_MOST_BLOCKS: Final = 64


def terms_of(record: Record) -> set[Term]:
    """What a decision can be found by."""
    found = {
        ("session", text(part(record, "session"), "id")),
        ("tool", text(part(record, "call"), "tool")),
        ("decision", text(part(record, "decision"), "verdict")),
    }
    found |= {("rule", rule) for rule in rules(record)}
    found |= {("path", place) for path in paths(record) for place in _places(path)}
    return {(kind, stored_text(name)) for kind, name in found}


def family_of(database: sqlite3.Connection, begins: str) -> Family:
    """The sessions whose id begins so, and those that they started."""
    query = """
        WITH RECURSIVE family (id) AS (
            SELECT child FROM started WHERE parent >= ? AND parent < ?
            UNION SELECT child FROM started JOIN family ON parent = id
        ) SELECT id FROM family
    """
    bounds = _bounds(stored_text(begins))
    return Family(begins, (row[0] for row in database.execute(query, bounds)))


def chosen(
    database: sqlite3.Connection, wanted: Wanted, family: Family | None, *, newest_first: bool
) -> Iterator[int]:
    """The rows of what is wanted, and few that are not: who shows them looks at each."""
    count = count_of(database)
    conditions = list(_conditions(wanted, family))
    postings = Postings(database)
    for first, last in _groups(-(-count // BLOCK), newest_first=newest_first):
        sets = _within(database, wanted.since, first, last, count)
        for where, values in conditions:
            if sets:
                found = postings.find(where, values, min(sets), max(sets))
                sets = {b: rows & found[b] for b, rows in sets.items() if b in found}
        for block in sorted(sets, reverse=newest_first):
            for bit in rows_in(sets[block], newest_first=newest_first):
                yield block * BLOCK + bit


def count_of(database: sqlite3.Connection) -> int:
    """How many decisions there are. Their rows are numbered from 0, without a gap."""
    (last,) = database.execute("SELECT max(row) FROM decisions").fetchone()
    return 0 if last is None else last + 1


def stored_text(value: str) -> str:
    """A text as SQLite takes it: half a character is none."""
    return value.encode("utf-8", "replace").decode("utf-8")


def _groups(blocks: int, *, newest_first: bool) -> Iterator[tuple[int, int]]:
    """The first and last block of each group: few at first, as few may be enough."""
    done, size = 0, 1
    while done < blocks:
        size = min(size, blocks - done)
        first, last = done, done + size - 1
        yield (blocks - 1 - last, blocks - 1 - first) if newest_first else (first, last)
        done, size = done + size, min(size * 2, _MOST_BLOCKS)


def _within(
    database: sqlite3.Connection, since: str | None, first: int, last: int, count: int
) -> dict[int, Rows]:
    """All rows from block `first` to `last` that are not before a time."""
    if since is None:
        return {b: (1 << min(BLOCK, count - b * BLOCK)) - 1 for b in range(first, last + 1)}
    sets: dict[int, Rows] = {}
    known = "SELECT block, oldest FROM blocks WHERE block BETWEEN ? AND ? AND newest >= ?"
    for block, oldest in database.execute(known, [first, last, since]).fetchall():
        sets[block] = (1 << min(BLOCK, count - block * BLOCK)) - 1
        if oldest < since:
            start = block * BLOCK
            late = "SELECT row FROM decisions WHERE row BETWEEN ? AND ? AND ts >= ?"
            numbers = database.execute(late, [start, start + BLOCK - 1, since])
            sets[block] = sum(1 << (row - start) for (row,) in numbers)
    return sets


def _conditions(wanted: Wanted, family: Family | None) -> Iterator[tuple[str, list[Any]]]:
    """Each filter as a condition on terms."""
    if wanted.decision is not None:
        yield "kind = 'decision' AND name = ?", [wanted.decision]
    if wanted.path is not None:
        *_, place = _places(wanted.path.rstrip(os.sep))
        yield "kind = 'path' AND name = ?", [stored_text(place)]
    for kind, name in (("tool", wanted.tool), ("rule", wanted.rule)):
        if name is not None and ("*" in name or "?" in name):
            yield f"kind = '{kind}' AND name GLOB ?", [stored_text(name.replace("[", "[[]"))]
        elif name is not None:
            yield f"kind = '{kind}' AND name = ?", [stored_text(name)]
    if wanted.session and family is not None:
        ids = json.dumps([stored_text(one) for one in family.started])
        of = "name >= ? AND name < ? OR name IN (SELECT value FROM json_each(?))"
        yield f"kind = 'session' AND ({of})", [*_bounds(stored_text(wanted.session)), ids]


def _bounds(begins: str) -> list[str]:
    return [begins, begins + _LAST]


def _places(path: str) -> Iterator[str]:
    """Everything, the folders above a path, and the path."""
    yield "."
    if path != ".":
        names = path[:_LONGEST].split(os.sep)[:_DEEPEST]
        for number in range(1, len(names) + 1):
            yield os.sep.join(names[:number]) or os.sep
