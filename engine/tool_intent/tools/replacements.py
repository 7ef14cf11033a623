"""Several exact replacements in one text, found in it as it is and made at once.

Offsets are those of the text with every CRLF read as LF; `_Lines` leads back to the text itself.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from tool_intent.tools.nearest import advice

_BOM: Final = "\ufeff"
_COUNTED: Final = 100
_NAMED_LINES: Final = 5

#: Faults one message lists.
_LISTED: Final = 8


class Edit(NamedTuple):
    """`old`, which occurs once, becomes `new`."""

    old: str
    new: str


class Outcome(NamedTuple):
    """The new text, and for each edit the lines of the old text it took the place of."""

    text: str
    places: tuple[str, ...]


class EditError(Exception):
    """Why none of the edits was made; `faults` are sentences, in the order of the edits."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


class _Span(NamedTuple):
    """What edit `number` replaces."""

    start: int
    end: int
    number: int


class _Lines:
    """The text with LF line ends, its line numbers, and the way back to the offsets as stored."""

    def __init__(self, stored: str) -> None:
        self.stored = stored
        self.text = _folded(stored)
        self.breaks = array("Q", (match.start() for match in re.finditer("\n", self.text)))
        pairs = enumerate(re.finditer("\r\n", stored))
        self.crlf = array("Q", (match.start() - before for before, match in pairs))

    def at(self, offset: int) -> int:
        """The stored offset of `offset`."""
        return offset + bisect_left(self.crlf, offset)

    def number(self, offset: int) -> int:
        """The 1-based line of `offset`."""
        return bisect_left(self.breaks, offset) + 1

    def place(self, span: _Span) -> str:
        """`line 3` or `lines 3-5`."""
        first, last = self.number(span.start), self.number(span.end - 1)
        return f"line {first}" if first == last else f"lines {first}-{last}"

    def adapted(self, new: str, span: _Span) -> str:
        """`new` with the line ends of what it replaces, else the file's, else its own."""
        for part in (self.stored[self.at(span.start) : self.at(span.end)], self.stored):
            crlf, breaks = part.count("\r\n"), part.count("\n")
            if breaks:
                return _folded(new).replace("\n", "\r\n" if 2 * crlf > breaks else "\n")
        return new


def apply(stored: str, edits: list[Edit]) -> Outcome:
    """`stored` with all `edits` made. Raises `EditError` with all that is wrong with them."""
    if not edits:
        raise EditError(["edits is empty; give at least one {oldText, newText}."])
    mark = _BOM if stored.startswith(_BOM) else ""
    lines = _Lines(stored[len(mark) :])
    if mark:
        edits = [_unmarked(lines, edit) for edit in edits]
    spans, faults = _located(lines, edits)
    faults += islice(_overlaps(lines, sorted(spans)), _LISTED)
    if faults:
        raise EditError(faults)
    text = mark + _made(lines, sorted(spans), edits)
    return Outcome(text, tuple(lines.place(span) for span in spans))


def _folded(text: str) -> str:
    return text.replace("\r\n", "\n")


def _unmarked(lines: _Lines, edit: Edit) -> Edit:
    """`edit` without the byte order mark that a raw look at the file puts in front of it."""
    if not edit.old.startswith(_BOM) or _folded(edit.old) in lines.text:
        return edit
    return Edit(edit.old.removeprefix(_BOM), edit.new.removeprefix(_BOM))


def _located(lines: _Lines, edits: list[Edit]) -> tuple[list[_Span], list[str]]:
    spans: list[_Span] = []
    faults: list[str] = []
    folded = [Edit(_folded(edit.old), _folded(edit.new)) for edit in edits]
    for number, edit in enumerate(folded):
        if len(faults) == _LISTED:
            faults.append(f"edits[{number}] and what follows it was not looked at.")
            break
        found = _occurrences(lines.text, edit.old)
        fault = _fault(lines, folded, edit, found)
        if fault:
            faults.append(f"edits[{number}]{fault}")
        else:
            spans.append(_Span(found[0], found[0] + len(edit.old), number))
    return spans, faults


def _occurrences(text: str, old: str) -> list[int]:
    """Where `old` starts, overlapping ones too, as far as a message counts them."""
    found: list[int] = []
    at = text.find(old) if old else -1
    while at >= 0 and len(found) <= _COUNTED:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _fault(lines: _Lines, edits: list[Edit], edit: Edit, found: list[int]) -> str | None:
    if not edit.old:
        return ".oldText is empty; give the text to replace, or write the whole file."
    if edit.old == edit.new:
        return ".oldText and .newText are the same; leave this entry out or change newText."
    if not found:
        return f".oldText is not in the file{_why(lines, edits, edit)}"
    if len(found) > 1:
        return (
            f".oldText is in the file {_times(lines, found)}; add lines around it to make it one."
        )
    return None


def _times(lines: _Lines, found: list[int]) -> str:
    """How often, and on which lines."""
    times = f"more than {_COUNTED} times" if len(found) > _COUNTED else f"{len(found)} times"
    numbers = list(dict.fromkeys(lines.number(at) for at in found))
    more = ", …" if len(numbers) > _NAMED_LINES else ""
    noun = "line" if len(numbers) == 1 else "lines"
    return f"{times}, on {noun} {', '.join(map(str, numbers[:_NAMED_LINES]))}{more}"


def _why(lines: _Lines, edits: list[Edit], edit: Edit) -> str:
    source = next((n for n, other in enumerate(edits) if edit.old in other.new), None)
    if source is not None:
        return (
            f", though in edits[{source}].newText: every entry is matched against the file as it "
            "is before the call. Merge the two entries."
        )
    return advice(lines.text, edit.old)


def _overlaps(lines: _Lines, spans: list[_Span]) -> Iterator[str]:
    widest: _Span | None = None
    for span in spans:
        if widest is not None and span.start < widest.end:
            one, other = sorted((widest.number, span.number))
            yield (
                f"edits[{one}] and edits[{other}] overlap on {lines.place(span)}; "
                "merge them into one entry."
            )
        if widest is None or span.end > widest.end:
            widest = span


def _made(lines: _Lines, spans: list[_Span], edits: list[Edit]) -> str:
    parts, done = [], 0
    for span in spans:
        parts.append(lines.stored[done : lines.at(span.start)])
        parts.append(lines.adapted(edits[span.number].new, span))
        done = lines.at(span.end)
    parts.append(lines.stored[done:])
    return "".join(parts)
