"""Texts whose lines have owners."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple


@dataclass(frozen=True, slots=True, eq=False)
class Touch:
    """Somebody determined what a line says, in the place of what `before` had made of it.

    `by` names who: whatever a caller names calls with, or None for what nobody recorded.
    """

    by: Hashable | None
    before: Touch | None = None

    def earlier(self, limit: int = 16) -> list[Hashable]:
        """Who was at this place before, the last first, each once; at most `limit` of them."""
        found: dict[Hashable, None] = {}
        touch = self.before
        while touch is not None and len(found) < limit:
            if touch.by is not None and touch.by != self.by:
                found[touch.by] = None
            touch = touch.before
        return list(found)


@dataclass(frozen=True, slots=True, eq=False)
class Owned:
    """What is known of a line: who determined what it says, and whether it has been laid out anew
    or put elsewhere since."""

    touch: Touch
    reformatted: bool = False
    moved: bool = False


#: A line of which nothing is known.
UNTRACKED: Final = Owned(Touch(None))


class Attributed(NamedTuple):
    """A text, and an owner for each of its lines."""

    text: bytes
    owners: list[Owned]


def count_lines(text: bytes) -> int:
    """How many lines a text has, as git counts: a last one needs no end, and only LF is an end."""
    return text.count(b"\n") + (not text.endswith(b"\n") and text != b"")


def split_lines(text: bytes) -> list[str]:
    """The lines without their ends. What is not UTF-8 stays apart from all that is."""
    lines = text.decode("utf-8", "surrogateescape").split("\n")
    return lines[:-1] if lines[-1] == "" else lines
