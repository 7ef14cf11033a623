"""White space that says something, and white space that does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# An apostrophe, which stands behind a letter, opens no quotes; a letter that only says what kind of
# text follows does not make one of it. What is never closed takes the rest of the line, so that no
# character is looked at for each quote before it.
_QUOTED: Final = re.compile(
    r"""(?:(?<!\w)|(?<=\b[rbfuRBFU])|(?<=\b[rbfRBF]{2}))"""
    r"""(?:(?P<closed>"[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')|["'].*)""",
    re.DOTALL,
)


def parts(line: str) -> Iterator[tuple[str, bool]]:
    """A line in parts, in order, and for each whether it is a text in quotes, quotes and all."""
    start = 0
    for quoted in _QUOTED.finditer(line):
        if quoted["closed"] is not None:
            yield line[start : quoted.start()], False
            yield quoted["closed"], True
            start = quoted.end()
    yield line[start:], False


def stripped(line: str) -> str:
    """A line without white space, but for that within quotes."""
    if '"' not in line and "'" not in line:
        return "".join(line.split())
    return "".join(text if quoted else "".join(text.split()) for text, quoted in parts(line))
