"""Appending to a ledger that any number of threads and processes write to.

The head is read, the record built and its line written under one lock: that of the segment itself,
so that no lock file can come to stand for another file.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock
from time import monotonic, sleep, time
from typing import Any, Final, NamedTuple

from tool_intent.__about__ import __version__
from tool_intent.ledger.chain import line
from tool_intent.ledger.place import LedgerError
from tool_intent.ledger.records import Kind, framed, marker, new_id, timestamp
from tool_intent.ledger.segments import LARGEST, Segment, segments
from tool_intent.ledger.tails import NOTHING, Head, last_of, tail_of

_OPEN: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
#: Times that the last segment may turn out not to be the last one any more.
_MOST_TRIES: Final = 100
#: Seconds that others may hold a lock: writing takes them microseconds.
PATIENCE: Final = 2.0
#: Seconds after which a segment that was moved away is noticed.
_INTERVAL: Final = 0.05


class Receipt(NamedTuple):
    """A record that was written: its id, its number, and its hash, the ledger's head from then."""

    id: str
    seq: int
    hash: str


class Appender:
    """Appends to the ledger in a folder, which is made when it is first needed. Thread-safe, and
    safe in a process that forks."""

    def __init__(
        self, folder: str, *, full: bool = False, clock: Callable[[], float] = time
    ) -> None:
        """With `full`, every record is on the disk before `append` returns, not only those that
        are to be; `clock` gives seconds since the epoch."""
        self.folder = folder
        self._full = full
        self._clock = clock
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._fd = -1
        self._segment = Segment("", 0, folder)
        self._file = (0, 0)
        #: When to look next whether somebody has moved the segment away.
        self._look_again = 0.0
        #: What of the segment we know: its bytes, and the head that they end with.
        self._size = -1
        self._head = NOTHING
        #: What has to be written before the next record: markers, and the end of a torn line.
        self._pending: list[tuple[Kind, dict[str, Any]]] = []
        self._end = b""

    def append(self, type: Kind, body: Mapping[str, Any], *, sync: bool = False) -> Receipt:
        """Write a record; with `sync`, wait until it is on the disk.

        Raises LedgerError where it cannot be kept; then nothing of it is.
        """
        with self._lock:
            try:
                return self._appended(type, body, sync or self._full)
            except OSError as error:
                self._close()
                why = (error.strerror or error.__class__.__name__).lower()
                raise LedgerError(f"{error.filename or self.folder}: {why}") from None
            except BaseException:
                self._close()  # and with it the lock, wherever this came from
                raise

    def close(self) -> None:
        """Let go of the segment; the next record opens it again."""
        with self._lock:
            self._close()

    def __del__(self) -> None:
        # A host makes a guard for each of its sessions, and lets go of them.
        with suppress(OSError, AttributeError):
            os.close(self._fd)

    def _appended(self, type: Kind, body: Mapping[str, Any], sync: bool) -> Receipt:
        if self._process != os.getpid():
            # A lock that was taken before a fork is one for both processes.
            self._close()
            self._process = os.getpid()
        self._enter()
        try:
            now = self._clock()
            ts = timestamp(now)
            if self._size >= LARGEST or ts[:10] > self._segment.day:
                self._go_on(ts)
            if ts < self._head.ts:
                self._mark("clock", {"last": self._head.ts})
            return self._write([(type, body)], now, ts, sync)
        finally:
            if self._fd >= 0:
                flock(self._fd, LOCK_UN)

    # --- the last segment, locked --------------------------------------------------------------

    def _enter(self) -> None:
        """Lock the last segment, and know how it ends."""
        if self._fd >= 0 and monotonic() < self._look_again and self._is_untouched():
            return
        for _ in range(_MOST_TRIES):
            if self._fd < 0:
                self._open_last()
            _lock(self._fd, self._segment.path)
            if not self._is_as_known():
                continue
            if self._head.closes:
                self._follow()
            if self._fd >= 0:
                return
        raise LedgerError(f"{self.folder}: another process begins one segment after the other")

    def _is_untouched(self) -> bool:
        """Lock the segment and see that it is as we left it: by far the most often it is."""
        try:
            flock(self._fd, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        status = os.fstat(self._fd)
        return status.st_size == self._size and status.st_nlink > 0

    def _is_as_known(self) -> bool:
        """Whether the locked file is still the segment; if more was written, its end is read."""
        status = os.fstat(self._fd)
        if status.st_nlink == 0 or (monotonic() >= self._look_again and self._has_moved()):
            self._close()
            return False
        if status.st_size != self._size:
            self._look(status.st_size)
        return True

    def _has_moved(self) -> bool:
        """Whether the segment's name no longer leads to the file that we hold."""
        self._look_again = monotonic() + _INTERVAL
        try:
            status = os.stat(self._segment.path, follow_symlinks=False)
        except FileNotFoundError:
            return True
        return (status.st_dev, status.st_ino) != self._file

    def _follow(self) -> None:
        """The segment is closed: go on with the one that follows, which may have to be begun."""
        if segments(self.folder)[-1] == self._segment:
            # Whoever closed it was stopped before the next one was begun.
            self._begin(self._segment.following(timestamp(self._clock())[:10]))
        else:
            self._close()

    def _open_last(self) -> None:
        found = segments(self.folder)
        if not found:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            self._begin_first()
            return
        self._open(found[-1])

    def _begin_first(self) -> None:
        """Begin a ledger: one process, whatever day it is for each."""
        folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _lock(folder, self.folder)
            found = segments(self.folder)
            first = Segment(timestamp(self._clock())[:10], 1, self.folder)
            self._open(found[-1] if found else first)
        finally:
            os.close(folder)

    def _open(self, segment: Segment) -> None:
        self._close()
        self._fd = os.open(segment.path, _OPEN, 0o600)
        status = os.fstat(self._fd)
        self._segment = segment
        self._file = (status.st_dev, status.st_ino)
        self._look_again = 0.0

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
        self._size = -1
        self._head = NOTHING
        self._pending, self._end = [], b""

    # --- what it ends with -----------------------------------------------------------------------

    def _look(self, size: int) -> None:
        """Read how the segment ends, and note what has to be told before anything is added."""
        known, before = self._head, self._size
        self._pending, self._end = [], b""
        tail = tail_of(self._fd, size)
        if tail.head is None:
            earlier = [s for s in segments(self.folder) if s < self._segment]
            self._head = last_of(earlier)._replace(closes=False)
        else:
            self._head = tail.head
        self._size = size
        if not size:
            self._pending.append(self._header())
            return
        if tail.open:
            self._end = b"\n"
        if tail.torn:
            self._mark("torn", {"bytes": tail.torn})
        if tail.head is None and self._head.begins:
            self._mark("anchor", {"lines": tail.bad})
        elif tail.bad or tail.head is None:
            self._mark("gap", {"lines": tail.bad})
        if 0 <= size < before:
            self._mark("gap", {"expected": known.hash})

    def _mark(self, kind: str, detail: dict[str, Any]) -> None:
        self._pending.append(("marker", marker(kind, detail)))

    def _header(self) -> tuple[Kind, dict[str, Any]]:
        return "header", {"segment": self._segment.name, "engine": __version__}

    # --- writing ---------------------------------------------------------------------------------

    def _go_on(self, ts: str) -> None:
        """Close the segment and begin the next."""
        following = self._segment.following(ts[:10])
        closing = marker("closed", {"next": following.name})
        self._write([("marker", closing)], self._clock(), ts, True)
        self._begin(following)

    def _begin(self, segment: Segment) -> None:
        """Take the next segment while the one before is locked, so that two never follow it."""
        before = self._fd
        self._fd = -1
        try:
            self._open(segment)
            _lock(self._fd, segment.path)
            self._look(os.fstat(self._fd).st_size)
        finally:
            os.close(before)

    def _write(
        self, parts: list[tuple[Kind, Mapping[str, Any]]], now: float, ts: str, sync: bool
    ) -> Receipt:
        """Write what has to be told first, and records, all as one."""
        seq, digest = self._head.seq, self._head.hash
        data = self._end
        for kind, body in [*self._pending, *parts] if self._pending else parts:
            own = new_id(now)
            seq += 1
            text, digest = line(framed(kind, seq, own, ts, digest, body))
            data = data + text if data else text
        size = len(data)
        if os.write(self._fd, data) < size:
            self._finish(data)
        if sync:
            os.fdatasync(self._fd)
        self._size += size
        self._head = Head(seq, digest, ts, False)
        self._pending, self._end = [], b""
        return Receipt(own, seq, digest)

    def _finish(self, data: bytes) -> None:
        """Write what is left, or leave the file as it was: the disk is full, or nearly."""
        try:
            written = os.fstat(self._fd).st_size - self._size
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._fd, self._size)
            raise


def _lock(descriptor: int, path: str) -> None:
    """Lock a file for this process alone. Raises LedgerError where another does not let go."""
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        pass
    else:
        return
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        sleep(0.0002)
        with suppress(BlockingIOError):
            flock(descriptor, LOCK_EX | LOCK_NB)
            return
    raise LedgerError(f"{path}: another process has locked it for more than {PATIENCE:g} seconds")
