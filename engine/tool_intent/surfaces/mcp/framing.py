"""Bytes to lines, none of them longer than anything honest."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tool_intent.runtime.wire import dump
from tool_intent.surfaces.mcp.spans import members

#: Bytes of a line, its end not counted.
LONGEST_LINE: Final = 64 * 1024 * 1024
#: Bytes that are kept of each end of a longer one, to find its id in.
_KEPT: Final = 64 * 1024
_LAST_ID: Final = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$')


class TooLong(NamedTuple):
    """A line that is not passed on: both ends of it."""

    head: bytes
    tail: bytes

    def id(self) -> str | None:
        """The JSON text of its id, where that stands before or behind what is long."""
        text = self.head.decode("utf-8", "replace")
        start = text.find("{")
        for member in members(text, start) if start >= 0 else ():
            if member.key == "id":
                return _id(text[member.value : member.end])
        last = _LAST_ID.search(self.tail.decode("utf-8", "replace"))
        return _id(last.group(1)) if last else None


def _id(text: str) -> str | None:
    import json

    value = json.loads(text)
    return dump(value) if isinstance(value, str) or type(value) is int else None


class Lines:
    """Splits what is read of a stream; every line keeps its end, the last one may have none."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._length = 0
        self._head = b""

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that `data` completes."""
        if b"\n" not in data:
            self._keep(data)
            return []
        first, *rest = data.splitlines(keepends=True) if b"\r" not in data else _split(data)
        self._keep(first)
        lines = [self._taken()]
        for line in rest:
            if line.endswith(b"\n"):
                lines.append(line if len(line) <= self._longest else _too_long(line))
            else:
                self._keep(line)
        return lines

    def end(self) -> list[bytes | TooLong]:
        """What the stream ended with."""
        return [self._taken()] if self._length else []

    def _keep(self, data: bytes) -> None:
        self._parts.append(data)
        self._length += len(data)
        if self._length > self._longest + 1:
            joined = b"".join(self._parts)
            self._head = self._head or joined[:_KEPT]
            self._parts = [joined[-_KEPT:]]

    def _taken(self) -> bytes | TooLong:
        line = b"".join(self._parts)
        long = TooLong(self._head, line) if self._head else None
        self._parts, self._length, self._head = [], 0, b""
        return long or line


def _split(data: bytes) -> list[bytes]:
    """Lines as `\\n` ends them: bytes.splitlines also ends one at `\\r`."""
    lines = data.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def _too_long(line: bytes) -> TooLong:
    return TooLong(line[:_KEPT], line[-_KEPT:])
