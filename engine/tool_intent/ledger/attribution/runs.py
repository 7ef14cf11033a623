"""An answer to "why is this line here": runs of lines that one call is behind in the same way."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from tool_intent.ledger.attribution.hops import Author
from tool_intent.ledger.attribution.model import Attributed, Owned, split_lines

State: TypeAlias = Literal["exact", "reformatted", "moved", "edited-after", "untracked"]


class Run(NamedTuple):
    """Lines `start` to `end`, from 1 and both of them included. `by` is the call that they are
    credited to, None for `edited-after` and `untracked`; `earlier` those that were at this place
    before, the last first."""

    start: int
    end: int
    state: State
    by: Author | None
    earlier: tuple[Author, ...]


def runs(text: Attributed) -> list[Run]:
    """The lines of a text in runs. Blank lines within a run belong to it."""
    lines = [_line(owned) for owned in text.owners]
    last = 0
    for n, said in enumerate(split_lines(text.text)):
        if said.strip():
            if lines[n] == lines[last]:
                lines[last:n] = [lines[n]] * (n - last)
            last = n
    found: list[Run] = []
    for n, (state, by, earlier) in enumerate(lines, 1):
        if found and found[-1][2:] == (state, by, earlier):
            found[-1] = found[-1]._replace(end=n)
        else:
            found.append(Run(n, n, state, by, earlier))
    return found


def _line(owned: Owned) -> tuple[State, Author | None, tuple[Author, ...]]:
    by = owned.touch.by
    author = by if isinstance(by, Author) else None
    earlier = tuple(one for one in owned.touch.earlier() if isinstance(one, Author))
    return _state(owned, earlier), author, earlier


def _state(owned: Owned, earlier: tuple[Author, ...]) -> State:
    if owned.touch.by is None:
        return "edited-after" if earlier else "untracked"
    if owned.moved:
        return "moved"
    return "reformatted" if owned.reformatted else "exact"
