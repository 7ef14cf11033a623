"""Blocks of lines that were put elsewhere, within a file or from one to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

#: Lines that a block has at least, and how many of them hold at least DISTINCTIVE characters: what
#: is less may as well have been written twice.
LEAST_LINES: Final = 3
LEAST_DISTINCTIVE: Final = 2
DISTINCTIVE: Final = 9
#: Places of one text among the lines taken away beyond which it no longer tells blocks apart.
_MOST_PLACES: Final = 32


class Place(NamedTuple):
    """A line of a file, both by their numbers."""

    file: int
    line: int

    def below(self, lines: int) -> Place:
        return Place(self.file, self.line + lines)


def moved(taken: dict[Place, str], added: dict[Place, str]) -> dict[Place, Place]:
    """For lines of `added` that were moved, where they were in `taken`; each line moves once.

    Both hold the texts, without white space, of lines that nothing else accounts for.
    """
    places: dict[str, list[Place]] = defaultdict(list)
    for place, text in taken.items():
        if len(text) >= DISTINCTIVE:
            places[text].append(place)
    found: dict[Place, Place] = {}
    used: set[Place] = set()
    for place, text in added.items():
        if place in found or not 0 < len(places.get(text, ())) <= _MOST_PLACES:
            continue
        blocks = [
            _block(taken, added, source, place) for source in places[text] if source not in used
        ]
        block = max(blocks, key=len, default=[])
        block = [(a, b) for a, b in block if a not in used and b not in found]
        if is_telling([taken[a] for a, _ in block]):
            found.update((b, a) for a, b in block)
            used.update(a for a, _ in block)
    return found


def _block(
    taken: dict[Place, str], added: dict[Place, str], source: Place, place: Place
) -> list[tuple[Place, Place]]:
    """The longest run of equal lines around two places."""

    def same(n: int) -> bool:
        text = taken.get(source.below(n))
        return text is not None and text == added.get(place.below(n))

    first, end = 0, 1
    while same(first - 1):
        first -= 1
    while same(end):
        end += 1
    return [(source.below(n), place.below(n)) for n in range(first, end)]


def is_telling(block: Sequence[str]) -> bool:
    """Whether lines, without their white space, are so many and hold so much that they were hardly
    written twice."""
    said = [text for text in block if text]
    return (
        len(said) >= LEAST_LINES
        and sum(len(text) >= DISTINCTIVE for text in said) >= LEAST_DISTINCTIVE
    )
