"""An index of a ledger, so that a question costs what it answers. It may be deleted at any time:
only the lines count, and each is read again before it is shown."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

from tool_intent.ledger.queries import Entry, Wanted, matches, paths
from tool_intent.ledger.reading import Line, lines_of, read
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import Segment, segments

NAME: Final = "index.sqlite"
#: Raised when the tables come to mean something else.
_VERSION: Final = 1
_TABLES: Final = """
CREATE TABLE segments (name TEXT PRIMARY KEY, file TEXT, size INTEGER, number INTEGER, tail TEXT);
CREATE TABLE records (
    id TEXT, segment TEXT, seq INTEGER, begin INTEGER, size INTEGER, type TEXT, ts TEXT,
    session TEXT, tool TEXT, verdict TEXT, of TEXT
);
CREATE TABLE paths (record INTEGER, path TEXT);
CREATE TABLE rules (record INTEGER, rule TEXT);
CREATE TABLE names (kind TEXT, name TEXT, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE INDEX by_segment ON records (segment);
CREATE INDEX by_seq ON records (type, seq);
CREATE INDEX by_session ON records (session, seq);
CREATE INDEX by_tool ON records (tool, seq);
CREATE INDEX by_verdict ON records (verdict, seq);
CREATE INDEX by_ts ON records (type, ts);
CREATE INDEX by_of ON records (of) WHERE of IS NOT NULL;
CREATE INDEX by_path ON paths (path, record);
CREATE INDEX by_rule ON rules (rule, record);
"""
#: Characters after which no text that begins alike comes any more.
_LAST: Final = "\U0010ffff"
_BATCH: Final = 5_000

#: Told how many bytes of how many are indexed.
Progress = Callable[[int, int], None]


class Index:
    """The index of the ledger in a folder, brought up to date as it is opened."""

    def __init__(self, folder: str, progress: Progress | None = None) -> None:
        """Where no index can be kept, one is made in memory. Raises OSError where the ledger itself
        cannot be read."""
        self._folder = folder
        self._files: dict[str, int] = {}
        self._progress = progress
        #: Names that are in the table for sure.
        self._names: set[tuple[str, str | None]] = set()
        self._database = sqlite3.connect(":memory:")
        try:
            self._take_on(_opened(os.path.join(folder, NAME)))
            self._update()
        except sqlite3.Error:
            self._again()

    def close(self) -> None:
        """Let go of all files."""
        self._database.close()
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def entries(self, wanted: Wanted, last: int | None = None) -> Iterator[Entry]:
        """The decisions that are wanted, oldest first, each with its outcome; of more than `last`
        the newest."""
        where, values = _conditions(wanted)
        query = f"SELECT id, segment, begin, size FROM records r WHERE {where}"  # noqa: S608
        if last is None:
            rows = self._database.execute(f"{query} ORDER BY seq", values)
        else:
            newest = f"{query} ORDER BY seq DESC LIMIT ?"
            rows = reversed(self._database.execute(newest, [*values, last]).fetchall())
        for own, *place in rows:
            record = self._record(own, *place)
            if record is not None and matches(record, wanted):
                yield Entry(record, self._outcome(own))

    def _outcome(self, of: str) -> Record | None:
        query = "SELECT id, segment, begin, size FROM records WHERE of = ?"
        for own, *place in self._database.execute(query, [of]):
            record = self._record(own, *place)
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
        return record if record is not None and record["id"] == id else None

    # --- keeping it ------------------------------------------------------------------------------

    def _again(self) -> None:
        """Begin anew: in the file if it can be, else in memory."""
        path = os.path.join(self._folder, NAME)
        self._names.clear()
        with suppress(OSError, sqlite3.Error):
            self._database.close()
        try:
            os.remove(path)
            self._take_on(_opened(path))
            self._update()
        except (OSError, sqlite3.Error):
            self._take_on(_opened(":memory:"))
            self._update()

    def _take_on(self, database: sqlite3.Connection) -> None:
        with suppress(sqlite3.Error):
            self._database.close()
        self._database = database

    def _update(self) -> None:
        known = {
            row[0]: row[1:] for row in self._database.execute("SELECT * FROM segments").fetchall()
        }
        found = segments(self._folder)
        total = sum(os.stat(segment.path).st_size for segment in found)
        done = 0
        with self._database:
            if not found and not known:
                return
            self._database.execute("BEGIN IMMEDIATE")
            for gone in known.keys() - {segment.name for segment in found}:
                self._forget(gone)
            for segment in found:
                size, number = self._still(segment, known.get(segment.name))
                done += size
                done = self._take(segment, size, number, done, total)

    def _still(self, segment: Segment, known: tuple[Any, ...] | None) -> tuple[int, int]:
        """Where to go on in a segment: bytes and lines that are indexed, if they are unchanged."""
        if known is None:
            return 0, 0
        file, size, number, tail = known
        status = os.stat(segment.path)
        if file == f"{status.st_dev}:{status.st_ino}" and status.st_size >= size:
            with open(segment.path, "rb") as opened:
                opened.seek(max(0, size - 80))
                if opened.read(min(80, size)).hex() == tail:
                    return size, number
        self._forget(segment.name)
        return 0, 0

    def _forget(self, name: str) -> None:
        for table in ("paths", "rules"):
            inner = "SELECT rowid FROM records WHERE segment = ?"
            self._database.execute(f"DELETE FROM {table} WHERE record IN ({inner})", [name])  # noqa: S608
        self._database.execute("DELETE FROM records WHERE segment = ?", [name])
        self._database.execute("DELETE FROM segments WHERE name = ?", [name])

    def _take(self, segment: Segment, size: int, number: int, done: int, total: int) -> int:
        """Index what is new in a segment; how many bytes of the ledger are indexed then."""
        tail = b""
        for line in lines_of(segment, size, number + 1):
            if not line.raw.endswith(b"\n"):
                break  # it may still be written
            self._add(line)
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

    def _add(self, line: Line) -> None:
        record = line.record
        if record is None or record["type"] not in ("decision", "outcome"):
            return
        decision = record.get("decision", {})
        cursor = self._database.execute(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                record["id"], line.segment.name, record["seq"], line.offset, len(line.raw),
                record["type"], record["ts"], _text(record.get("session", {}).get("id")),
                _text(record.get("call", {}).get("tool")), _text(decision.get("verdict")),
                _text(record.get("of")),
            ],
        )  # fmt: skip
        if record["type"] == "decision":
            row = cursor.lastrowid
            self._name("tool", _text(record.get("call", {}).get("tool")))
            told = [(row, _text(path)) for path in paths(record)]
            self._database.executemany("INSERT INTO paths VALUES (?, ?)", told)
            rules = {_text(rule.get("id")) for rule in decision.get("rules", ())}
            for rule in rules:
                self._name("rule", rule)
            self._database.executemany(
                "INSERT INTO rules VALUES (?, ?)", [(row, rule) for rule in rules]
            )

    def _name(self, kind: str, name: str | None) -> None:
        if (kind, name) not in self._names:
            self._names.add((kind, name))
            self._database.execute("INSERT OR IGNORE INTO names VALUES (?, ?)", [kind, name or ""])


def _opened(path: str) -> sqlite3.Connection:
    if path != ":memory:":
        with suppress(OSError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    database = sqlite3.connect(path, timeout=30, isolation_level=None)
    try:
        _prepare(database)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _prepare(database: sqlite3.Connection) -> None:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version != _VERSION:
        if version or database.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise sqlite3.DatabaseError("an index of another version")
        # What can be made again need not survive a power cut.
        database.execute("PRAGMA journal_mode = MEMORY")
        database.executescript(f"BEGIN;{_TABLES}PRAGMA user_version = {_VERSION};COMMIT;")
    database.execute("PRAGMA synchronous = OFF")


def _conditions(wanted: Wanted) -> tuple[str, list[str | None]]:
    # The plus keeps SQLite from reading all decisions in order, where anything narrower is asked.
    parts = ["type = 'decision'" if wanted == Wanted() else "+type = 'decision'"]
    values: list[str | None] = []

    def also(condition: str, *given: str) -> None:
        parts.append(condition)
        values.extend(_text(value) for value in given)

    if wanted.session is not None:
        also("session >= ? AND session < ?", wanted.session, wanted.session + _LAST)
    if wanted.tool is not None:
        also(_named("tool", wanted.tool), _glob(wanted.tool))
    if wanted.decision is not None:
        also("verdict = ?", wanted.decision)
    if wanted.since is not None:
        also("ts >= ?", wanted.since)
    inner = "r.rowid IN (SELECT record FROM {} WHERE {})"
    if wanted.rule is not None:
        also(inner.format("rules", _named("rule", wanted.rule)), _glob(wanted.rule))
    if wanted.path not in (None, "."):
        below = f"{str(wanted.path).rstrip(os.sep)}{os.sep}"
        how = "path = ? OR (path >= ? AND path < ?)"
        also(inner.format("paths", how), str(wanted.path), below, below + _LAST)
    return " AND ".join(parts), values


def _named(kind: str, wanted: str) -> str:
    """The condition that a tool or rule is called so; for a glob, as one of those there are."""
    if not _globs(wanted):
        return f"{kind} = ?"
    return f"{kind} IN (SELECT name FROM names WHERE kind = '{kind}' AND name GLOB ?)"  # noqa: S608


def _globs(text: str) -> bool:
    return "*" in text or "?" in text


def _glob(text: str) -> str:
    """A name or glob of ours as SQLite takes it."""
    return text.replace("[", "[[]") if _globs(text) else text


def _text(value: Any) -> str | None:
    """A text that SQLite takes: half a character is none."""
    return None if value is None else str(value).encode("utf-8", "replace").decode("utf-8")
