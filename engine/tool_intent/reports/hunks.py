"""The difference between two contents of a file, in hunks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Any

from tool_intent.reports.model import Hunk, Line

#: Unchanged lines around a change.
CONTEXT = 3
#: Lines of a hunk that are shown; the rest are counted.
MOST_LINES = 400
#: Bytes of a file whose lines are compared.
MOST_BYTES = 1 << 20

#: Gives the content with a git blob id, or None where it is not kept.
Contents = Callable[[str], bytes | None]


def between(
    pre: str | None, post: str | None, contents: Contents
) -> tuple[tuple[Hunk, ...], int, int, str]:
    """The hunks from one blob to another, lines added, lines removed, and a note.

    A blob id of None is a file that is not there, "" one that is not known. The note says why
    nothing is compared, and is "" where something was.
    """
    if "" in (pre, post):
        return (), 0, 0, "what the file held is not recorded"
    if pre == post:
        return (), 0, 0, "the file was left as it was"
    found = [b"" if blob is None else contents(blob or "") for blob in (pre, post)]
    if None in found:
        return (), 0, 0, "what the file held is no longer kept"
    before, after = (content or b"" for content in found)
    if max(len(before), len(after)) > MOST_BYTES:
        return (), 0, 0, f"the file has more than {MOST_BYTES:,} bytes"
    if b"\0" in before or b"\0" in after:
        return (), 0, 0, "the file is no text"
    return _compared(_lines(before), _lines(after))


def _lines(content: bytes) -> list[str]:
    lines = content.decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _compared(before: list[str], after: list[str]) -> tuple[tuple[Hunk, ...], int, int, str]:
    start, end = _common(before, after)
    matcher = SequenceMatcher(
        None, before[start : len(before) - end], after[start : len(after) - end]
    )
    hunks: list[Hunk] = []
    added = removed = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        moved = ((tag, *(place + start for place in places)) for tag, *places in group)
        lines = [line for code in moved for line in _coded(code, before, after)]
        added += sum(line.kind == "+" for line in lines)
        removed += sum(line.kind == "-" for line in lines)
        hunks.append(Hunk(tuple(lines[:MOST_LINES]), max(0, len(lines) - MOST_LINES)))
    note = "" if hunks else "only the end of the last line changed"
    return tuple(hunks), added, removed, note


def _common(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines at both ends need no comparing: those that are the same, but for the context
    of what is not."""
    most = min(len(before), len(after))
    start = next((n for n in range(most) if before[n] != after[n]), most)
    rest = most - start
    end = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    return max(0, start - CONTEXT), max(0, end - CONTEXT)


def _coded(code: tuple[Any, ...], before: list[str], after: list[str]) -> Iterator[Line]:
    tag, i, i_end, j, j_end = code
    if tag == "equal":
        for offset, line in enumerate(before[i:i_end]):
            yield Line(" ", i + offset + 1, j + offset + 1, line)
        return
    for number in range(i, i_end):
        yield Line("-", number + 1, None, before[number])
    for number in range(j, j_end):
        yield Line("+", None, number + 1, after[number])
