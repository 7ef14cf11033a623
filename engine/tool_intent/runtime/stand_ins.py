r"""Few characters for many: what a pattern of ASCII, `\w`, `\d` and `\s` cannot tell apart.

Such a pattern finds in a text what it finds where each character beyond ASCII is replaced by the
one that stands for its class. Its program then need not hold Unicode's tables.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import Final

from tool_intent.runtime import unicode_tables as tables

#: Any four that no pattern names and that have no other case; in this order the characters of `\w`,
#: `\d`, `\s` and of their complements are neighbours, which keeps programs small.
DIGIT: Final = "\u0080"
LETTER: Final = "\u0081"
OTHER: Final = "\u0082"
SPACE: Final = "\u0083"
#: They fold to `s` and `k`, so they stand for themselves.
FOLDING: Final = "\u017f\u212a"

_BEYOND: Final = re.compile(r"[^\x00-\x7f]+")


def with_stand_ins(text: str) -> str:
    """`text` with a stand-in for each character beyond ASCII; as long, and as many lines."""
    table = _table()
    return _BEYOND.sub(lambda found: found[0].translate(table), text)


class _Table(dict[int, str]):
    """Stand-ins by code point; of those that have been asked for."""

    def __missing__(self, point: int) -> str:
        found = self[point] = _stand_in(point)
        return found


@lru_cache(maxsize=1)
def _table() -> _Table:
    return _Table()


def _stand_in(point: int) -> str:
    if chr(point) in FOLDING:
        return chr(point)
    if _holds(tables.DIGIT, point):
        return DIGIT
    if _holds(tables.WORD, point):
        return LETTER
    return SPACE if _holds(tables.SPACE, point) else OTHER


def _holds(table: str, point: int) -> bool:
    starts, ends = _bounds(table)
    at = bisect_right(starts, point) - 1
    return at >= 0 and point <= ends[at]


@lru_cache(maxsize=3)
def _bounds(table: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    low, high = zip(*tables.decoded(table), strict=True)
    return low, high
