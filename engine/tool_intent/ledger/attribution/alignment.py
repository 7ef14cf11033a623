"""Which elements of two sequences are the same, in order: a patience diff whose work is bounded.

Elements that stand once in both sequences are anchors; between anchors the shortest edit script is
searched (Myers, "An O(ND) Difference Algorithm", 1986) as far as `MOST_EDITS` go. What lies beyond
is left unmatched: the work is about linear in the sequences, whatever they hold.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

#: Edits that are searched for between two anchors.
MOST_EDITS: Final = 192
#: Times that a part between anchors may be divided by anchors of its own.
_DEEPEST: Final = 24

#: Elements `i` of the first sequence and `j` of the second that are the same.
Pair: TypeAlias = tuple[int, int]
_Part: TypeAlias = tuple[int, int, int, int, int]


def aligned(a: Sequence[str], b: Sequence[str], anchors: Callable[[str], bool]) -> list[Pair]:
    """Pairs of equal elements, rising in both sequences. `anchors` says of an element whether it
    tells enough to be an anchor where it is the only one of its kind."""
    found: list[Pair] = []
    parts: list[_Part] = [(0, len(a), 0, len(b), 0)]
    while parts:
        a0, a1, b0, b1, depth = parts.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            found.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            found.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        pivots = _unique(a, b, (a0, a1, b0, b1, depth), anchors) if depth < _DEEPEST else []
        if not pivots:
            found += ((a0 + i, b0 + j) for i, j in _shortest(a[a0:a1], b[b0:b1]))
            continue
        parts += _between(pivots, (a0, a1, b0, b1, depth + 1))
        found += pivots
    return sorted(found)


def _between(pivots: list[Pair], part: _Part) -> Iterator[_Part]:
    a0, a1, b0, b1, depth = part
    for i, j in [*pivots, (a1, b1)]:
        yield a0, i, b0, j, depth
        a0, b0 = i + 1, j + 1


def _unique(
    a: Sequence[str], b: Sequence[str], part: _Part, anchors: Callable[[str], bool]
) -> list[Pair]:
    """The longest rising run of elements that stand once in both parts."""
    a0, a1, b0, b1, _ = part
    once_a, once_b = Counter(a[a0:a1]), Counter(b[b0:b1])
    places = {b[j]: j for j in range(b0, b1) if once_b[b[j]] == 1}
    pairs = [
        (i, places[a[i]])
        for i in range(a0, a1)
        if once_a[a[i]] == 1 and a[i] in places and anchors(a[i])
    ]
    return _rising(pairs)


def _rising(pairs: list[Pair]) -> list[Pair]:
    """The longest part of `pairs`, which rise in their first numbers, that rises in the second."""
    ends: list[int] = []
    last: list[int] = []
    back: list[int] = []
    for n, (_, j) in enumerate(pairs):
        at = bisect_left(ends, j)
        back.append(last[at - 1] if at else -1)
        if at == len(ends):
            ends.append(j)
            last.append(n)
        else:
            ends[at], last[at] = j, n
    found: list[Pair] = []
    n = last[-1] if last else -1
    while n >= 0:
        found.append(pairs[n])
        n = back[n]
    return found[::-1]


def _shortest(a: Sequence[str], b: Sequence[str]) -> list[Pair]:
    """The pairs that the shortest edit script keeps; none where it has more than MOST_EDITS."""
    if abs(len(a) - len(b)) > MOST_EDITS or set(a).isdisjoint(b):
        return []
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(MOST_EDITS, len(a) + len(b)) + 1):
        trace.append(furthest)
        furthest = dict(furthest)
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < len(a) and x - k < len(b) and a[x] == b[x - k]:
                x += 1
            furthest[k] = x
            if x >= len(a) and x - k >= len(b):
                return _walked_back(trace, len(a), len(b))
    return []


def _walked_back(trace: list[dict[int, int]], x: int, y: int) -> list[Pair]:
    found: list[Pair] = []
    for edits in range(len(trace) - 1, -1, -1):
        before = trace[edits]
        k = x - y
        down = k == -edits or (k != edits and before[k - 1] < before[k + 1])
        came = k + 1 if down else k - 1
        start_x = before[came]
        start_y = start_x - came
        while x > max(start_x, 0) and y > max(start_y, 0):
            x, y = x - 1, y - 1
            found.append((x, y))
        x, y = start_x, start_y
    return found
