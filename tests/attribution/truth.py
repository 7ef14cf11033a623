"""Texts whose every line has a known author, and what happens to them.

An author is the id of a call, or PERSON: somebody or something that nobody recorded. Whoever writes
a line or changes what it says is its author from then on; moving a line, indenting it and laying it
out anew change nobody's authorship. Nothing here knows how authors are found out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

PERSON: Final = ""

#: What a formatter adds and takes away; everything else of a text it leaves in its order.
_LAYOUT: Final = frozenset(" \t\n\r'\"(),;")


class Line(NamedTuple):
    """A line without its end, and its author; None where two have an equal share in it, or none."""

    text: str
    author: str | None


def text_of(lines: Iterable[Line]) -> str:
    """The file that holds these lines."""
    return "".join(f"{line.text}\n" for line in lines)


class Draft:
    """A text that one author works on. Numbers of lines count from 0, ends are exclusive."""

    def __init__(self, lines: Sequence[Line], author: str) -> None:
        self.lines = list(lines)
        self.author = author

    def insert(self, at: int, texts: Iterable[str]) -> None:
        self.replace(at, at, texts)

    def append(self, texts: Iterable[str]) -> None:
        self.insert(len(self.lines), texts)

    def replace(self, start: int, end: int, texts: Iterable[str]) -> None:
        """Write other lines in the place of some: all of the new ones are the author's."""
        self.lines[start:end] = [Line(text, self.author) for text in texts]

    def delete(self, start: int, end: int) -> None:
        del self.lines[start:end]

    def move(self, start: int, end: int, to: int) -> None:
        """Put some lines elsewhere; `to` counts the lines that stay."""
        moved = self.lines[start:end]
        del self.lines[start:end]
        self.lines[to:to] = moved

    def indent(self, start: int, end: int, by: str = "    ") -> None:
        self.lines[start:end] = [
            line._replace(text=by + line.text if line.text else "")
            for line in self.lines[start:end]
        ]

    def swap(self, old: str, new: str) -> None:
        """Write `new` for `old` in the one line that has it: that line is the author's then."""
        (at,) = (n for n, line in enumerate(self.lines) if old in line.text)
        self.replace(at, at + 1, [self.lines[at].text.replace(old, new)])

    def find(self, part: str) -> int:
        """The number of the one line that contains `part`."""
        (at,) = (n for n, line in enumerate(self.lines) if part in line.text)
        return at


def reflowed(lines: Sequence[Line], text: str) -> list[Line]:
    """The lines of `text`, which says the same as `lines` in another layout.

    A line belongs to the author of most of its characters. One of brackets and commas alone belongs
    to the author on both sides of it, if that is one. Raises ValueError where the texts do not say
    the same.
    """
    old = [(char, line.author) for line in lines for char in line.text if char not in _LAYOUT]
    if [char for char, _ in old] != [char for char in text if char not in _LAYOUT]:
        raise ValueError("this is more than another layout")
    authors = iter([author for _, author in old])
    shares = [[next(authors) for char in line if char not in _LAYOUT] for line in text.splitlines()]
    return [
        Line(line, _largest(shares[n]) if shares[n] else _around(shares, n))
        for n, line in enumerate(text.splitlines())
    ]


def _largest(share: list[str | None]) -> str | None:
    counts = sorted((share.count(one), one) for one in set(share) if one is not None)
    if not counts or (len(counts) > 1 and counts[-1][0] == counts[-2][0]):
        return None
    return counts[-1][1]


def _around(shares: list[list[str | None]], at: int) -> str | None:
    before = next((share[-1] for share in reversed(shares[:at]) if share), None)
    after = next((share[0] for share in shares[at + 1 :] if share), before)
    return before if before == after else None
