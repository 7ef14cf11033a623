"""Which scripts a text is written in."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple


class _Table(NamedTuple):
    starts: list[int]
    ends: list[int]
    names: list[str]


def scripts(text: str) -> list[str]:
    """The names of the scripts of a text's letters, in order of first appearance.

    Names are Unicode's (`Latin`, `Old Italic`). Digits, punctuation, symbols, marks and letters
    that several scripts share (Common) count for none. Linear in the text.
    """
    if text.isascii():
        return ["Latin"] if text.lower() != text.upper() else []
    found: dict[str, None] = {}
    for char in dict.fromkeys(text):
        name = script(char)
        if name is not None:
            found[name] = None
    return list(found)


def script(char: str) -> str | None:
    """The script of one character, or None for what is no letter or is shared by scripts."""
    if char.isascii():
        return "Latin" if char.isalpha() else None
    table = _table()
    at = bisect_right(table.starts, ord(char)) - 1
    return table.names[at] if at >= 0 and ord(char) <= table.ends[at] else None


@lru_cache(maxsize=1)
def _table() -> _Table:
    from tool_intent.runtime import unicode_tables

    rows = sorted(
        (low, high, name)
        for name, _, table in (one.partition(":") for one in unicode_tables.SCRIPTS.split(";"))
        for low, high in unicode_tables.decoded(table)
    )
    return _Table([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
