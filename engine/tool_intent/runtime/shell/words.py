"""Expansion: what a word becomes, as far as the text alone decides it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tool_intent.runtime.shell.braces import expand_braces
from tool_intent.runtime.shell.tokens import Piece

#: A value that splits into more words than this counts as any number of words.
_MAX_SPLIT: Final = 1_000
#: The value of a variable by its name; None where the text does not decide it.
Lookup = Callable[[str], str | None]


class Word(NamedTuple):
    """A word after expansion.

    `text` is None where the text does not decide it; then `prefix` and `tail` are what it is
    known to begin and end with, `single` says that it is exactly one word, and `pattern` is the
    glob as written, if it is one.
    """

    text: str | None
    prefix: str = ""
    tail: str = ""
    single: bool = True
    pattern: str | None = None

    @property
    def may_be_flag(self) -> bool:
        """Whether it may stand for an option."""
        if self.text is not None:
            return len(self.text) > 1 and self.text[0] == "-"
        if self.pattern is not None and re.search(r"[^A-Za-z0-9=-]", self.tail):
            return False
        if not self.single and self.pattern is None:
            return True
        return self.prefix[:1] in ("", "-")


def known(text: str) -> Word:
    return Word(text, text, text)


#: A word, or any number of words, of which nothing is known.
ANYTHING: Final = Word(None, single=False)


def expand(pieces: Sequence[Piece], lookup: Lookup) -> list[Word]:
    """The words that `pieces`, one word as written, become."""
    alternatives = expand_braces(pieces)
    if alternatives is None:
        return [ANYTHING]
    return [word for parts in alternatives for word in _fields(parts, lookup, True)]


def expand_value(pieces: Sequence[Piece], lookup: Lookup) -> Word:
    """As `expand`, without braces and splitting: the value of an assignment."""
    quoted = [piece._replace(quoted=True) for piece in pieces]
    return (_fields(quoted, lookup, False) or [known("")])[0]


class _Field:
    """A word while it is put together."""

    __slots__ = ("glob", "many", "parts", "started")

    def __init__(self) -> None:
        self.parts: list[tuple[str | None, bool]] = []
        self.glob = self.many = self.started = False

    def add(self, text: str | None, quoted: bool) -> None:
        self.parts.append((text, quoted))
        self.started = self.started or quoted or bool(text) or text is None

    def word(self) -> Word:
        written = "".join(text or "" for text, _ in self.parts)
        bare = "".join(
            "_" * len(text or "") if quoted else text or "" for text, quoted in self.parts
        )
        unknown = any(text is None for text, _ in self.parts)
        glob = _glob(bare)
        if not unknown and glob < 0:
            return known(written)
        if unknown:
            return Word(
                None, self._edge(self.parts), self._edge(self.parts[::-1], True), not self.many
            )
        tail = written[max(bare.rfind(c) for c in "*?]") + 1 :]
        return Word(None, written[:glob], tail, False, written)

    @staticmethod
    def _edge(parts: list[tuple[str | None, bool]], back: bool = False) -> str:
        found: list[str] = []
        for text, quoted in parts:
            if text is None or (not quoted and _glob(text) >= 0):
                break
            found.append(text)
        return "".join(reversed(found) if back else found)


def _glob(text: str) -> int:
    """Where the first character of a glob stands, -1 if `text` is none."""
    bracket = text.find("[")
    if bracket >= 0 and "]" not in text[bracket:]:
        bracket = -1
    return min((at for at in (text.find("*"), text.find("?"), bracket) if at >= 0), default=-1)


def _fields(pieces: Sequence[Piece], lookup: Lookup, split: bool) -> list[Word]:
    field, done = _Field(), []
    for piece in pieces:
        if piece.kind == "text":
            field.add(piece.text, piece.quoted)
            continue
        value = _value(piece, lookup)
        if value is None or piece.quoted or not split:
            field.add(value, piece.quoted)
            field.many = field.many or piece.many or (value is None and not piece.quoted)
            continue
        chunks = re.split(r"[ \t\n]+", value, maxsplit=_MAX_SPLIT)
        if lookup("IFS") != " \t\n" or len(chunks) > _MAX_SPLIT:
            field.add(None, False)
            field.many = True
            continue
        for index, chunk in enumerate(chunks):
            if index and field.started:
                done.append(field.word())
                field = _Field()
            field.add(chunk, False)
    if field.started:
        done.append(field.word())
    return done


def _value(piece: Piece, lookup: Lookup) -> str | None:
    if piece.kind == "var":
        return lookup(piece.text)
    if piece.kind == "sub":
        text = _shown(piece)
        if text is not None and piece.quoted:
            return text
    return None


def _shown(piece: Piece) -> str | None:
    """The text of `$(cat <<'EOF' …)`, which is how agents write long messages."""
    tokens = [t for t in piece.scripts[0].tokens if (t.kind, t.text) != ("operator", "\n")]
    if len(tokens) != 2 or tokens[0].text != "cat" or tokens[1].text != "<<":
        return None
    if any(part.kind != "text" for part in tokens[1].pieces):
        return None
    return "".join(part.text for part in tokens[1].pieces).rstrip("\n")
