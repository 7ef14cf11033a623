"""Lines laid out anew: text that says the same with other spaces, breaks and formatter's marks.

A line of the new text is only taken for an old one in another layout if each of its tokens stands
in the old text, one after the other and with nothing between or beside them lost. What formatters
add and take away on their own is excepted, at the places where it changes no meaning: the comma
behind the last element before a break, brackets around a whole expression, a semicolon at the end
of a line, and the kind of quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tool_intent.ledger.attribution.alignment import aligned
from tool_intent.ledger.attribution.spacing import parts

#: Tokens of both sides of a change beyond which no layout is compared.
MOST_TOKENS: Final = 200_000
#: Brackets and commas in a row beyond which it is not told any more what stands beside them.
_FURTHEST: Final = 64

# What stands in quotes is one token, white space and all, whatever its quotes are.
# A script without spaces between its words is broken anywhere: each of its characters is a token.
_TOKEN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|\S")
#: What an expression may begin after, and end before.
_OPENS_EXPRESSION: Final = frozenset((
    "=", "(", "[", "{", ",", ":", ";", ">", "&", "|", "return", "in", "not", "and", "or", "if",
    "elif", "while", "yield", "await", "assert", "del", "for", "else", "case", "lambda", "typeof",
    "throw", "import", "with",
))  # fmt: skip
_CLOSES_EXPRESSION: Final = frozenset((
    ")", "]", "}", ",", ":", ";", "=", "&", "|", "?", "{", "and", "or", "if", "else", "in", "for",
    "as", "is", "not", "from",
))  # fmt: skip


class Token(NamedTuple):
    """A word, a sign or a text in quotes, and the number of the line that it stands in."""

    text: str
    line: int


class Relaid(NamedTuple):
    """A line that is only laid out anew: the old line that most of it comes from."""

    source: int


class Changed(NamedTuple):
    """A line that says something else: the old line that it has most in common with, if any."""

    source: int | None


def compared(old: Sequence[str], new: Sequence[str], after: str = "") -> list[Relaid | Changed]:
    """What each line of `new` is, where `new` stands in the place of `old`; `after` is the line
    that both stand before."""
    a, b = _tokens([*old, after]), _tokens([*new, after])
    if not a or len(a) + len(b) > MOST_TOKENS:
        return [Changed(None)] * len(new)
    pairs = [
        (i, j)
        for i, j in aligned([t.text for t in a], [t.text for t in b], _tells)
        if (a[i].line == len(old)) == (b[j].line == len(new))
    ]
    return _Comparison(a, b, pairs).lines(len(new))


def _tokens(lines: Iterable[str]) -> list[Token]:
    return [Token(text, n) for n, line in enumerate(lines) for text in _texts(line)]


def _texts(line: str) -> Iterator[str]:
    for text, quoted in parts(line):
        if quoted:
            yield f"'{text[1:-1]}'"
        else:
            yield from _TOKEN.findall(text.replace('"', "'"))


def _tells(token: str) -> bool:
    return len(token) > 1


class _Comparison:
    def __init__(self, a: list[Token], b: list[Token], pairs: list[tuple[int, int]]) -> None:
        self.a, self.b = a, b
        self.origin = {j: i for i, j in pairs}
        kept = {i for i, _ in pairs}
        self.lost = [n not in kept and not _is_layout(a, n) for n in range(len(a))]

    def lines(self, count: int) -> list[Relaid | Changed]:
        spans: list[list[int]] = [[] for _ in range(count + 1)]
        for j, token in enumerate(self.b):
            spans[token.line].append(j)
        found: list[Relaid | Changed] = []
        for span in spans[:count]:
            before = found[-1] if found else None
            found.append(self._line(span, before))
        return found

    def _line(self, span: list[int], before: Relaid | Changed | None) -> Relaid | Changed:
        sources = [(self.origin[j], j) for j in span if j in self.origin]
        new = [j for j in span if j not in self.origin and not _is_layout(self.b, j)]
        if not sources:
            # Brackets that a formatter gave a line of their own stand with what they enclose.
            return before if span and not new and isinstance(before, Relaid) else Changed(None)
        shares: Counter[int] = Counter()
        for i, _ in sources:
            shares[self.a[i].line] += len(self.a[i].text)
        source = shares.most_common(1)[0][0]
        whole = not new and self._whole(sources[0][0], sources[-1][0])
        return Relaid(source) if whole else Changed(source)

    def _whole(self, first: int, last: int) -> bool:
        """Whether nothing was lost between two old tokens, nor beside them in their lines."""
        return (
            not any(self.lost[first : last + 1])
            and not self._lost_beside(first, -1)
            and not self._lost_beside(last, 1)
        )

    def _lost_beside(self, at: int, step: int) -> bool:
        for n in range(at + step, at + step * _FURTHEST, step):
            if not 0 <= n < len(self.a) or self.a[n].line != self.a[at].line:
                return False
            if self.lost[n]:
                return True
            if not _is_layout(self.a, n):
                return False
        return True


def _is_layout(tokens: Sequence[Token], n: int) -> bool:
    """Whether a formatter may have put this token here, or may take it away from here."""
    token = tokens[n]
    before = tokens[n - 1] if n else None
    after = tokens[n + 1] if n + 1 < len(tokens) else None
    ends_line = after is None or after.line != token.line
    match token.text:
        case ";":
            return ends_line or (after is not None and after.text == "}")
        case "\\":
            return ends_line
        case ",":
            return ends_line and after is not None and after.text in (")", "]", "}")
        case "(":
            starts_line = before is None or before.line != token.line
            return starts_line or (before is not None and before.text in _OPENS_EXPRESSION)
        case ")":
            return ends_line or (after is not None and after.text in _CLOSES_EXPRESSION)
        case _:
            return False
