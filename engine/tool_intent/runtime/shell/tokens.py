"""The lexical parts of a shell command: what the scanner hands to the grammar and the walker."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

#: A command of more words and operators than this is not read: the parser's work is bounded so.
MAX_TOKENS: Final = 4_000
#: Nor is one whose words have more pieces (quotes, escapes, expansions) than this.
MAX_PIECES: Final = 40_000

#: Compound commands and substitutions may nest this deep, counted together.
MAX_NESTING: Final = 32


class RefusedError(Exception):
    """The text is past a limit, or no command that this reader is sure to read as bash does."""


class Piece(NamedTuple):
    """A stretch of a word.

    `text` is literal, `var` the value of a simple variable named by `text`, `sub` a command
    substitution, `any` an expansion whose value is not computed. `many` is set where even a
    quoted expansion may yield several words or none (`"$@"`). `scripts` run while expanding.
    """

    kind: Literal["text", "var", "sub", "any"]
    text: str
    quoted: bool = False
    many: bool = False
    scripts: tuple[Script, ...] = ()


class Token(NamedTuple):
    """A word, an operator or a redirection.

    `text` is a word's raw text where it is one unquoted literal ("" otherwise), or the operator.
    `reserved` marks a word that the grammar reads (`if`, `{`), `loose` a redirection after a
    compound command. A here-document keeps its body in `pieces`, `literal` if it was quoted.
    """

    kind: Literal["word", "operator", "redirect"]
    text: str
    pieces: tuple[Piece, ...] = ()
    reserved: bool = False
    loose: bool = False
    literal: bool = False


class Script(NamedTuple):
    """A list of commands, lexed; `depth` is how deep it stands in the text."""

    tokens: tuple[Token, ...]
    depth: int = 0


class Budget:
    """Counts what has been read of one command, however deeply nested."""

    __slots__ = ("pieces", "tokens")

    def __init__(self) -> None:
        self.tokens = MAX_TOKENS
        self.pieces = MAX_PIECES

    def token(self) -> None:
        """Count a word or operator; raises RefusedError when none is left."""
        self.tokens -= 1
        if self.tokens < 0:
            raise RefusedError("too many words and operators")

    def piece(self) -> None:
        """Count a piece of a word; raises RefusedError when none is left."""
        self.pieces -= 1
        if self.pieces < 0:
            raise RefusedError("too many quotes and expansions")
