"""Where the text of a YAML scalar stands in its file, so that a slip in it is shown there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from yaml import Node, ScalarNode

from tool_intent.policy.positions import Document
from tool_intent.rules.diagnostics import Diagnostic

_BLANKS = re.compile(r"[ \t]*\n[ \t\n]*")
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|\n[ \t]*|.)", re.DOTALL)


class Offsets(NamedTuple):
    """How many lines and columns come before the first of a block's text."""

    lines: int
    columns: int


def is_block(node: Node) -> bool:
    """Whether a scalar is written as a block that keeps its lines (`|`)."""
    return _style(node) == "|"


def _style(node: Node) -> str:
    """How a scalar is written: a quote, `|`, `>`, or nothing."""
    return (isinstance(node, ScalarNode) and node.style) or ""


def offsets(document: Document, node: Node) -> Offsets:
    """Where the text of a block, or of a scalar that stands on one line as it is, begins."""
    mark = node.start_mark
    if not is_block(node):
        return Offsets(mark.line, mark.column + len(_style(node)))
    for n, line in enumerate(node.value.split("\n")):
        if line.strip():
            written = document.lines[mark.line + 1 + n]
            return Offsets(mark.line + 1, len(written) - len(line))
    return Offsets(mark.line + 1, 0)


def is_verbatim(document: Document, node: Node) -> bool:
    """Whether `offsets` says where each character of a scalar stands."""
    if is_block(node):
        return True
    mark = node.start_mark
    start = mark.column + len(_style(node))
    return document.lines[mark.line].startswith(node.value, start)


def moved(found: Iterable[Diagnostic], document: Document, node: Node) -> tuple[Diagnostic, ...]:
    """Diagnostics whose places count from the start of a scalar's value, at the places where its
    characters stand in the file: quotes hold escapes, and long texts are folded."""
    starts = [0]
    for line in node.value.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places = _places(document, node)

    def at(line: int, column: int) -> tuple[int, int]:
        return places[min(starts[line - 1] + column - 1, len(places) - 1)]

    out = []
    for d in found:
        line, column = at(d.line, d.column)
        end_line, end_column = at(d.end_line, d.end_column)
        out.append(replace(d, line=line, column=column, end_line=end_line, end_column=end_column))
    return tuple(out)


def _places(document: Document, node: Node) -> list[tuple[int, int]]:
    """The line and column of each character of a flow scalar's value, and of its end."""
    text = "\n".join(document.lines)
    begins = [0]
    for line in document.lines:
        begins.append(begins[-1] + len(line) + 1)
    here = begins[node.start_mark.line] + node.start_mark.column + len(_style(node))
    offsets_of: list[int] = []
    n = 0
    while n < len(node.value):
        offsets_of.append(here)
        fold = _BLANKS.match(text, here)
        if fold is not None:
            # One line's end is a space, each further one a line's end of its own.
            width = max(1, fold.group().count("\n") - 1)
            offsets_of += [here] * (width - 1)
            n += width
            here = fold.end()
            continue
        here = _after(text, here, _style(node))
        n += 1
    offsets_of.append(here)
    return [_line_and_column(begins, offset) for offset in offsets_of[: len(node.value) + 1]]


def _after(text: str, here: int, style: str) -> int:
    """Where the character of a value that begins at `here` ends."""
    if style == "'" and text.startswith("''", here):
        return here + 2
    if style == '"' and text[here] == "\\":
        escape = _ESCAPE.match(text, here)
        return escape.end() if escape is not None else here + 1
    return here + 1


def _line_and_column(begins: list[int], offset: int) -> tuple[int, int]:
    line = bisect_right(begins, offset) - 1
    return line + 1, offset - begins[line] + 1
