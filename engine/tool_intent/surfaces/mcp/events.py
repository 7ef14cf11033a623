"""Server-sent events: split as they arrive, and written anew where their data changed."""

from __future__ import annotations

import re
from typing import NamedTuple

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n")
_LINE = re.compile(rb"\r\n|\n|\r")


class TooMuch(ValueError):
    """An event, or a body, is longer than anything honest."""


class Event(NamedTuple):
    """An event as it came. `data` is its data, None where it has none."""

    raw: bytes
    data: bytes | None

    def with_data(self, data: bytes) -> bytes:
        """The event with other data: one line of JSON."""
        kept = [line for line in _LINE.split(self.raw) if line and not _is_data(line)]
        return b"\n".join([*kept, b"data: " + data.strip(), b"", b""])


def event(data: bytes) -> bytes:
    """An event of our own: one line of JSON."""
    return b"event: message\ndata: " + data.strip() + b"\n\n"


class Events:
    """Splits a stream into events."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = b""
        self._searched = 0

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes. Raises TooMuch."""
        self._rest += data
        events = []
        while match := _END.search(self._rest, self._searched):
            # Where the text ends in a carriage return, the line feed may still be to come.
            if match.group().endswith(b"\r") and match.end() == len(self._rest):
                break
            events.append(_event(self._rest[: match.end()]))
            self._rest = self._rest[match.end() :]
            self._searched = 0
        self._searched = max(0, len(self._rest) - 4)
        if len(self._rest) > self._longest:
            raise TooMuch(f"an event is longer than {self._longest >> 20} MiB")
        return events

    def end(self) -> bytes:
        """What the stream ended with, which is no event."""
        return self._rest


def _is_data(line: bytes) -> bool:
    return line == b"data" or line.startswith(b"data:")


def _event(raw: bytes) -> Event:
    lines = [line for line in _LINE.split(raw) if _is_data(line)]
    data = [line[5:].removeprefix(b" ") for line in lines]
    return Event(raw, b"\n".join(data) if data else None)
