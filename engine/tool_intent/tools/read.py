"""read: a page of a text file."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tool_intent.tools.files import read_file, text_only
from tool_intent.tools.model import ToolError
from tool_intent.tools.wording import counted
from tool_intent.tools.workspace import Place, Workspace

#: The largest file, in bytes.
LARGEST: Final = 64 * 1024 * 1024

#: A page ends at whichever of these it reaches first.
MAX_LINES: Final = 2_000
MAX_BYTES: Final = 50 * 1024

_BOM: Final = b"\xef\xbb\xbf"
_NAMED_LINES: Final = 5
_CHUNK: Final = 64 * 1024

DESCRIPTION: Final = (
    f"Read a text file of the workspace, at most {MAX_LINES:,} lines or {MAX_BYTES // 1024} KB at "
    "a time. Use offset and limit for large files; the answer says how to read on."
)

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "Path of the file, relative to the workspace.",
        },
        "offset": {
            "type": "integer",
            "description": "Line to start from, counted from 1.",
        },
        "limit": {"type": "integer", "description": "Number of lines to read, at least 1."},
    },
    "required": ["path"],
    "additionalProperties": False,
}


class _Page(NamedTuple):
    """Bytes `start` to `end` of a file, `lines` lines of it; `cut` if the only one is not whole."""

    start: int
    end: int
    lines: int
    cut: bool


def read(workspace: Workspace, args: dict[str, Any]) -> str:
    """The page of `args["path"]` from line `offset`, of `limit` lines; the exact text if whole.

    Bytes that are not UTF-8 read as U+FFFD and a byte order mark is left out; both are said in
    brackets at the end, as is where to read on.
    """
    offset, limit = int(args.get("offset", 1)), int(args.get("limit", MAX_LINES))
    for name, number in (("offset", offset), ("limit", limit)):
        if number < 1:
            raise ToolError(f"{name} must be at least 1; it is counted in lines.")
    with workspace.locate(args["path"]) as place:
        data = read_file(place, LARGEST).data
        text_only(place, data)
        total = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
        if offset > max(total, 1):
            raise ToolError(f"offset is past the end: {place.shown} has {counted(total, 'line')}.")
        return _shown(place, data, offset, _page(data, offset, min(limit, MAX_LINES)), total)


def _page(data: bytes, offset: int, limit: int) -> _Page:
    start = end = _line_start(data, offset)
    for lines in range(limit):
        newline = data.find(b"\n", end)
        stop = len(data) if newline < 0 else newline
        if stop - start > MAX_BYTES:
            if lines == 0:
                return _Page(start, _whole_character(data, start + MAX_BYTES), 1, True)
            return _Page(start, end, lines, False)
        end = min(stop + 1, len(data))
        if end == len(data):
            return _Page(start, end, lines + 1, False)
    return _Page(start, end, limit, False)


def _line_start(data: bytes, line: int) -> int:
    """Where the 1-based `line` starts, skipping a chunk at a time."""
    at, before = 0, line - 1
    while before and at < len(data):
        newlines = data.count(b"\n", at, at + _CHUNK)
        if newlines >= before:
            for _ in range(before):
                at = data.index(b"\n", at) + 1
            return at
        before -= newlines
        at += _CHUNK
    return at


def _whole_character(data: bytes, end: int) -> int:
    """`end`, or up to three bytes before it, so that no UTF-8 character is cut."""
    return next((e for e in range(end, end - 4, -1) if data[e] & 0xC0 != 0x80), end)


def _shown(place: Place, data: bytes, offset: int, page: _Page, total: int) -> str:
    if not data:
        return f"[{place.shown} is empty.]"
    raw = data[page.start : page.end]
    notes = []
    if raw.startswith(_BOM) and page.start == 0:
        raw = raw[len(_BOM) :]
        notes.append("The file starts with a byte order mark, not shown.")
    if page.cut:
        notes.append(_cut(data, offset, page))
    if bad := _not_utf8(raw, offset):
        notes.append(f"Bytes that are not UTF-8 are shown as \ufffd, in {bad}.")
    if left := total - (offset + page.lines - 1):
        notes.append(f"… {counted(left, 'more line')}; read on with offset {offset + page.lines}.")
    text = raw.decode("utf-8", "replace")
    if not notes:
        return text
    gap = "\n" if text.endswith("\n") else "\n\n"
    return text + gap + "\n".join(f"[{note}]" for note in notes)


def _cut(data: bytes, line: int, page: _Page) -> str:
    newline = data.find(b"\n", page.end)
    size = (len(data) if newline < 0 else newline) - page.start
    kept = page.end - page.start
    return (
        f"Line {line} is cut after {kept:,} of its {size:,} bytes; "
        f"see the rest with bash: sed -n {line}p FILE | tail -c +{kept + 1}."
    )


def _not_utf8(raw: bytes, offset: int) -> str:
    """The first lines of `raw` that are not UTF-8, in words; empty if there are none."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        pass
    else:
        return ""
    lines = [
        number
        for number, line in enumerate(raw.split(b"\n"), offset)
        if line.decode("utf-8", "ignore").encode() != line
    ]
    more = " and others" if len(lines) > _NAMED_LINES else ""
    noun = "line " if len(lines) == 1 else "lines "
    return noun + ", ".join(map(str, lines[:_NAMED_LINES])) + more
