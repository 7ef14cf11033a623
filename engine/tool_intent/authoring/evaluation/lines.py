"""JSON lines with their numbers, and what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.arguments import DuplicateKeys
from tool_intent.runtime.wire import NotJson, parse

#: Faults that are told; a file of another format would have one on every line.
_MOST_TOLD: Final = 100


class Line(NamedTuple):
    """A line of a file (1-based), its text, and the value of that text."""

    number: int
    text: str
    value: Any


class Faults:
    """Collects what is wrong with the lines of a file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.found: list[Diagnostic] = []

    def add(
        self, line: Line, code: str, message: str, help: str, *, near: str = "", column: int = 1
    ) -> None:
        """Note a fault of a line, at a column (1-based): where `near` stands as a JSON text, if it
        does."""
        spelt = json.dumps(near, ensure_ascii=False)
        at = line.text.find(spelt) + 1 if near else 0
        column, width = (at, len(spelt)) if at else (column, 1)
        end = column + width
        place = (self._file, line.number, column, line.number, end)
        self.found.append(Diagnostic(f"corpus/{code}", "error", *place, message, help))

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Those found, by place; of very many the first."""
        order = sorted(self.found, key=lambda d: (d.line, d.column, d.message))
        return tuple(order[:_MOST_TOLD])


def json_lines(data: bytes, faults: Faults) -> Iterator[Line]:
    """The lines of a file that are JSON objects without repeated keys; the others are faults.
    Blank lines are passed over."""
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            faults.add(
                Line(number, "", None), "not-utf-8",
                f"the line is not UTF-8 at byte {error.start + 1}", "save the file as UTF-8",
            )  # fmt: skip
            continue
        line = _line(number, text, faults)
        if line is not None:
            yield line


def _line(number: int, text: str, faults: Faults) -> Line | None:
    line = Line(number, text, None)
    try:
        value = parse(text)
    except NotJson as error:
        said, _, column = str(error).rpartition(" at column ")
        faults.add(
            line, "not-json", f"the line is no JSON: {said or error}", "write one object a line",
            column=int(column) if said else 1,
        )  # fmt: skip
        return None
    if not isinstance(value, dict):
        faults.add(
            line, "not-an-object", f"the line is {_kind(value)}, not an object",
            'write {"id": …, "tool": …, "args": {…}, "label": …}',
        )  # fmt: skip
        return None
    if isinstance(value, DuplicateKeys):
        key = value.duplicates[0]
        faults.add(line, "repeated-key", f"the key `{key}` stands twice", "keep one", near=key)
        return None
    return Line(number, text, value)


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return "a number"
