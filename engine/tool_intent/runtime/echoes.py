"""Whether a text is one that the engine printed itself. Total, pure and linear in both."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tool_intent.runtime.words import tokens

#: Neighbouring words that are compared at once.
_SHINGLE: Final = 3
#: The share of a text's shingles that must have been printed. Sentences of people share some.
_ECHOED: Final = 0.7


def echoes(text: str, printed: tuple[str, ...]) -> bool:
    """Whether a text hands back what was printed: seven in ten of its runs of three words stand in
    one of the printed texts, or, of a text of less than three words, the whole of it is one."""
    said = tokens(text)
    if not said:
        return False
    whole, known = _of(printed)
    if len(said) < _SHINGLE:
        return tuple(said) in whole
    shingles = _shingles(said)
    return len(shingles & known) >= _ECHOED * len(shingles)


def _shingles(said: list[str]) -> set[tuple[str, ...]]:
    return set(zip(said, said[1:], said[2:], strict=False))


@lru_cache(maxsize=16)
def _of(printed: tuple[str, ...]) -> tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]]]:
    """Printed texts whole, and their shingles."""
    read = [tokens(text) for text in printed]
    shingles = frozenset().union(*map(_shingles, read)) if read else frozenset()
    return frozenset(map(tuple, read)), shingles
