"""Searching a text that is too long for a whole program, by the pattern's alternatives.

Each is a smaller program, and one whose matches are short is only run around the literals that its
matches hold. So a long text that holds few of them costs little, and the answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime.re2_engine import any_of, program
from tool_intent.runtime.stand_ins import with_stand_ins

#: A `Part` that an artifact can carry.
PartImage: TypeAlias = "tuple[str, str, bool, tuple[str, ...], bool, str, int]"
#: Bytes from one mark within which the next is not looked for, so that windows are few.
_STEP = 16


class Part(NamedTuple):
    """One alternative of a pattern: a text holds a match of the pattern if it holds one of a part.

    `ascii_text` is its text for RE2 where a text is ASCII, `text` for all others, which it reads
    with stand-ins if `stands`. Any text that holds a match holds one of `literals` in it (in any
    case if `fold`); none if nothing is known. `lead` is what every match begins with, one character
    and fixed texts at the most; empty if that says no more than the literals. `reach` is how many
    bytes a match has at the most, 0 if there is no bound.
    """

    text: str
    ascii_text: str
    stands: bool
    literals: tuple[str, ...]
    fold: bool
    lead: str
    reach: int


def search_parts(images: Sequence[PartImage], text: str, budget: int) -> bool | None:
    """Whether `text`, without halves of surrogate pairs, holds a match of any part; None where that
    would cost more than `budget`, program size times bytes. Reading a text for literals and for
    stand-ins is linear and is not counted."""
    plain = text.encode()
    standing: bytes | None = None
    left = budget
    for part in (Part(*image) for image in images):
        literals = any_of(part.literals, fold=part.fold) if part.literals else None
        if literals is not None and literals.search(plain) is None:
            continue
        if standing is None and part.stands:
            standing = with_stand_ins(text).encode()
        data = plain if standing is None or not part.stands else standing
        for start, end in _windows(part, literals, data):
            # A match lies within its window, so what is beyond need not be ASCII.
            is_small = data[start:end].isascii()
            compiled = program(part.ascii_text if is_small else part.text)
            left -= compiled.programsize * (end - start)
            if left < 0:
                return None
            # RE2 sees what is around the window as context, so anchors mean what they say.
            if compiled.search(data, start, end) is not None:
                return True
    return False


def _windows(part: Part, literals: Any, data: bytes) -> Iterable[tuple[int, int]]:
    """Where in `data` all matches of a part are, in order."""
    if part.lead:
        return _around(program(part.lead), data, 0, part.reach or len(data))
    if literals is None or not part.reach:
        return [(0, len(data))]
    return _around(literals, data, part.reach, part.reach)


def _around(marks: Any, data: bytes, before: int, after: int) -> Iterator[tuple[int, int]]:
    """Stretches that hold all that begins at most `before` bytes before the start of a mark, and
    ends at most `after` bytes behind it."""
    start = end = 0
    found = marks.search(data)
    while found is not None:
        at = found.start()
        if at - before > end:
            if end:
                yield start, end
            start = at - before
        # Other marks may begin within the step.
        end = min(at + _STEP + after, len(data))
        found = marks.search(data, at + _STEP + 1) if end < len(data) else None
    if end:
        yield start, end
