"""The syntax tree of a regular expression, and which characters its parts can match."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from tool_intent.runtime import unicode_tables as tables

Ranges: TypeAlias = list[tuple[int, int]]
MAX_POINT: Final = 0x10FFFF


class PatternError(ValueError):
    """A pattern that cannot be used: what is wrong, how to mend it, where (0-based code points)."""

    def __init__(self, message: str, help: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Char:
    """One literal character; `text` is how RE2 is to read it, `fold` whether case is ignored."""

    text: str
    code: int
    fold: bool


@dataclass(frozen=True, slots=True)
class Perl:
    r"""`\w`, `\d`, `\s` or a negation, by its letter."""

    letter: str


@dataclass(frozen=True, slots=True)
class Opaque:
    r"""A class taken as written: `.`, `\pN`, `\p{Greek}`, `[[:alpha:]]`.

    `ranges` is None where only RE2 knows them; `kinds` is then what can be said.
    """

    text: str
    ranges: tuple[tuple[int, int], ...] | None
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Span:
    """A range, or a single character, within brackets."""

    text: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """A bracketed class."""

    negated: bool
    items: tuple[Perl | Opaque | Span, ...]


@dataclass(frozen=True, slots=True)
class Assertion:
    r"""`^`, `$`, `\A`, `\z`, `\b` or `\B`, as written, and where."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Flags:
    """`(?i)`: a change of flags for the rest of the group."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """A group, captured or not; `head` is what opens it for RE2 (captures are never asked for)."""

    head: str
    body: Node


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repetition; `text` is the operator as written, laziness included."""

    body: Node
    low: int
    text: str


@dataclass(frozen=True, slots=True)
class Concat:
    """A sequence."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternate:
    """At least two alternatives."""

    branches: tuple[Node, ...]


Class: TypeAlias = Char | Perl | Opaque | Bracket
Node: TypeAlias = Class | Assertion | Flags | Group | Repeat | Concat | Alternate
Kind: TypeAlias = Literal["word", "other"]

WORD: Final = frozenset(["word"])
OTHER: Final = frozenset(["other"])
MIXED: Final = WORD | OTHER


@lru_cache(maxsize=1)
def word_ranges() -> Ranges:
    """What `\\w` means in a rule: L, M, N and Pc."""
    return tables.decoded(tables.WORD)


def perl_ranges(letter: str) -> Ranges:
    """The Unicode meaning of a Perl class."""
    table = {"w": tables.WORD, "d": tables.DIGIT, "s": tables.SPACE}[letter.lower()]
    found = tables.decoded(table)
    return complement(found) if letter.isupper() else found


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same points as sorted ranges with gaps between them."""
    out: Ranges = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return out


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Every other code point."""
    out: Ranges = []
    start = 0
    for low, high in merged(ranges):
        if low > start:
            out.append((start, low - 1))
        start = high + 1
    if start <= MAX_POINT:
        out.append((start, MAX_POINT))
    return out


def range_kinds(ranges: Iterable[tuple[int, int]]) -> frozenset[str]:
    """Whether the points are word characters, others, or some of both."""
    words = word_ranges()
    starts = [low for low, _ in words]
    kinds: set[str] = set()
    for low, high in ranges:
        at = bisect_right(starts, low) - 1
        inside = at >= 0 and low <= words[at][1]
        kinds.add("word" if inside else "other")
        if inside and high > words[at][1]:
            kinds.add("other")
        if not inside and at + 1 < len(words) and words[at + 1][0] <= high:
            kinds.add("word")
    return frozenset(kinds)


def class_kinds(node: Class) -> frozenset[str]:
    """What a class can match: word characters, others, or either. Never too little."""
    if isinstance(node, Char):
        return range_kinds([(node.code, node.code)])
    if isinstance(node, Perl):
        return range_kinds(perl_ranges(node.letter))
    if isinstance(node, Opaque):
        return node.kinds
    known: Ranges = []
    kinds: frozenset[str] = frozenset()
    for item in node.items:
        ranges = item_ranges(item)
        if ranges is None:
            kinds |= MIXED if node.negated else item.kinds if isinstance(item, Opaque) else MIXED
        else:
            known += ranges
    return kinds | range_kinds(complement(known) if node.negated else known)


def item_ranges(item: Perl | Opaque | Span) -> Sequence[tuple[int, int]] | None:
    """The points of one item of a bracketed class, or None where only RE2 knows them."""
    if isinstance(item, Span):
        return [(item.low, item.high)]
    if isinstance(item, Perl):
        return perl_ranges(item.letter)
    return item.ranges


def children(node: Node) -> Sequence[Node]:
    """The nodes directly inside."""
    if isinstance(node, Concat):
        return node.items
    if isinstance(node, Alternate):
        return node.branches
    return (node.body,) if isinstance(node, Group | Repeat) else ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all nodes within."""
    yield node
    for child in children(node):
        yield from walk(child)
