"""Rule text to syntax tree, or to every error in it at once."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from tool_intent.rules import tree as t
from tool_intent.rules.build import MAX_DEPTH, Builder, too_deep
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.leaves import branches
from tool_intent.rules.slips import explain

MAX_BYTES: Final = 1 << 20
MAX_RULES: Final = 5_000
#: Errors of one file that are told; after them reading stops.
MAX_ERRORS: Final = 200
CODE: Final = "rules/parse"

# A line that begins so begins a statement, whatever went before it was worth.
_HEAD = re.compile(
    r"^[ \t]*(?:rule|words|define|option)\b(?![ \t]*(?:[-(.,\[\])<>!:]|==|\+|(?:and|or|not|in)\b))",
    re.MULTILINE,
)
_REMARK = re.compile(r"[ \t\r]*(?:#.*)?")


class Parsed(NamedTuple):
    """What could be read: every statement that has no error, and the names that the others seem
    to have meant to give."""

    tree: t.RuleFile
    diagnostics: tuple[Diagnostic, ...]
    lost: frozenset[str]


def parse_rules(
    text: str,
    file: str,
    *,
    line_offset: int = 0,
    column_offset: int = 0,
    max_rules: int | None = MAX_RULES,
) -> tuple[t.RuleFile | None, tuple[Diagnostic, ...]]:
    """Parse a rule file, or a `rules:` block that begins `line_offset` lines down and
    `column_offset` columns in.

    Returns the tree and no diagnostics, or None and all errors, by position; it raises nothing.
    `max_rules` is None for files above repo rank, which may be of any size too.
    """
    parsed = parse_partly(
        text, file, line_offset=line_offset, column_offset=column_offset, max_rules=max_rules
    )
    return (None if parsed.diagnostics else parsed.tree), parsed.diagnostics


def parse_partly(
    text: str,
    file: str,
    *,
    line_offset: int = 0,
    column_offset: int = 0,
    max_rules: int | None = MAX_RULES,
) -> Parsed:
    """As `parse_rules`, but with the statements that are sound where others are not: for editors,
    and for reporting what is wrong with both at once. Never judge calls by a partial tree."""
    reader = _Reader(text, file, line_offset, column_offset)
    if max_rules is not None and reader.too_long():
        return Parsed(t.RuleFile(()), tuple(reader.diagnostics), frozenset())
    statements: list[t.AnyStatement] = []
    trailing: tuple[str, ...] = ()
    lost: set[str] = set()
    rules = 0
    for start, end in _blocks(text):
        if len(reader.diagnostics) >= MAX_ERRORS:
            break
        found = reader.block(start, end)
        if found is None:
            lost |= set(re.findall(r"(?:words|define|option)[ \t]+(\w+)", text[start:end]))
            continue
        statements += found[0]
        trailing = found[1]
        rules += sum(isinstance(s, t.Rule) for s in found[0])
        if max_rules is not None and rules > max_rules:
            reader.too_many(statements[-1].span, max_rules)
            break
    return Parsed(t.RuleFile(tuple(statements), trailing), reader.sorted(), frozenset(lost))


def parse_condition(
    text: str, file: str, line_offset: int = 0, column_offset: int = 0
) -> tuple[t.Condition | None, tuple[Diagnostic, ...]]:
    """Parse the condition of a `when:`, at an offset in its file as for `parse_rules`."""
    reader = _Reader(text, file, line_offset, column_offset)
    condition = None if reader.too_long() else reader.condition()
    return (None if reader.diagnostics else condition), reader.sorted()


class _Reader:
    """One text, and what was found wrong with it."""

    def __init__(self, text: str, file: str, line_offset: int, column_offset: int) -> None:
        self._text = text
        self._file = file
        self._lines = line_offset
        self._columns = column_offset
        self._read = (0, 0)
        self.diagnostics: list[Diagnostic] = []

    def sorted(self) -> tuple[Diagnostic, ...]:
        """The errors by position."""
        return tuple(sorted(self.diagnostics, key=lambda d: (d.line, d.column)))

    def too_long(self) -> bool:
        """Whether the text is over the cap; says so."""
        size = len(self._text.encode("utf-8", "surrogatepass"))
        if size > MAX_BYTES:
            at = t.Span(1 + self._lines, 1 + self._columns, 1 + self._lines, 2 + self._columns)
            self.report(at, "a rule file holds at most 1 MiB", "split it")
        return size > MAX_BYTES

    def too_many(self, at: t.Span, most: int) -> None:
        """Says that the rule at `at` is one too many."""
        self.report(at, f"a file holds at most {most} rules", "split it")

    def report(self, at: t.Span, message: str, help: str) -> None:
        """Note an error at a place of the file."""
        if len(self.diagnostics) >= MAX_ERRORS:
            return
        self.diagnostics.append(Diagnostic(CODE, "error", self._file, *at, message, help))

    def block(self, start: int, end: int) -> tuple[list[t.AnyStatement], tuple[str, ...]] | None:
        """The statements of a block and the comments after them, or None if it has an error."""
        lines = self._line_of(start)
        errors = len(self.diagnostics)
        root = self._parse(self._text[start:end], "start", lines)
        if root is None:
            return None
        comments = list(_noted.comments)
        builder = self._builder(lines)
        statements = [builder.statement(b) for b in branches(root)]
        if len(self.diagnostics) > errors:
            return None
        return _with_comments(statements, comments, lines)

    def condition(self) -> t.Condition | None:
        """The whole text as a condition, or None if it has an error."""
        root = self._parse(self._text, "cond", self._lines)
        return None if root is None else self._builder(self._lines).condition(branches(root)[0])

    def _builder(self, lines: int) -> Builder:
        return Builder(self.report, self._interpolated, lines, self._columns)

    def _interpolated(self, text: str, at: t.Span) -> t.Condition | None:
        if "#" in text:
            return None
        inner = _Reader(text, self._file, at.line - 1, at.column)
        condition = inner.condition()
        return None if inner.diagnostics else condition

    def _parse(self, text: str, start: str, lines: int) -> Tree[Token] | None:
        _noted.comments = []
        try:
            root = _lark().parse(text, start=start)
        except UnexpectedInput as error:
            self._explain(error, text, lines)
            return None
        deep = too_deep(root)
        if deep is None:
            return root
        at = Builder(self.report, self._interpolated, lines, self._columns).span(deep)
        self.report(
            at, f"a condition nests at most {MAX_DEPTH} deep", "name a part of it with `define`"
        )
        return None

    def _explain(self, error: UnexpectedInput, text: str, lines: int) -> None:
        text = _without_remarks(text)
        stop = min(error.pos_in_stream or 0, len(text))
        if isinstance(error, UnexpectedToken) and error.token.type == "$END":
            stop = len(text)
        found = explain(text, stop, _accepted(error))
        line, column = _position(text, found.start)
        end_line, end_column = _position(text, max(found.end, found.start))
        if (end_line, end_column) == (line, column):
            end_column += 1
        self.report(
            t.Span(
                line + lines,
                column + self._columns,
                end_line + lines,
                end_column + self._columns,
            ),
            found.message,
            found.help,
        )

    def _line_of(self, offset: int) -> int:
        """How many lines of the file precede `offset`; offsets come in rising order."""
        counted, lines = self._read
        lines += self._text.count("\n", counted, offset)
        self._read = (offset, lines)
        return lines + self._lines


def _accepted(error: UnexpectedInput) -> frozenset[str]:
    """The terminals the grammar would have taken where the parser stopped."""
    # The sets that Lark's own messages show leave out keywords; its parser's state knows them.
    stopped: InteractiveParser = error.interactive_parser
    return frozenset(stopped.accepts())  # type: ignore[no-untyped-call]


def _position(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of each statement with the comments above it, and of what precedes the first."""
    start = 0
    for head in _HEAD.finditer(text):
        cut = _above(text, head.start(), start)
        if text[start:cut].strip():
            yield start, cut
            start = cut
    yield start, len(text)


def _above(text: str, head: int, least: int) -> int:
    """Where the comments and blank lines right above offset `head` begin."""
    while head > least:
        line = text.rfind("\n", 0, head - 1) + 1
        if line < least or not _REMARK.fullmatch(text, line, head - 1):
            break
        head = line
    return head


def _without_remarks(text: str) -> str:
    """The text up to the end of its last line that says something."""
    end = len(text)
    while end > 0:
        line = text.rfind("\n", 0, end) + 1
        if not _REMARK.fullmatch(text, line, end):
            break
        end = line - 1
    return text[: max(end, 0)].rstrip()


def _with_comments(
    statements: list[t.AnyStatement], comments: list[Token], lines: int
) -> tuple[list[t.AnyStatement], tuple[str, ...]]:
    """Hand each comment to the statement it stands above or in."""
    out: list[t.AnyStatement] = []
    rest = comments
    for statement in statements:
        mine = [c for c in rest if (c.line or 0) + lines <= statement.span.end_line]
        rest = rest[len(mine) :]
        shown = _spaced(mine, statement.span.line - lines)
        out.append(_commented(statement, shown))
    return out, _spaced(rest, None)


def _commented(statement: t.AnyStatement, comments: tuple[str, ...]) -> t.AnyStatement:
    if comments:
        # A frozen node is changed once, here, before anyone else has seen it.
        object.__setattr__(statement, "comments", comments)
    return statement


def _spaced(comments: list[Token], head: int | None) -> tuple[str, ...]:
    """The comments' text, with an empty one where blank lines part two above line `head`."""
    out: list[str] = []
    places = [c.line or 0 for c in comments]
    for n, comment in enumerate(comments):
        out.append(str(comment).rstrip())
        after = places[n + 1] if n + 1 < len(places) else head
        if after is not None and after > places[n] + 1 and (head is None or after <= head):
            out.append("")
    return tuple(out)


_noted = threading.local()


def _note(comment: Token) -> Token:
    _noted.comments.append(comment)
    return comment


@cache
def _lark() -> Lark:
    grammar = files("tool_intent.rules").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        start=["start", "cond"],
        strict=True,
        propagate_positions=True,
        maybe_placeholders=False,
        lexer_callbacks={"COMMENT": _note},
    )
