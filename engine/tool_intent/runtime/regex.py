"""Searching with RE2 at call time: no parser, only patterns that were compiled from plain data.

`tool_intent.rules.regex.compile_pattern` makes a `Pattern`. It holds text and numbers only, so
that an artifact can carry it; the program is made at the first search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tool_intent.runtime.re2_engine import any_of, program
from tool_intent.runtime.regex_parts import PartImage, search_parts

#: What one search may be charged: program size times bytes, about 0.4 s of a slow machine's time.
BUDGET: Final = 1 << 27
#: Bytes of a text that are always read, whatever the program's size.
ALWAYS_READ: Final = 64 * 1024
#: Looking for a literal costs about a third of a search, on a text that is not short.
FEW_LITERALS: Final = 2
SHORT_TEXT: Final = 256
#: Texts that are not looked through for literals at once.
_CALLS_WITHOUT: Final = 8


class Pattern(NamedTuple):
    """A checked pattern in two forms that agree on every text of ASCII characters only.

    `ascii_text` is the small one and is used for such texts, `text` for all others; sizes are
    RE2's instruction counts. A text of ASCII characters that holds none of `literals` (lower-cased
    first if `fold`) holds no match; no literals means nothing is known. `parts` are its
    alternatives, which are asked one by one where a text is too long for the whole program.
    """

    text: str
    ascii_text: str
    size: int
    ascii_size: int
    literals: tuple[str, ...] = ()
    fold: bool = False
    parts: tuple[PartImage, ...] = ()


class _Anything:
    """Stands for a text in which any literal may be, so that it is searched."""

    def __contains__(self, literal: str) -> bool:
        return True

    def __len__(self) -> int:
        return SHORT_TEXT + 1

    def lower(self) -> _Anything:
        return self


ANYTHING: Final = _Anything()


def finder(pattern: Pattern) -> Callable[[str], bool | None]:
    """`search` for one pattern, with all that can be known beforehand worked out once."""
    limit = readable(pattern.ascii_size)
    match: Callable[..., Any] | None = None
    anywhere: Any = None

    def find(text: str) -> bool | None:
        nonlocal match, anywhere
        if not text.isascii() or len(text) > limit:
            return search(pattern, text)
        if match is None:
            match, anywhere = _match(program(pattern.ascii_text))
        data = text.encode()
        found: int = match(anywhere, data, 0, len(data))[0][0]
        return found >= 0

    return find


def holder(literals: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether an ASCII text may hold one of many literals; of a long one that stays open."""
    # A process that judges one call does better without the engine.
    without = _CALLS_WITHOUT
    match: Callable[..., Any] | None = None
    anywhere: Any = None

    def holds(text: str) -> bool:
        nonlocal match, anywhere, without
        if without or len(text) > ALWAYS_READ:
            without = max(0, without - 1)
            return True
        if match is None:
            match, anywhere = _match(any_of(literals))
        data = text.encode()
        found: int = match(anywhere, data, 0, len(data))[0][0]
        return found >= 0

    return holds


def _match(compiled: Any) -> tuple[Callable[..., Any], Any]:
    """RE2's own search, and what makes it look anywhere in a text: called with that, a text and its
    bounds it gives spans, the first of which begins at -1 where there is no match.

    `compiled.search` runs a generator, which takes longer than RE2 does for a short text. What it
    calls is private to the package, so it is used only where it answers as this expects.
    """
    try:
        import re2

        match, anywhere = compiled._regexp.Match, re2._Anchor.UNANCHORED
        if match(anywhere, b"", 0, 0)[0][0] in (-1, 0):
            return match, anywhere
    except (AttributeError, TypeError, IndexError):
        pass
    search = compiled.search
    return lambda _, data, start, end: [(0 if search(data, start, end) else -1,)], None


def search(pattern: Pattern, text: str, budget: int = BUDGET) -> bool | None:
    """Whether `text` holds a match, or None where that cannot be told.

    Unknown is a text that holds half of a surrogate pair. One longer than `budget` pays for is
    searched by the pattern's alternatives, which have a budget as large; if that does not do
    either, it is unknown unless what the first budget pays for (at least 64 KiB) holds a match.
    """
    small = text.isascii()
    if small and is_gated(pattern, len(text)) and not _gate(pattern, text):
        return False
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return None
    source, size = (pattern.ascii_text, pattern.ascii_size) if small else pattern[0:3:2]
    # RE2 sees the bytes behind `end` as context: `$` and `\z` do not match at a cut.
    end = readable(size, budget)
    if len(data) <= end:
        return program(source).search(data) is not None
    found = search_parts(pattern.parts, text, budget) if pattern.parts else None
    if found is not None:
        return found
    return True if program(source).search(data, 0, end) is not None else None


def charge(pattern: Pattern, text: str, budget: int = BUDGET) -> int:
    """What `search` of this text costs the whole program: its size times the bytes it reads."""
    small = text.isascii()
    size = pattern.ascii_size if small else pattern.size
    length = len(text) if small else len(text.encode("utf-8", "surrogatepass"))
    return size * min(length, readable(size, budget))


def readable(size: int, budget: int = BUDGET) -> int:
    """How many bytes of a text a program of `size` instructions reads."""
    return max(ALWAYS_READ, budget // max(1, size))


def is_gated(pattern: Pattern, length: int) -> bool:
    """Whether looking for literals first is likely to cost less than the search."""
    few = len(pattern.literals) <= FEW_LITERALS
    return bool(pattern.literals) and (few or length <= SHORT_TEXT)


def _gate(pattern: Pattern, text: str) -> bool:
    folded = text.lower() if pattern.fold else text
    return any(literal in folded for literal in pattern.literals)
