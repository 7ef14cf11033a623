"""The stdio proxy: a server started as a child, its messages and the client's passed through a
filter. One thread and one poll: a message waits for nothing but its own turn."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Final

from tool_intent.surfaces.mcp.framing import LONGEST_LINE, Lines, TooLong
from tool_intent.surfaces.mcp.messages import INVALID_REQUEST, error
from tool_intent.surfaces.mcp.process import GRACE, Server, stop, waited

if TYPE_CHECKING:
    from tool_intent.surfaces.mcp.filter import Filter

_CHUNK: Final = 1 << 16
#: Bytes that wait to be written, past which their sender is not read.
_FULL: Final = 4 << 20
#: Seconds that requests may still take once the client sends nothing more.
_LAST_ANSWERS: Final = 60.0


class Stopped(BaseException):
    """The proxy was told to end, by a signal; no failure that anything else handles."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Out:
    """What waits to be written to one end."""

    __slots__ = ("closed", "fd", "size", "waiting")

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.waiting: list[bytes] = []
        self.size = 0
        self.closed = False
        os.set_blocking(fd, False)

    def send(self, lines: list[bytes]) -> None:
        """Write what can be written at once; `lines` is emptied."""
        if not self.closed and lines:
            self.waiting += lines
            self.size += sum(map(len, lines))
            self.flush()
        lines.clear()

    def flush(self) -> None:
        """Write until the reader has to catch up."""
        while self.waiting:
            data = self.waiting[0] if len(self.waiting) == 1 else b"".join(self.waiting)
            try:
                written = os.write(self.fd, data)
            except BlockingIOError:
                written = 0
            except OSError:
                self.closed = True
                self.waiting, self.size = [], 0
                return
            self.size -= written
            self.waiting = [data[written:]] if written < len(data) else []
            if written < len(data):
                return


class Proxy:
    """Passes messages between a client on our standard streams and a started server."""

    def __init__(self, filter: Filter, server: Server, note: Callable[[str], None]) -> None:
        self._filter = filter
        self._server = server
        self._note = note
        self._client = sys.stdin.fileno()
        self._to_client = _Out(sys.stdout.fileno())
        self._to_server = _Out(server.requests)
        self._from_client = Lines()
        self._from_server = Lines()
        self._client_open = self._server_open = True
        self._why = ""
        self._poll = select.poll()
        self._interest: dict[int, int] = {}
        self._deadline: tuple[bool, float] | None = None
        #: Whether a signal may end it right now, and else the one that has come.
        self._waits = False
        self._signal = 0

    def run(self) -> int:
        """Pass messages until either side ends; returns the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._told_to_end)
        try:
            while self._server_open and not self._to_client.closed:
                left = self._seconds_left()
                if left is not None and left <= 0:
                    break
                self._turn(left)
            self._let_end()
            return self._ended()
        except Stopped as stopped:
            stop(self._server, stopped.number)
            return 128 + stopped.number
        finally:
            self._waits = False
            self._filter.settle()
            os.set_blocking(self._to_client.fd, True)

    def _told_to_end(self, number: int, _: object) -> None:
        """A signal: what has been begun, such as recording what came of a call, is ended first."""
        self._signal = number
        if self._waits:
            raise Stopped(number)

    def _let_end(self) -> None:
        """From now on a signal ends it at once, and one that has come before does so now."""
        self._waits = True
        if self._signal:
            raise Stopped(self._signal)

    def _waited(self, patience: float | None) -> dict[int, int]:
        """What is ready by now, by its descriptor."""
        self._let_end()
        try:
            return dict(self._poll.poll(None if patience is None else patience * 1000 + 1))
        finally:
            self._waits = False

    def _turn(self, patience: float | None) -> None:
        self._register()
        ready = self._waited(patience)
        if self._client in ready and self._client in self._interest:
            self._read_client()
        if self._server.answers in ready:
            self._read_server()
        state = ready.get(self._to_client.fd, 0)
        if state & (select.POLLERR | select.POLLNVAL):
            self._to_client.closed = True  # nobody reads any more
        elif state:
            self._to_client.flush()
        if self._to_server.fd in ready:
            self._to_server.flush()
        self._close_requests()

    def _register(self) -> None:
        """Ask to be woken for what there is room for."""
        to_client, to_server = self._to_client, self._to_server
        wanted = {to_client.fd: select.POLLOUT if to_client.waiting else 0}
        if self._client_open and to_server.size < _FULL and to_client.size < 16 * _FULL:
            wanted[self._client] = select.POLLIN
        if to_client.size < _FULL:
            wanted[self._server.answers] = select.POLLIN
        if to_server.waiting:
            wanted[to_server.fd] = select.POLLOUT
        if wanted != self._interest:
            for fd in self._interest.keys() - wanted.keys():
                self._poll.unregister(fd)
            for fd, events in wanted.items():
                self._poll.register(fd, events)
            self._interest = wanted

    def _seconds_left(self) -> float | None:
        """How long the server may still take once the client sends nothing more."""
        if self._client_open:
            return None
        waits = self._filter.waits > 0
        if self._deadline is None or self._deadline[0] is not waits:
            self._deadline = waits, monotonic() + (_LAST_ANSWERS if waits else GRACE)
        return self._deadline[1] - monotonic()

    # --- reading ---------------------------------------------------------------------------------

    def _read_client(self) -> None:
        data = _read(self._client)
        if data:
            lines = self._from_client.feed(data)
        else:
            self._client_open = False
            lines = self._from_client.end()
        for line in lines:
            if isinstance(line, TooLong):
                why = f"a message is longer than {LONGEST_LINE >> 20} MiB; nothing was executed"
                self._note(f"a message was not passed on: {why}")
                self._filter.to_client.append(error(line.id(), INVALID_REQUEST, why))
            else:
                self._filter.from_client(line)
        self._send()

    def _read_server(self) -> None:
        data = _read(self._server.answers)
        if data:
            lines = self._from_server.feed(data)
        else:
            self._server_open = False
            lines = self._from_server.end()
        for line in lines:
            if isinstance(line, TooLong):
                self._too_long(line)
            else:
                self._filter.from_server(line)
        self._send()

    def _too_long(self, line: TooLong) -> None:
        why = f"the server's answer is longer than {LONGEST_LINE >> 20} MiB"
        self._note(f"a message was not passed on: {why}")
        key = line.id()
        if (key is None or not self._filter.unanswerable(key, why)) and self._filter.waits:
            # Nobody can tell whom it answers: rather none is left waiting than one for ever.
            self._server_open = False
            self._why = why

    def _send(self) -> None:
        self._to_client.send(self._filter.to_client)
        self._to_server.send(self._filter.to_server)
        self._filter.settle()

    # --- the end ---------------------------------------------------------------------------------

    def _close_requests(self) -> None:
        """Tell the server that nothing more comes, once that is so."""
        out = self._to_server
        if not (self._client_open or out.waiting or self._filter.holds or out.fd < 0):
            self._shut()

    def _shut(self) -> None:
        out = self._to_server
        if out.fd in self._interest:
            self._poll.unregister(out.fd)
            del self._interest[out.fd]
        os.close(out.fd)
        out.fd, out.closed = -1, True

    def _ended(self) -> int:
        if self._to_server.fd >= 0:
            self._shut()
        had_its_time = self._server_open and not self._client_open
        code = waited(self._server, 0 if had_its_time else GRACE)
        if code is None:
            code = stop(self._server)
        self._filter.server_ended(self._why or f"the server ended (exit code {code})")
        os.set_blocking(self._to_client.fd, True)
        self._to_client.send(self._filter.to_client)
        return code


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, _CHUNK)
    except OSError:  # a terminal or socket that is gone
        return b""
