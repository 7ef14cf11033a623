"""Brace expansion: `{rm,-rf,x}`, `a{1..3}b`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tool_intent.runtime.shell.tokens import Piece

#: More words than this from one are not listed.
MAX_WORDS: Final = 256
_SEQUENCE: Final = re.compile(
    r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?|([A-Za-z])\.\.([A-Za-z])(?:\.\.(-?\d{1,9}))?"
)
# Stand-ins for pieces that are no plain text; text that has such characters is not expanded.
_FIRST: Final = 0xF0000


class _TooManyError(Exception):
    pass


def expand_braces(pieces: Sequence[Piece]) -> list[Sequence[Piece]] | None:
    """The words that brace expansion makes of one, or None where they are too many to list."""
    plain = [p for p in pieces if p.kind == "text" and not p.quoted]
    if not any("{" in p.text for p in plain) or not any("}" in p.text for p in plain):
        return [pieces]
    if len(pieces) > 60_000 or any(ord(c) >= _FIRST for p in plain for c in p.text):
        return None
    template = "".join(
        p.text if p.kind == "text" and not p.quoted else chr(_FIRST + n)
        for n, p in enumerate(pieces)
    )
    if len(template) > 4096 or template.count("{") > 16:
        return None
    try:
        return [_pieces(word, pieces) for word in _expand(template)]
    except _TooManyError:
        return None


def _pieces(word: str, pieces: Sequence[Piece]) -> list[Piece]:
    out: list[Piece] = []
    for part in re.split(f"([{chr(_FIRST)}-{chr(0x10FFFF)}])", word):
        if part and ord(part[0]) >= _FIRST:
            out.append(pieces[ord(part[0]) - _FIRST])
        elif part:
            out.append(Piece("text", part))
    return out


def _expand(text: str) -> list[str]:
    start = text.find("{")
    while start >= 0:
        found = _alternatives(text, start)
        if found is not None:
            alternatives, end = found
            rest = _expand(text[end:])
            if len(alternatives) * len(rest) > MAX_WORDS:
                raise _TooManyError
            return [text[:start] + middle + tail for middle in alternatives for tail in rest]
        start = text.find("{", start + 1)
    return [text]


def _alternatives(text: str, start: int) -> tuple[list[str], int] | None:
    """What the brace at `start` stands for and where it ends; None if it is plain text."""
    depth, commas, dots, at = 0, [start], False, start
    for at in range(start + 1, len(text)):
        char = text[at]
        if char == "{":
            depth += 1
        elif char == "}" and depth:
            depth -= 1
        elif depth:
            continue
        elif char == ",":
            commas.append(at)
        elif char == "." and text[at + 1 : at + 2] == "." and text[at + 2 : at + 3] != "}":
            dots = True
        elif char == "}" and (dots or len(commas) > 1):
            # As in bash, a brace that closes nothing to expand is passed over.
            break
    else:
        return None
    if len(commas) > 1:
        ends = [*commas[1:], at]
        words = [w for a, b in zip(commas, ends, strict=True) for w in _expand(text[a + 1 : b])]
        if len(words) > MAX_WORDS:
            raise _TooManyError
        return words, at + 1
    dotted = _dotted(text[start + 1 : at])
    return None if dotted is None else (dotted, at + 1)


def _dotted(inner: str) -> list[str] | None:
    """What a brace without commas that holds dots stands for; None if it is plain text."""
    sequence = _SEQUENCE.fullmatch(inner)
    if sequence:
        return _sequence(sequence)
    # Dots that make no sequence: bash keeps the braces, unless there are some to expand within.
    within = _expand(inner)
    return within if within != [inner] else None


def _sequence(found: re.Match[str]) -> list[str]:
    first, last, step, start, stop, stride = found.groups()
    letters = start is not None
    low, high = (ord(start), ord(stop)) if letters else (int(first), int(last))
    by = abs(int(stride or step or 1)) or 1
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    if len(numbers) > MAX_WORDS:
        raise _TooManyError
    if letters:
        return [chr(n) for n in numbers]
    width = (
        max(len(first), len(last)) if re.match(r"-?0\d", first) or re.match(r"-?0\d", last) else 0
    )
    return [f"{n:0{width}d}" for n in numbers]
