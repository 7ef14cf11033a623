"""The leaves of the syntax tree: texts, numbers, messages, the JSON values of examples."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from lark import Token, Tree

from tool_intent.rules import tree as t
from tool_intent.runtime.model import Json

Branch: TypeAlias = Tree[Token]
Report: TypeAlias = Callable[[t.Span, str, str], None]

#: Digits of a number, and of a duration; more would overflow a float or a clock.
MAX_DIGITS: Final = 400
MAX_DURATION_DIGITS: Final = 12

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}|(?P<wrong>.))', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class LeafBuilder:
    """Builds leaves.

    `lines` and `columns` are added to every position; `report` takes a span, a message and a help
    for each thing that is wrong; `expression` parses what stands between braces in a message and
    answers None where it is no expression.
    """

    def __init__(
        self,
        report: Report,
        expression: Callable[[str, t.Span], t.Condition | None],
        lines: int = 0,
        columns: int = 0,
    ) -> None:
        self._report = report
        self._expression = expression
        self._lines = lines
        self._columns = columns

    def span(self, at: Branch | Token) -> t.Span:
        """The place of a branch or token."""
        place: Any = at if isinstance(at, Token) else at.meta
        lines, columns = self._lines, self._columns
        return t.Span(
            place.line + lines,
            place.column + columns,
            place.end_line + lines,
            place.end_column + columns,
        )

    def message(self, branch: Branch) -> t.Message:
        """Neighbouring texts, joined by a space, split at their braces."""
        parts: list[str | t.Interpolation] = []
        for n, token in enumerate(tokens(branch)):
            for part in [" "] * (n > 0) + list(self._parts(token)):
                if isinstance(part, str) and parts and isinstance(parts[-1], str):
                    parts[-1] += part
                elif part != "":
                    parts.append(part)
        return t.Message(tuple(parts), span=self.span(branch))

    def _parts(self, token: Token) -> Iterator[str | t.Interpolation]:
        raw = str(token)[1:-1]
        end = 0
        for match in re.finditer(r"\{([^{}]*)\}", raw):
            yield self._unescape(token, raw[end : match.start()], end)
            end = match.end()
            inner = self._unescape(token, match[1], match.start() + 1)
            at = self._inside(token, match.start(), end)
            expression = self._expression(inner, at)
            if expression is None:
                self._brace(at)
            else:
                yield t.Interpolation(expression, span=at)
        rest = raw[end:]
        for stray in re.finditer(r"[{}]", rest):
            self._brace(self._inside(token, end + stray.start(), end + stray.end()))
        yield self._unescape(token, rest, end)

    def _brace(self, at: t.Span) -> None:
        self._report(
            at,
            "braces hold a path, a count, a tool or a context value",
            "write its name between them, as in `{path}`",
        )

    def text(self, token: Token) -> t.TextLiteral:
        return t.TextLiteral(self._unescape(token, str(token)[1:-1], 0), span=self.span(token))

    def _unescape(self, token: Token, raw: str, offset: int) -> str:
        """`raw`, which begins `offset` characters into the text of `token`, without escapes."""
        for match in _ESCAPE.finditer(raw):
            if match["wrong"]:
                at = self._inside(token, offset + match.start(), offset + match.end())
                shown = match["wrong"] if match["wrong"].isprintable() else "?"
                self._report(
                    at, f"`\\{shown}` is no escape", f"for a backslash write `\\\\{shown}`"
                )
                return raw
        if (len(raw) - len(raw.rstrip("\\"))) % 2:
            # The text goes on with a brace, or it would not end in half an escape.
            at = self._inside(token, offset + len(raw) - 1, offset + len(raw) + 1)
            self._report(
                at, "a backslash before a brace is no escape", "for a backslash write `\\\\`"
            )
            return raw
        value: str = json.loads(f'"{raw}"', strict=False)
        if _SURROGATE.search(value):
            self._report(self.span(token), "half of a surrogate pair is no character", "")
        return value

    def _inside(self, token: Token, start: int, end: int) -> t.Span:
        """The span of characters `start` to `end` of what stands between a token's quotes."""
        whole = self.span(token)
        first = whole.column + 1
        return t.Span(whole.line, first + start, whole.line, first + end)

    def number(self, token: Token) -> t.NumberLiteral:
        text = str(token)
        digits = text.replace("_", "")
        if len(digits) > MAX_DIGITS or math.isinf(float(digits)):
            self._report(self.span(token), "a number too large to compute with", "")
            digits = "0"
        value = float(digits) if "." in digits else int(digits)
        return t.NumberLiteral(value, text, span=self.span(token))

    def duration(self, token: Token) -> int:
        found = re.fullmatch(r"([0-9]+)([a-z]+)", str(token))
        if found is None or len(found[1]) > MAX_DURATION_DIGITS:
            self._report(self.span(token), "a duration has at most 12 digits", "")
            return 0
        return int(found[1]) * _MILLISECONDS[found[2]]

    def value(self, branch: Branch) -> Json:
        if branch.data == "object":
            return self._object(branch)
        if branch.data == "array":
            return [self.value(b) for b in branches(branch)]
        if branch.data == "string":
            return self.text(tokens(branch)[0]).value
        if branch.data == "number":
            return self.number(tokens(branch)[0]).value
        return {"true": True, "false": False, "null": None}[str(branch.data)]

    def _object(self, branch: Branch) -> Json:
        out: dict[str, Json] = {}
        for pair in branches(branch):
            token = tokens(pair)[0]
            key = self.text(token).value if token.type == "STRING" else str(token)
            if key in out:
                self._report(self.span(token), f"`{key}` is already given", "keep one of them")
            out[key] = self.value(branches(pair)[0])
        return out


def tokens(branch: Branch) -> list[Token]:
    """The tokens right under a branch."""
    return [c for c in branch.children if isinstance(c, Token)]


def branches(branch: Branch) -> list[Branch]:
    """The branches right under a branch."""
    return [c for c in branch.children if isinstance(c, Tree)]
