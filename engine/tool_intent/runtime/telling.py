"""The telling words of texts, calls and lists, and what two of them share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from tool_intent.runtime.reading import Seq, capped
from tool_intent.runtime.remembering import ByIdentity
from tool_intent.runtime.words import content, content_words, distinct_tokens, in_prose

#: Texts whose words are remembered: a decision reads the same few again and again.
_REMEMBERED: Final = 256


@lru_cache(maxsize=_REMEMBERED)
def _of_text(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


@ByIdentity
def _of_list(texts: tuple[str, ...]) -> frozenset[str]:
    """The content words of a word list or of a call, which one decision asks for repeatedly."""
    return frozenset(content(_tokens(texts)))


@ByIdentity
def call_words(call: tuple[str, ...]) -> frozenset[str]:
    """The telling words of a call, and what its commands are called in prose."""
    return _of_list(call) | in_prose(_tokens(call))


@ByIdentity
def _tokens(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*map(distinct_tokens, texts))


def _of(
    value: Any, of_list: Callable[[tuple[str, ...]], frozenset[str]] = _of_list
) -> frozenset[str] | None:
    """The content words of a text, a list of texts or a call; None where one is unknown."""
    if isinstance(value, str):
        return _of_text(value)
    if not isinstance(value, Seq):
        return of_list(value)
    if not value.complete:
        return None
    found: frozenset[str] = frozenset()
    for item in value.items:
        words = None if item is None else _of(item, of_list)
        if words is None:
            return None
        found |= words
    return found


def _less(words: frozenset[str], known: Any) -> frozenset[str] | None:
    """The words that are in nothing known; None where something known is unknown. The few words
    are taken from, so that large lists are not joined each time."""
    if not isinstance(known, Seq):
        found = _of(known, call_words)
        return None if found is None else words - found
    if not known.complete:
        return None
    for item in known.items:
        left = None if item is None else _less(words, item)
        if left is None:
            return None
        words = left
    return words


def overlap(left: Any, right: Any) -> int | None:
    """How many telling words two values share; None where one is unknown."""
    one, two = _of(left), _of(right)
    return None if one is None or two is None else len(one & two)


def novel(text: Any, known: Any) -> int | None:
    """How many telling words of a text are in nothing known, nor in what its commands are called
    in prose; None where one is unknown."""
    one = _of(text)
    left = None if one is None else _less(one, known)
    return None if left is None else len(left)


def coverage(value: Any, other: Any) -> float | None:
    """The share of a value's telling words that another has, or what its commands are called in
    prose; 0 where there are none, None where one value is unknown."""
    one = _of(value)
    left = None if one is None else _less(one, other)
    if one is None or left is None:
        return None
    return (len(one) - len(left)) / len(one) if one else 0.0


def telling_words(value: Any) -> Seq | None:
    """The telling words of a value, sorted; of a call also what its commands are called in prose.
    None where it is unknown."""
    found = _of(value, call_words)
    return None if found is None else capped(tuple(sorted(found)), True)


def jaccard(left: str, right: str) -> float:
    """Shared telling words of two texts by all of both, 0 to 1; 0 if there are none."""
    one, two = _of_text(left), _of_text(right)
    return len(one & two) / len(one | two) if one or two else 0.0
