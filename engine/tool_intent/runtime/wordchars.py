"""Which characters make words, from the frozen tables; texts of ASCII characters need no table.

Some scripts are written without spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer and
Myanmar. Their characters are never joined to a run of others.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_UNSPACED: Final = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
_CONNECTORS: Final = "_\u203f\u2040\u2054\ufe33\ufe34\ufe4d\ufe4e\ufe4f\uff3f"
_ASCII_RUN: Final = re.compile(r"[A-Za-z0-9]+")
_ASCII_WORD: Final = re.compile(r"\w+", re.ASCII)
_ASCII_NAME: Final = re.compile(r"\w+(?:[.\-]+\w+)*", re.ASCII)


def runs(text: str) -> re.Pattern[str]:
    """Finds the runs of letters, marks and numbers of `text`; group 1 is an unspaced run."""
    return _ASCII_RUN if text.isascii() else _compiled("runs")


def word_runs(text: str) -> re.Pattern[str]:
    """Finds what may have no neighbour within it: runs as above, joined by `_`; none unspaced."""
    return _ASCII_WORD if text.isascii() else _compiled("words")


def name_runs(text: str) -> re.Pattern[str]:
    """As `word_runs`, but joined by inner dots and hyphens too: `a-b.test.py` is one."""
    return _ASCII_NAME if text.isascii() else _compiled("names")


def word_items(text: str) -> re.Pattern[str]:
    """Finds word runs and single unspaced characters."""
    return _ASCII_WORD if text.isascii() else _compiled("items")


@lru_cache(maxsize=4)
def _compiled(what: str) -> re.Pattern[str]:
    spaced, unspaced = _classes()
    word = f"[{spaced}{_CONNECTORS}]"
    sources = {
        "runs": f"[{spaced}]+|([{unspaced}]+)",
        "words": f"{word}+",
        "names": f"{word}+(?:[.\\-]+{word}+)*",
        "items": f"{word}+|[{unspaced}]",
    }
    return re.compile(sources[what])


@lru_cache(maxsize=1)
def _classes() -> tuple[str, str]:
    """The insides of the classes of spaced and of unspaced word characters."""
    from tool_intent.runtime import unicode_tables

    spaced, unspaced = [], []
    for low, high in unicode_tables.decoded(unicode_tables.WORD):
        at = low
        for start, end in _UNSPACED:
            if start > high or end < at:
                continue
            if start > at:
                spaced.append((at, start - 1))
            unspaced.append((max(at, start), min(high, end)))
            at = end + 1
        if at <= high:
            spaced.append((at, high))
    kept = [(low, high) for low, high in spaced if not (low == high and chr(low) in _CONNECTORS)]
    return _inside(kept), _inside(unspaced)


def _inside(ranges: list[tuple[int, int]]) -> str:
    return "".join(
        re.escape(chr(low)) if low == high else f"{re.escape(chr(low))}-{re.escape(chr(high))}"
        for low, high in ranges
    )
