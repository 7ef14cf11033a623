r"""Writing the tree of a regular expression for RE2, with `\w`, `\d` and `\s` spelt out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from tool_intent.rules.regex_tree import (
    Alternate,
    Bracket,
    Concat,
    Group,
    Node,
    Opaque,
    Perl,
    Repeat,
    Span,
    perl_ranges,
)
from tool_intent.runtime.stand_ins import DIGIT, FOLDING, LETTER, OTHER, SPACE

# White_Space has the vertical tab, which RE2's own `\s` has not; and no class that is negated here
# holds a character beyond ASCII, where folding could bring `k` or `s` back in.
_ASCII: Final = {
    "w": "0-9A-Za-z_",
    "W": r"\x00-/:-@\[-\^`\{-\x7F",
    "d": "0-9",
    "D": r"\x00-/:-\x7F",
    "s": r"\t-\r ",
    "S": r"\x00-\x08\x0E-\x1F!-\x7F",
}
_STANDING: Final = {
    "w": f"{DIGIT}-{LETTER}{FOLDING}",
    "W": f"{OTHER}-{SPACE}",
    "d": DIGIT,
    "D": f"{LETTER}-{SPACE}{FOLDING}",
    "s": SPACE,
    "S": f"{DIGIT}-{OTHER}{FOLDING}",
}

Texts: TypeAlias = Literal["all", "ascii", "stand-ins"]


def emit(node: Node, texts: Texts = "all") -> str:
    r"""The tree as RE2 text, for all texts, for those of ASCII, or for those with stand-ins (see
    `runtime.stand_ins`), where what `\w`, `\d` and `\s` hold is little."""
    return "".join(_written(node, texts))


def _written(node: Node, texts: Texts) -> Iterator[str]:
    if isinstance(node, Concat):
        for item in node.items:
            yield from _written(item, texts)
    elif isinstance(node, Alternate):
        for n, branch in enumerate(node.branches):
            yield "|" if n else ""
            yield from _written(branch, texts)
    elif isinstance(node, Group):
        yield node.head
        yield from _written(node.body, texts)
        yield ")"
    elif isinstance(node, Repeat):
        yield from _written(node.body, texts)
        yield node.text
    elif isinstance(node, Perl):
        yield from ("[", _perl(node.letter, texts), "]")
    elif isinstance(node, Bracket):
        yield "[^" if node.negated else "["
        yield from (_item(item, texts) for item in node.items)
        yield "]"
    else:
        yield node.text


def _item(item: Perl | Opaque | Span, texts: Texts) -> str:
    return _perl(item.letter, texts) if isinstance(item, Perl) else item.text


@lru_cache(maxsize=32)
def _perl(letter: str, texts: Texts) -> str:
    if texts == "all":
        return "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in perl_ranges(letter))
    return _ASCII[letter] + (_STANDING[letter] if texts == "stand-ins" else "")
