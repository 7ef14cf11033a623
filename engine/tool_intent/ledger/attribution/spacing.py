"""White space that says something, and white space that does not."""

from __future__ import annotations

import re
from typing import Final

#: A text in quotes within a line. An apostrophe, which stands behind a letter, opens none; a letter
#: that only says which kind of text follows does not make one of it.
QUOTED: Final = (
    r"""(?:(?<!\w)|(?<=\b[rbfuRBFU])|(?<=\b[rbfRBF]{2}))"""
    r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
)
_QUOTED: Final = re.compile(QUOTED)


def stripped(line: str) -> str:
    """A line without white space, but for that within quotes."""
    if '"' not in line and "'" not in line:
        return "".join(line.split())
    parts, start = [], 0
    for quoted in _QUOTED.finditer(line):
        parts += ["".join(line[start : quoted.start()].split()), quoted[0]]
        start = quoted.end()
    return "".join([*parts, *line[start:].split()])
