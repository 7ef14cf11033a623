"""Text functions that look for words and phrases in a text: `mentions` and `without`.

All are total, pure and linear in the text, which is normalised already; case and the width of white
space are folded here. A phrase is found only where no word goes on at either end; beside a
character of a script written without spaces a word ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from tool_intent.runtime.remembering import ByIdentity
from tool_intent.runtime.wordchars import name_runs, runs, word_items, word_runs

_ASCII_WORD_CHAR: Final = re.compile(r"\w", re.ASCII)


def mentions(text: str, needle: str) -> bool:
    """Whether `text` holds the phrase. A needle without a letter or number is never in anything."""
    return mentions_any(text, (needle,))


def mentions_any(text: str, needles: Iterable[str]) -> bool:
    """Whether `text` holds one of the phrases; as `mentions`, with the text read once."""
    marked = mark(text)
    return any(has_word(needle) and mark(needle) in marked for needle in needles)


def mentions_path(text: str, path: str) -> bool:
    r"""Whether `text` names a path, in full or by its last name; `\` and `/` are one.

    A name ends where neither a letter or number nor a dot or hyphen and then one follows:
    `a.py` is not named by `a.py.bak` or `data.py`. A path without a letter or number in its last
    name is named by nothing.
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if not parts or not has_word(parts[-1]):
        return False
    marked = _marked_names(text)
    return _marked_names("/".join(parts)) in marked or _marked_names(parts[-1]) in marked


def few_finder(phrases: Sequence[str]) -> Callable[[str], object]:
    """Finds any of a few phrases in a text of ASCII characters, as `mentions_any` does."""
    folded = [_folded(phrase) for phrase in phrases if has_word(phrase)]
    # A word goes on where a letter, number or `_` stands at both sides of an end.
    sources = [
        f"{_edge(phrase[0], '<!')}{re.escape(phrase)}{_edge(phrase[-1], '!')}" for phrase in folded
    ]
    search = re.compile("|".join(sources) or r"(?!)", re.ASCII).search
    return lambda text: search(_folded(text))


def _edge(char: str, behind: str) -> str:
    return rf"(?{behind}\w)" if _ASCII_WORD_CHAR.match(char) else ""


def without(text: str, phrases: Sequence[str]) -> str:
    """The text with all the phrases taken out, those of more words first.

    A phrase is its words; case does not matter, and what stands between words that go, goes too.
    White space of what is left is squeezed. Linear in the text for each phrase.
    """
    if not phrases:
        return " ".join(text.split())
    items = list(word_items(text).finditer(text))
    # Each distinct word becomes one character, so that a phrase is found as a substring.
    codes: dict[str, str] = {}
    keys = "".join(codes.setdefault(item[0].casefold(), chr(len(codes) + 1)) for item in items)
    by_first = _by_first_word(tuple(phrases))
    begun = sorted(found for word in by_first.keys() & codes.keys() for found in by_first[word])
    if not begun:
        return " ".join(text.split())
    for _, phrase in begun:
        if all(word in codes for word in phrase):
            keys = keys.replace("".join(codes[word] for word in phrase), "\0" * len(phrase))
    return " ".join(" ".join(_kept(text, items, keys)).split())


def has_word(text: str) -> bool:
    """Whether there is a letter or number in it."""
    return runs(text).search(text) is not None


def mark(text: str) -> str:
    """The text folded, with a NUL at both ends of each word: phrases become plain substrings.

    `mark(needle) in mark(text)` is `mentions(text, needle)` for a needle with a letter or number.
    """
    folded = _folded(text)
    return word_runs(folded).sub("\0\\g<0>\0", folded)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("\0", " ").split())


def _marked_names(text: str) -> str:
    folded = " ".join(text.casefold().replace("\0", " ").replace("\\", "/").split())
    return name_runs(folded).sub("\0\\g<0>\0", folded)


def _kept(text: str, items: Sequence[re.Match[str]], keys: str) -> Iterator[str]:
    """The stretches of the text outside the words whose key is NUL, and what is between those."""
    start = at = 0
    while (gone := keys.find("\0", at)) >= 0:
        at = gone + 1
        while keys[at : at + 1] == "\0":
            at += 1
        yield text[start : items[gone].start()]
        start = items[at - 1].end()
    yield text[start:]


@ByIdentity
def _by_first_word(phrases: tuple[str, ...]) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
    """The phrases as folded words, by the first of these, each with its turn: longest first."""
    found = {
        tuple(item[0].casefold() for item in word_items(phrase).finditer(phrase))
        for phrase in phrases
    }
    longest_first = sorted(found - {()}, key=lambda phrase: (-len(phrase), phrase))
    by_first: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for turn, phrase in enumerate(longest_first):
        by_first.setdefault(phrase[0], []).append((turn, phrase))
    return by_first
