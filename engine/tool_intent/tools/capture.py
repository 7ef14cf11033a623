"""The output of a command in bounded memory: its beginning and its end."""

from __future__ import annotations

import codecs
from typing import Final

from tool_intent.tools.wording import counted

#: What a result shows of an output, half from its beginning, half from its end.
MAX_BYTES: Final = 50 * 1024
MAX_LINES: Final = 2_000

_HALF: Final = MAX_BYTES // 2
_HALF_LINES: Final = MAX_LINES // 2


class Capture:
    """Keeps the first and the last 25 KB of what it is fed, and counts the rest."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._size = 0
        self._breaks = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the output."""
        self._size += len(data)
        self._breaks += data.count(b"\n")
        room = _HALF - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        # Trimmed now and then, not at every feed: each trim moves what is kept.
        if len(self._tail) > 4 * _HALF:
            del self._tail[:-_HALF]

    def text(self) -> str:
        """The output as text; where something is left out, a line in brackets says how much."""
        tail = bytes(self._tail[-_HALF:])
        whole = len(self._head) + len(tail) == self._size
        head = bytes(self._head)
        if whole and self._breaks <= MAX_LINES:
            return (head + tail).decode("utf-8", "replace")
        if whole:
            head, tail = head + tail, head + tail
        head, tail = _beginning(head), _end(tail)
        breaks = self._breaks - head.count(b"\n") - tail.count(b"\n")
        size = self._size - len(head) - len(tail)
        gap = "" if head.endswith(b"\n") else "\n"
        return (
            f"{head.decode('utf-8', 'replace')}{gap}"
            f"[… {counted(size, 'byte')} with {counted(breaks, 'line end')} left out; send the "
            f"output to a file to read all of it …]\n{tail.decode('utf-8', 'replace')}"
        )


def _beginning(head: bytes) -> bytes:
    """Whole lines of `head`, or whole characters if it holds not one line."""
    end, lines = 0, 0
    while lines < _HALF_LINES and (newline := head.find(b"\n", end)) >= 0:
        end, lines = newline + 1, lines + 1
    if end:
        return head[:end]
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(head)
    return head[: len(head) - len(decoder.getstate()[0])]


def _end(tail: bytes) -> bytes:
    start, lines = len(tail), 0
    while lines < _HALF_LINES and (newline := tail.rfind(b"\n", 0, max(start - 1, 0))) >= 0:
        start, lines = newline + 1, lines + 1
    return tail[start:] if lines else tail.lstrip(bytes(range(0x80, 0xC0)))
