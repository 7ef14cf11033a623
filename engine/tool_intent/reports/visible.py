"""Text that a model or a tool wrote, with nothing in it left to act unseen.

Code points that do not show (controls, ANSI's escape among them, formats such as bidirectional
overrides and joiners, surrogates, private use, fillers, odd spaces, runs of combining marks) are
taken out of the text and named.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from markupsafe import Markup, escape

_FILLERS = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
#: Combining marks in a row that a script may need; more draw over their neighbours.
_MOST_MARKS = 4


def segments(text: str) -> Iterator[tuple[str, str]]:
    """`text` in pieces: `("text", …)` that shows as it is, `("break", …)` for a line break,
    `("hidden", C)` for a code point that has to be named."""
    plain: list[str] = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.combining(char) else 0
        kind = _kind(char) if marks <= _MOST_MARKS else "hidden"
        if kind == "text":
            plain.append(char)
            continue
        if plain:
            yield "text", "".join(plain)
            plain.clear()
        yield kind, char
    if plain:
        yield "text", "".join(plain)


def _kind(char: str) -> str:
    if char.isascii() and char.isprintable():
        return "text"
    if char == "\n":
        return "break"
    if char == "\t":
        return "text"
    if char in _FILLERS or unicodedata.category(char) in _HIDDEN or _is_selector(char):
        return "hidden"
    return "hidden" if unicodedata.category(char) == "Zs" else "text"


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def code_point(char: str) -> str:
    """The name of a code point as people look it up: `U+202E`."""
    return f"U+{ord(char):04X}"


def _named(char: str) -> str:
    return unicodedata.name(char, "control or unassigned code point").capitalize()


def html(text: str) -> Markup:
    """`text` as HTML: markup escaped, what would not show named in an element of its own."""
    return Markup("").join(_html(kind, piece) for kind, piece in segments(text))


def flat(text: str) -> str:
    """`text` on one line without markup of its own, what would not show as `⟨U+202E⟩`."""
    return "".join(_span_piece(kind, piece) for kind, piece in segments(text))


def _html(kind: str, piece: str) -> Markup:
    if kind == "text":
        return escape(piece)
    if kind == "break":
        return Markup("\n")
    template = Markup('<span class="cp" title="{}">{}</span>')
    return template.format(_named(piece), code_point(piece))


def code(text: str, *, cell: bool = False) -> str:
    """`text` as one code span of Markdown, on one line, in which nothing is markup. `cell` is for
    tables, which split at each `|` before they look for code."""
    shown = flat(text).strip(" ")
    if cell:
        shown = shown.replace("|", "⟨U+007C⟩")
    shown = shown or "(blank)"
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _span_piece(kind: str, piece: str) -> str:
    if kind == "hidden":
        return f"⟨{code_point(piece)}⟩"
    return "⏎" if kind == "break" else piece.replace("\t", " ")
