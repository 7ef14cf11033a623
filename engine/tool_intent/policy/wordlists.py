"""Word lists: files of phrases that rules look for."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from tool_intent.policy import sources
from tool_intent.policy.encoding import decode, reads_alike
from tool_intent.policy.positions import Report, Span
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.text import normalise

MOST_LINES: Final = 50_000


class WordList(NamedTuple):
    """The phrases of a file, in its order. `digest` is the SHA-256 of its bytes; a list that is
    not `sound` lacks some. It lies within one of `held`, if there are any."""

    path: str
    shown: str
    digest: str
    phrases: tuple[str, ...]
    sound: bool
    held: tuple[str, ...] = ()


def read_list(
    data: bytes, path: str, shown: str, report: Report, held: tuple[str, ...]
) -> WordList:
    """The phrases in the file at `path`, whose bytes are `data`: one a line, `#` starts a comment
    line, blank lines say nothing.

    What is wrong with them goes to `report`. The file lies within one of `held`, if there are any.
    """
    text = decode(data, shown, "words", report)
    if text is None or not reads_alike(text, shown, "words", report):
        return WordList(path, shown, sources.fingerprint(data), (), False, held)
    phrases: dict[str, None] = {}
    sound = True
    for number, line in enumerate(text.split("\n"), 1):
        if number > MOST_LINES and line.strip():
            report.error(
                "words/lines", shown, Span(number, 1, number, len(line) + 1),
                f"a word list has at most {MOST_LINES:,} lines", "split it in two",
            )  # fmt: skip
            sound = False
            break
        phrase = line.strip()
        if not phrase or phrase.startswith("#"):
            continue
        if _is_short(phrase):
            column = line.index(phrase) + 1
            report.error(
                "words/phrase", shown, Span(number, column, number, column + len(phrase)),
                "a phrase has at least two characters: this would be found nearly everywhere",
                "write a whole word, or remove the line",
            )  # fmt: skip
            sound = False
        phrases[phrase] = None
    return WordList(path, shown, sources.fingerprint(data), tuple(phrases), sound, held)


def _is_short(phrase: str) -> bool:
    text = phrase if phrase.isascii() else normalise(phrase)
    return text is None or len(text) < 2


def near(path: str, name: str) -> str | None:
    """The file in the folder of `path` that was most likely meant by `name`, named alike."""
    try:
        there = os.listdir(os.path.dirname(path))
    except (OSError, ValueError):
        return None
    found = nearest(os.path.basename(name), [n for n in there if not n.startswith(".")])
    return found and os.path.join(os.path.dirname(name), found)
