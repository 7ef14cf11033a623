"""Text functions of the rule language that count and compare words.

All are total, pure and linear in their texts, which are normalised already (`runtime.text`); case
is folded here. A *token* is a run of letters, marks and numbers, casefolded; an ASCII run in camel
case is split (`HTTPServer2` is `http`, `server2`); of scripts written without spaces a run of n > 1
characters gives its n - 1 bigrams. A *content word* is the stem of a token that is neither a stop
word nor a single ASCII letter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tool_intent.runtime.lexicon import ALIASES, CALL_WORDS, STOP_WORDS, stem
from tool_intent.runtime.wordchars import runs

#: The share of content words found in the call from which a text restates it.
RESTATED: Final = 0.75
#: The similarity of masked texts from which they resemble each other.
RESEMBLING: Final = 0.8

_CAMEL: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[。！？｡]+")
_QUOTED: Final = re.compile(r"`[^`]{1,200}`|\"[^\"]{1,200}\"|“[^”]{1,200}”|«[^»]{1,200}»")
_ASCII_VARIES: Final = re.compile(r"[0-9/\\]")
_EXTENSION: Final = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,7}\Z")
_MASK: Final = "¤"
#: Texts up to this length are remembered in the form they are compared in: a session's reasons are
#: compared with each other again and again.
_SHORT: Final = 1_000
#: Of ASCII: what `str.split` takes for white space, as what `bytes.split` does; and the rest that
#: is no letter or number.
_SPACED: Final = bytes(32 if chr(code).isspace() else code for code in range(256))
_SIGNS: Final = bytes(c for c in range(128) if not chr(c).isalnum() and not chr(c).isspace())


def words(text: str) -> int:
    """How many words: white-space separated pieces with a letter or number.

    In such a piece, every run of n characters of scripts written without spaces counts (n + 1) // 2
    words, and all else that has a letter or number one.
    """
    if text.isascii():
        return len(text.encode().translate(_SPACED, _SIGNS).split())
    return sum([_piece_words(piece) for piece in text.split()])


def tokens(text: str) -> list[str]:
    """The tokens, in order, with repetitions."""
    if text.isascii():
        return _ascii_tokens(runs(text).findall(text))
    out: list[str] = []
    for found in runs(text).finditer(text):
        run = found[0]
        if run.isascii():
            out += _ascii_tokens((run,))
        elif found.lastindex and len(run) > 1:
            out += [run[n : n + 2] for n in range(len(run) - 1)]
        else:
            out.append(run.casefold())
    return out


def content(found: Iterable[str]) -> set[str]:
    """The distinct content words among tokens."""
    return {
        stem(token)
        for token in set(found) - STOP_WORDS
        if not (len(token) == 1 and token.isascii() and not token.isdigit())
    }


def distinct_tokens(text: str) -> set[str]:
    """The tokens of a text, without order or repetition."""
    if text.isascii():
        return set(_ascii_tokens(set(runs(text).findall(text))))
    kinds = {found[0]: found.lastindex for found in runs(text).finditer(text)}
    out = set(_ascii_tokens(run for run in kinds if run.isascii()))
    for run, unspaced in kinds.items():
        if not run.isascii():
            out |= (
                {run[n : n + 2] for n in range(max(1, len(run) - 1))}
                if unspaced
                else {run.casefold()}
            )
    return out


def content_words(text: str) -> set[str]:
    """The distinct content words of a text."""
    return content(distinct_tokens(text))


def length(text: str) -> int:
    """How many code points."""
    return len(text)


def lower(text: str) -> str:
    """The text in lower case."""
    return text.lower()


def sentences(text: str) -> int:
    """How many pieces with a letter or number remain when a text is cut at sentence ends.

    A `.`, `!` or `?` before white space ends one, unless a lower-case letter follows the space, and
    so does a run of their wide forms.
    """
    count, start = 0, 0
    for end in _SENTENCE_END.finditer(text):
        following = text[end.end() : end.end() + 2].strip()
        if end[0][0] in ".!?" and following[:1].islower():
            continue
        count += _has_word(text[start : end.start()])
        start = end.end()
    return count + _has_word(text[start:])


def overlap(left: Iterable[str], right: Iterable[str]) -> int:
    """How many distinct content words two token lists share."""
    return len(content(left) & content(right))


def jaccard(left: Iterable[str], right: Iterable[str]) -> float:
    """Shared content words by all content words of two token lists, 0 to 1; 0 if there are none."""
    one, two = content(left), content(right)
    return len(one & two) / len(one | two) if one or two else 0.0


def novel(text: str, *known: str) -> int:
    """How many distinct content words of `text` are in none of the known texts."""
    found = content(tokens(text))
    for other in known:
        found -= content(tokens(other))
    return len(found)


def call_words(call: Iterable[str]) -> set[str]:
    """What a call's own texts say: their content words, and what its commands are called in
    prose."""
    found = {token for part in call for token in distinct_tokens(part)}
    return content(found) | in_prose(found)


def in_prose(found: Set[str]) -> set[str]:
    """The content words of what commands among tokens are called in prose."""
    return content(word for token in ALIASES.keys() & found for word in ALIASES[token].split())


def similarity(left: str, right: str) -> float:
    """The Dice coefficient of character bigrams, 0 to 1.

    `2 * shared / (bigrams of one + bigrams of the other)`, as multisets, of the casefolded texts
    with white space squeezed. Texts under two characters are 1 if equal and not empty, else 0.
    """
    one, two = _squeezed(left), _squeezed(right)
    if one == two:
        return 1.0 if one else 0.0
    if min(len(one), len(two)) < 2:
        return 0.0
    first, second = Counter(pairwise(one)), Counter(pairwise(two))
    return 2 * (first & second).total() / (len(one) + len(two) - 2)


def resembles(left: str, right: str) -> bool:
    """Whether the similarity of two texts is 0.8 or more when what varies in a template is masked.

    Masked are quotes of up to 200 characters, and words that hold a digit, a slash, or an extension
    (numbers, ids, hashes, paths). Texts of nothing else are compared as they are. An empty text
    resembles none.
    """
    one, two = _template(left), _template(right)
    if not one.replace(_MASK, "").strip() or not two.replace(_MASK, "").strip():
        one, two = _squeezed(left), _squeezed(right)
    if one == two:
        return bool(one)
    total = len(one) + len(two) - 2
    # Texts whose lengths differ that much share too few bigrams, whichever these are.
    if 2 * min(len(one), len(two)) - 2 < RESEMBLING * total:
        return False
    first, second = _bigrams(one), _bigrams(two)
    # Each of the distinct bigrams that the other lacks is one that they do not share.
    common = len(first.keys() & second.keys())
    at_most = min(len(one) - 1 - len(first) + common, len(two) - 1 - len(second) + common)
    if min(len(one), len(two)) < 2 or 2 * at_most < RESEMBLING * total:
        return False
    return 2 * (first & second).total() / total >= RESEMBLING


def digest(texts: Iterable[str]) -> str:
    """A short text that stands for several: 32 hexadecimal digits, of BLAKE2."""
    from hashlib import blake2b

    found = blake2b(digest_size=16)
    for text in texts:
        found.update(b"%d:" % len(text))
        found.update(text.encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def restates(text: str, call: Iterable[str]) -> bool:
    """Whether a text says nothing beyond a call's own texts (tool, names, arguments).

    True if at least 75 % of its distinct content words, those left out that only speak of calling
    a tool ("run", "command", "file"), are content words of the call or what its commands are called
    in prose ("list" for `ls`); so also if none is left. A text without tokens restates nothing.
    """
    return says_no_more(text, call_words(call))


def says_no_more(text: str, known: Set[str]) -> bool:
    """Whether a text restates a call that says what is `known`."""
    if not _has_word(text):
        return False
    rest = content_words(text) - CALL_WORDS
    return len(rest & known) >= RESTATED * len(rest)


def distinct(texts: Sequence[str]) -> float:
    """Different texts by all texts, 0 to 1; case and white space aside. 1 for an empty list."""
    return len({_squeezed(text) for text in texts}) / len(texts) if texts else 1.0


def _ascii_tokens(found: Iterable[str]) -> list[str]:
    """The tokens of runs of ASCII letters and numbers."""
    out: list[str] = []
    for run in found:
        if run.islower() or run.isdigit():
            out.append(run)
        else:
            out += [part.lower() for part in _CAMEL.findall(run)]
    return out


def _piece_words(piece: str) -> int:
    if piece.isascii():
        return int(_has_word(piece))
    count, spaced = 0, 0
    for found in runs(piece).finditer(piece):
        if found.lastindex:
            count += (len(found[0]) + 1) // 2
        else:
            spaced = 1
    return count + spaced


def _has_word(text: str) -> bool:
    return runs(text).search(text) is not None


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


def _template(text: str) -> str:
    """A text squeezed, with what varies masked; those of everyday length are remembered."""
    return _short_template(text) if len(text) <= _SHORT else _squeezed(_masked(text))


@lru_cache(maxsize=512)
def _short_template(text: str) -> str:
    return _squeezed(_masked(text))


def _bigrams(text: str) -> Counter[tuple[str, str]]:
    return _short_bigrams(text) if len(text) <= _SHORT else Counter(pairwise(text))


@lru_cache(maxsize=512)
def _short_bigrams(text: str) -> Counter[tuple[str, str]]:
    return Counter(pairwise(text))


def _masked(text: str) -> str:
    text = _QUOTED.sub(_MASK, text)
    return " ".join(_MASK if _varies(piece) else piece for piece in text.split())


def _varies(piece: str) -> bool:
    if piece.isascii():
        if _ASCII_VARIES.search(piece):
            return True
    elif "/" in piece or "\\" in piece or any(char.isdigit() for char in piece):
        return True
    # Only the end is looked at, so that a long piece costs no more than a short one.
    return _EXTENSION.search(piece.rstrip(".,;:!?)]")[-12:]) is not None
