"""A text whose lines come from several earlier ones: branches that were merged, for instance."""

from __future__ import annotations

from collections.abc import Sequence

from tool_intent.ledger.attribution.carrying import Change, carried
from tool_intent.ledger.attribution.model import UNTRACKED, Attributed, Owned, count_lines
from tool_intent.ledger.attribution.moves import DISTINCTIVE


def joined(text: bytes, tips: Sequence[Attributed]) -> tuple[Attributed, list[int]]:
    """The owners of a text that nobody recorded, out of what came before it, and the numbers of
    those of `tips` that something of it comes from; of equal ones the first counts.

    The text that most lines come from is taken for the one before. What another one knows counts
    only where it accounts for a whole run of lines that has a telling one.
    """
    if not tips:
        return Attributed(text, [UNTRACKED] * count_lines(text)), []
    found = [carried([Change(tip, text, None)])[0].owners for tip in tips]
    kept = [_kept(tip, owners) for tip, owners in zip(tips, found, strict=True)]
    main = max(range(len(tips)), key=lambda n: (kept[n], -n))
    owners = list(found[main])
    used = [main]
    for n, other in enumerate(found):
        if n != main and _filled(owners, other, text):
            used.append(n)
    return Attributed(text, owners), used


def _kept(tip: Attributed, owners: Sequence[Owned]) -> int:
    touches = {id(owned.touch) for owned in tip.owners}
    return sum(id(owned.touch) in touches for owned in owners)


def _filled(owners: list[Owned], other: Sequence[Owned], text: bytes) -> bool:
    """Take over from `other` what only it knows; whether there was anything."""
    lines = text.split(b"\n")
    used, start = False, 0
    while start < len(owners):
        end = start
        while (
            end < len(owners) and owners[end].touch.by is None and other[end].touch.by is not None
        ):
            end += 1
        run = lines[start:end]
        if any(len(b"".join(line.split())) >= DISTINCTIVE for line in run):
            owners[start:end] = other[start:end]
            used = True
        start = end + 1
    return used
