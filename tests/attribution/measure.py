"""How often lines are credited to the right call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from .truth import PERSON, Line


@dataclass(frozen=True)
class Score:
    """Lines credited to a call, lines that a call wrote, and lines of which both are the same."""

    credited: int = 0
    written: int = 0
    right: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.credited + other.credited, self.written + other.written, self.right + other.right
        )

    @property
    def precision(self) -> float:
        return self.right / self.credited if self.credited else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.written if self.written else 1.0


def score(truth: Sequence[Line], found: Sequence[Hashable | None]) -> Score:
    """`found` names a call for each line, or None. Lines that are blank or whose author cannot be
    told are nobody's loss."""
    total = Score()
    for line, call in zip(truth, found, strict=True):
        if line.text.strip() and line.author is not None:
            written = line.author != PERSON
            total += Score(call is not None, written, written and call == line.author)
    return total
