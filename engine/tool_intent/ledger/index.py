"""An index of a ledger, so that a question costs what it answers. It may be deleted at any time:
only the lines count, and each is read again before it is shown."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from tool_intent.ledger.adding import Adding
from tool_intent.ledger.choosing import chosen, family_of, stored_text
from tool_intent.ledger.families import Family
from tool_intent.ledger.postings import TABLES
from tool_intent.ledger.queries import Entry, Wanted, matches
from tool_intent.ledger.reading import Progress, lines_of, read
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import Segment, segments

NAME: Final = "index.sqlite"
#: Raised when the tables come to mean something else.
_VERSION: Final = 2
_TABLES: Final = f"""
CREATE TABLE segments (name TEXT PRIMARY KEY, file TEXT, size INTEGER, number INTEGER, tail TEXT);
CREATE TABLE decisions (
    row INTEGER PRIMARY KEY, id TEXT, segment TEXT, begin INTEGER, size INTEGER, ts TEXT
);
CREATE TABLE outcomes (
    of TEXT, segment TEXT, begin INTEGER, size INTEGER, id TEXT, PRIMARY KEY (of, segment, begin)
) WITHOUT ROWID;
CREATE TABLE blocks (block INTEGER PRIMARY KEY, oldest TEXT, newest TEXT);
CREATE TABLE started (parent TEXT, child TEXT, PRIMARY KEY (parent, child)) WITHOUT ROWID;
{TABLES}"""
_BATCH: Final = 5_000
#: Seconds to wait for another process that writes to the index.
_PATIENCE: Final = 30.0


class Index:
    """The index of the ledger in a folder, brought up to date as it is opened."""

    def __init__(self, folder: str, progress: Progress | None = None) -> None:
        """Where no index can be kept, one is made in memory. Raises OSError where the ledger itself
        cannot be read."""
        self._folder = folder
        self._files: dict[str, int] = {}
        self._progress = progress
        self._database = sqlite3.connect(":memory:")
        try:
            self._take_on(_opened(os.path.join(folder, NAME)))
            self._update()
        except sqlite3.Error as error:
            if is_busy(error):
                self._in_memory()  # who is at it for so long must not lose it
            else:
                self._again()

    def close(self) -> None:
        """Let go of all files."""
        self._database.close()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def family(self, begins: str) -> Family:
        """The sessions whose id begins so, and those that they started."""
        return family_of(self._database, begins)

    def entries(self, wanted: Wanted, last: int | None = None) -> Iterator[Entry]:
        """The decisions that are wanted, oldest first, each with its outcome; of more than `last`
        the newest. Raises OSError, and sqlite3.Error where the index was damaged."""
        family = None if wanted.session is None else self.family(wanted.session)
        if last is None:
            found = self._wanted(wanted, family, newest_first=False)
            return (Entry(record, self._outcome(record["id"])) for _, record in found)
        newest = islice(self._wanted(wanted, family, newest_first=True), last)
        # What is many is not held in memory, but read again.
        rows = reversed(array("q", (row for row, _ in newest)))
        again = (record for row in rows if (record := self._decision(row)) is not None)
        return (Entry(record, self._outcome(record["id"])) for record in again)

    def _wanted(
        self, wanted: Wanted, family: Family | None, *, newest_first: bool
    ) -> Iterator[tuple[int, Record]]:
        for row in chosen(self._database, wanted, family, newest_first=newest_first):
            record = self._decision(row)
            if record is not None and matches(record, wanted, family):
                yield row, record

    def _decision(self, row: int) -> Record | None:
        query = "SELECT id, segment, begin, size FROM decisions WHERE row = ?"
        place = self._database.execute(query, [row]).fetchone()
        return None if place is None else self._record(*place)

    def _outcome(self, of: str) -> Record | None:
        query = "SELECT id, segment, begin, size FROM outcomes WHERE of = ?"
        for place in self._database.execute(query, [of]).fetchall():
            record = self._record(*place)
            if record is not None and record.get("of") == of:
                return record
        return None

    def _record(self, id: str, segment: str, begin: int, size: int) -> Record | None:
        """The record on a line, if the line is still the one that was indexed."""
        descriptor = self._files.get(segment)
        if descriptor is None:
            path = os.path.join(self._folder, segment)
            descriptor = self._files[segment] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        record, _ = read(os.pread(descriptor, size, begin))
        return record if record is not None and stored_text(record["id"]) == id else None

    # --- keeping it ------------------------------------------------------------------------------

    def _again(self) -> None:
        """Begin anew: in the file if it can be, else in memory."""
        path = os.path.join(self._folder, NAME)
        with suppress(OSError, sqlite3.Error):
            self._database.close()
        try:
            os.remove(path)
            self._take_on(_opened(path))
            self._update()
        except (OSError, sqlite3.Error):
            self._in_memory()

    def _in_memory(self) -> None:
        self._take_on(_opened(":memory:"))
        self._update()

    def _take_on(self, database: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            self._database.close()
        self._database = database

    def _update(self) -> None:
        if self._is_whole(segments(self._folder), self._known()):
            return
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            # Only now: another process may have seen more, and indexed it.
            found, known = segments(self._folder), self._known()
            if not self._go_on(found, known):
                self._forget()
                known = {}
            total = sum(os.stat(segment.path).st_size for segment in found)
            done = 0
            adding = Adding(self._database)
            for segment in found:
                size, number = known[segment.name][1:3] if segment.name in known else (0, 0)
                done = self._take(adding, segment, size, number, done + size, total)
            adding.flush()

    def _known(self) -> dict[str, tuple[Any, ...]]:
        rows = self._database.execute("SELECT * FROM segments").fetchall()
        return {row[0]: row[1:] for row in rows}

    def _go_on(self, found: list[Segment], known: dict[str, tuple[Any, ...]]) -> bool:
        """Whether all that is indexed is as it was, and all else comes after it."""
        before = found[: len(known)]
        return {segment.name for segment in before} == set(known) and all(
            _is_still(segment, known[segment.name]) for segment in before
        )

    def _is_whole(self, found: list[Segment], known: dict[str, tuple[Any, ...]]) -> bool:
        """Whether there is nothing to add."""
        return (
            len(found) == len(known)
            and self._go_on(found, known)
            and all(os.stat(one.path).st_size == known[one.name][1] for one in found)
        )

    def _forget(self) -> None:
        for emptied in (
            "DELETE FROM segments", "DELETE FROM decisions", "DELETE FROM outcomes",
            "DELETE FROM blocks", "DELETE FROM started", "DELETE FROM terms",
            "DELETE FROM postings",
        ):  # fmt: skip
            self._database.execute(emptied)

    def _take(
        self, adding: Adding, segment: Segment, size: int, number: int, done: int, total: int
    ) -> int:
        """Index what is new in a segment; how many bytes of the ledger are indexed then."""
        tail = b""
        for line in lines_of(segment, size, number + 1):
            if not line.raw.endswith(b"\n"):
                break  # it may still be written
            adding.add(line)
            size, number = line.offset + len(line.raw), line.number
            tail = (tail + line.raw)[-80:]
            done += len(line.raw)
            if self._progress is not None and number % _BATCH == 0:
                self._progress(done, total)
        if tail:
            status = os.stat(segment.path)
            with open(segment.path, "rb") as opened:
                opened.seek(max(0, size - 80))
                kept = opened.read(min(80, size)).hex()
            self._database.execute(
                "INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?)",
                [segment.name, f"{status.st_dev}:{status.st_ino}", size, number, kept],
            )
        return done


def _is_still(segment: Segment, known: tuple[Any, ...]) -> bool:
    """Whether what is indexed of a segment is unchanged, as far as its end tells."""
    file, size, _, tail = known
    status = os.stat(segment.path)
    if file != f"{status.st_dev}:{status.st_ino}" or status.st_size < size:
        return False
    with open(segment.path, "rb") as opened:
        opened.seek(max(0, size - 80))
        return bool(opened.read(min(80, size)).hex() == tail)


def _opened(path: str) -> sqlite3.Connection:
    if path != ":memory:":
        with suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    try:
        _prepare(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    if _version(database) != _VERSION:
        with database:
            database.execute("BEGIN IMMEDIATE")
            if _version(database) != _VERSION:  # or another process has just made it
                if database.execute("SELECT 1 FROM sqlite_master").fetchone():
                    raise sqlite3.DatabaseError("an index of another version")
                for statement in _TABLES.split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA user_version = {_VERSION}")
    # With a journal: who is killed in the middle must not leave half of what a segment holds.
    database.execute("PRAGMA synchronous = NORMAL")


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process was at the index for too long."""
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
