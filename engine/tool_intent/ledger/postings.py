"""Which decisions have what, as sets of rows in blocks: what has two things at once is then found
without going through what has only one of them."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

#: Rows of a block.
BLOCK: Final = 4096
#: Terms whose number is remembered while there is much to add.
_MOST_KNOWN: Final = 200_000

TABLES: Final = """
CREATE TABLE terms (term INTEGER PRIMARY KEY, kind TEXT, name TEXT, UNIQUE (kind, name));
CREATE TABLE postings (term INTEGER, block INTEGER, rows BLOB, PRIMARY KEY (term, block))
    WITHOUT ROWID;
"""

#: What a decision has: `("tool", "bash")`.
Term: TypeAlias = tuple[str, str]
#: Rows of a block, one bit each; the first row is the lowest bit.
Rows: TypeAlias = int


def rows_in(rows: Rows, *, newest_first: bool) -> Iterator[int]:
    """The numbers of the rows of a set, within its block."""
    while rows:
        bit = rows.bit_length() - 1 if newest_first else (rows & -rows).bit_length() - 1
        rows ^= 1 << bit
        yield bit


class Postings:
    """The sets of a database that has `TABLES`."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._known: dict[Term, int] = {}
        #: The block that rows are added to, and what was added.
        self._block = -1
        self._added: dict[int, list[int]] = {}

    def add(self, row: int, terms: Iterable[Term]) -> None:
        """Note what a row has, from 0; rows come in order. Nothing is stored before `flush`."""
        block, bit = divmod(row, BLOCK)
        if block != self._block:
            self.flush()
            self._block = block
        for term in terms:
            self._added.setdefault(self._number(term), []).append(bit)

    def flush(self) -> None:
        """Store what was added."""
        block, before = self._block, {}
        if self._added:
            query = "SELECT rows FROM postings WHERE term = ? AND block = ?"
            for number in self._added:
                for (stored,) in self._database.execute(query, [number, block]):
                    before[number] = _unpacked(stored)
        self._database.executemany(
            "INSERT OR REPLACE INTO postings VALUES (?, ?, ?)",
            (
                (number, block, _packed(_set(bits) | before.get(number, 0)))
                for number, bits in self._added.items()
            ),
        )
        self._added.clear()

    def find(self, where: str, values: list[str], first: int, last: int) -> dict[int, Rows]:
        """The rows that have a term of which `where` is true, an SQL condition on `kind` and
        `name`; by block, from block `first` to `last`. Raises sqlite3.Error, where what is stored
        is no set, too."""
        # `where` is a constant of ours; what people give is bound.
        query = (
            f"SELECT block, rows FROM terms JOIN postings USING (term) WHERE {where}"  # noqa: S608
            " AND block BETWEEN ? AND ?"
        )
        try:
            return _united(self._database.execute(query, [*values, first, last]))
        except (IndexError, TypeError, ValueError) as error:
            raise sqlite3.DatabaseError("what is stored is no set of rows") from error

    def _number(self, term: Term) -> int:
        known = self._known.get(term)
        if known is None:
            query = "SELECT term FROM terms WHERE kind = ? AND name = ?"
            row = self._database.execute(query, term).fetchone()
            if row is None:
                insert = "INSERT INTO terms (kind, name) VALUES (?, ?) RETURNING term"
                row = self._database.execute(insert, term).fetchone()
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[term] = int(row[0])
        return known


def _united(sets: Iterable[tuple[int, bytes]]) -> dict[int, Rows]:
    found: dict[int, Rows] = {}
    sparse: dict[int, array[int]] = {}
    for block, stored in sets:
        if len(stored) == BLOCK // 8:
            found[block] = found.get(block, 0) | _unpacked(stored)
        else:
            sparse.setdefault(block, array("H")).frombytes(stored)
    for block, bits in sparse.items():
        found[block] = found.get(block, 0) | _set(bits)
    return found


def _set(bits: Iterable[int]) -> Rows:
    # Several times as fast as to put a number of so many digits together bit by bit.
    digits = bytearray(b"0") * BLOCK
    for bit in bits:
        digits[~bit] = 49
    return int(digits, 2)


def _packed(rows: Rows) -> bytes:
    # As bits, or as numbers of two bytes each where that is shorter: the length tells which.
    if rows.bit_count() * 2 >= BLOCK // 8:
        return rows.to_bytes(BLOCK // 8, "little")
    return array("H", rows_in(rows, newest_first=False)).tobytes()


def _unpacked(stored: bytes) -> Rows:
    if len(stored) == BLOCK // 8:
        return int.from_bytes(stored, "little")
    return _set(array("H", stored))
