"""Files that one call took away and made anew under another name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tool_intent.ledger.attribution.hops import Hop
from tool_intent.ledger.attribution.model import Attributed, split_lines
from tool_intent.ledger.attribution.spacing import stripped

#: The part of the lines that two files share at least, if one is the other renamed; git's own.
_SIMILAR: Final = 0.5
_SAME: Final = 2.0


def origins(
    hops: Sequence[Hop], before: Sequence[Attributed | None], after: Sequence[bytes | None]
) -> dict[int, int]:
    """For hops that made a file, the hops that took away the one that it goes on from."""
    gone = {
        n: set(keys(known.text))
        for n, (hop, known) in enumerate(zip(hops, before, strict=True))
        if hop.post is None and known is not None
    }
    found: dict[int, int] = {}
    for n, (hop, text) in enumerate(zip(hops, after, strict=True)):
        if hop.pre is None and text is not None and gone:
            lines = set(keys(text))
            shares = {
                m: _SAME if hops[m].pre == hop.post else _share(lines, old)
                for m, old in gone.items()
            }
            best = max(shares, key=lambda m: shares[m])
            if shares[best] >= _SIMILAR:
                found[n] = best
                del gone[best]
    return found


def keys(text: bytes) -> list[str]:
    """The lines of a text, without the white space that says nothing."""
    return [stripped(line) for line in split_lines(text)]


def _share(lines: set[str], old: set[str]) -> float:
    return len(lines & old) / max(len(lines), len(old), 1)
