"""Searching with RE2 at call time: no parser, only patterns that were compiled from plain data.

`tool_intent.rules.regex.compile_pattern` makes a `Pattern`. It holds text and numbers only, so
that an artifact can carry it; the program is made at the first search. google-re2 is imported
then, and not before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

#: What one search may be charged: program size times bytes, about 0.4 s of a slow machine's time.
BUDGET: Final = 1 << 27
#: Bytes of a text that are always read, whatever the program's size.
ALWAYS_READ: Final = 64 * 1024
#: Looking for a literal costs about a third of a search, on a text that is not short.
FEW_LITERALS: Final = 2
SHORT_TEXT: Final = 256
#: Texts that are not looked through for literals at once.
_CALLS_WITHOUT: Final = 8
#: Bytes of memory one RE2 object may use; a DFA that would need more is replaced by the NFA.
MAX_MEM: Final = 4 << 20


class Pattern(NamedTuple):
    """A checked pattern in two forms that agree on every text of ASCII characters only.

    `ascii_text` is the small one and is used for such texts, `text` for all others; sizes are
    RE2's instruction counts. A text of ASCII characters that holds none of `literals` (lower-cased
    first if `fold`) holds no match; no literals means nothing is known.
    """

    text: str
    ascii_text: str
    size: int
    ascii_size: int
    literals: tuple[str, ...] = ()
    fold: bool = False


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
            match, anywhere = _match(program("|".join(map(_quoted, literals))))
        data = text.encode()
        found: int = match(anywhere, data, 0, len(data))[0][0]
        return found >= 0

    return holds


def _quoted(literal: str) -> str:
    return "".join(char if char.isalnum() else f"\\x{ord(char):02x}" for char in literal)


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

    Unknown are a text that holds half of a surrogate pair, and one longer than `budget` pays for
    if the part that was read (at least 64 KiB) holds no match.
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
    return True if program(source).search(data, 0, end) is not None else None


def charge(pattern: Pattern, text: str, budget: int = BUDGET) -> int:
    """What `search` of this text costs: program size times the bytes that would be read."""
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


@lru_cache(maxsize=1024)
def program(text: str) -> Any:
    """The RE2 object of a pattern text, silent on standard error; raises `re2.error`."""
    compiler, options = _engine()
    return compiler(text, options)


@lru_cache(maxsize=1)
def _engine() -> tuple[Callable[..., Any], Any]:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MAX_MEM
    return re2.compile, options
