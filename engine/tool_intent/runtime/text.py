"""What a text says once everything that cannot be seen is gone.

One Unicode version for every interpreter: code points unassigned in 14.0.0 are removed, and
normalisation of what remains is stable by Unicode's own policy, so CPython 3.11 and later agree.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

UNICODE_VERSION: Final = "14.0.0"
#: A field of more code points is not read.
LONGEST_TEXT: Final = 65_536
#: The stream-safe limit of UAX #15. Normalisation is quadratic in longer runs.
LONGEST_MARKS: Final = 30

#: Code points whose kind is remembered: enough for any language, little for a hostile text.
_REMEMBERED: Final = 20_000

_KEPT, _REMOVED, _SPACE, _MARK = "0", "1", "2", "3"


def normalise(text: str) -> str | None:
    """`text` as rules read it, or None where it is unreadable.

    White-space controls become a space; what is invisible, unassigned or private is removed; then
    NFKC; then white space at the ends is trimmed. Unreadable is a text of more than 65,536 code
    points or with more than 30 combining marks in a row. Idempotent, linear.
    """
    if len(text) > LONGEST_TEXT:
        return None
    if text.isascii() and text.isprintable():
        return text.strip()
    return _normalise(text)


def is_absent(normalised: str) -> bool:
    """Whether a normalised text is nothing but marks and spaces."""
    if normalised.isascii():
        return not normalised
    return all(c.isspace() or _kinds[ord(c)] == _MARK for c in normalised)


def _normalise(text: str) -> str | None:
    seen = text.translate(_actions)
    run = 0
    for c in seen:
        if c > "\u02ff" and _kinds[ord(c)] == _MARK:
            run += 1
            if run > LONGEST_MARKS:
                return None
        else:
            run = 0
    from unicodedata import normalize

    return normalize("NFKC", seen).strip()


class _Kinds(dict[int, str]):
    """The kind of each code point, looked up in the frozen table when first asked for."""

    def __missing__(self, code_point: int) -> str:
        from tool_intent.runtime.unicode14 import KINDS, STARTS

        if len(self) > _REMEMBERED:
            self.clear()
        kind = KINDS[bisect_right(STARTS, code_point) - 1]
        self[code_point] = kind
        return kind


class _Actions(dict[int, int | str | None]):
    """What `str.translate` does with each code point."""

    def __missing__(self, code_point: int) -> int | str | None:
        kind = _kinds[code_point]
        action: int | str | None = code_point
        if kind == _REMOVED:
            action = None
        elif kind == _SPACE:
            action = " "
        if len(self) > _REMEMBERED:
            self.clear()
        self[code_point] = action
        return action


_kinds = _Kinds()
_actions = _Actions()
