"""What YAML's scanner and parser complain of, said in the words of somebody writing a policy.

The text at the mark decides, not the parser's own wording: libyaml's and PyYAML's differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import yaml

from tool_intent.policy.positions import split_lines
from tool_intent.rules.diagnostics import Diagnostic


class _Slip(NamedTuple):
    """Where the parser stopped (`line`, `column`), where what it was reading began (`begin_*`),
    all 0-based; what it says; the lines of the file."""

    lines: list[str]
    line: int
    column: int
    begin_line: int
    begin_column: int
    context: str
    problem: str

    @property
    def text(self) -> str:
        return self.lines[self.line]

    @property
    def rest(self) -> str:
        return self.text[self.column :]

    @property
    def begun(self) -> str:
        return self.lines[self.begin_line][self.begin_column :]


class _Words(NamedTuple):
    line: int
    column: int
    width: int
    message: str
    help: str


_Reader: TypeAlias = Callable[[_Slip], "_Words | None"]

#: A member whose plain value runs up to where the parser stopped.
_MEMBER = re.compile(r"([\w$@-]+)[ \t]*:[ \t]+([^\s'\"\[\]{},][^'\"\[\]{},]*)$")
_LINE_MEMBER = re.compile(r"^[ \t]*(?:-[ \t]+)*([^\s:#'\"][^:#]*?)[ \t]*:[ \t]+(\S.*)$")
_TOKEN = re.compile(r"[^\s,\[\]{}:]*(?::(?!\s)[^\s,\[\]{}:]*)*")


def syntax_error(error: yaml.MarkedYAMLError, text: str, file: str) -> Diagnostic:
    """The diagnostic for what the parser raised. Its place lies inside `text`."""
    lines = split_lines(text)
    line, column = _clamp(error.problem_mark or error.context_mark, lines)
    begin_line, begin_column = _clamp(error.context_mark or error.problem_mark, lines)
    slip = _Slip(
        lines, line, column, begin_line, begin_column, error.context or "", error.problem or ""
    )
    words = next((w for w in (read(slip) for read in _READERS) if w is not None), None)
    words = words or _anything(slip)
    end = min(words.column + words.width, len(lines[words.line]))
    return Diagnostic(
        "yaml/syntax", "error", file, words.line + 1, words.column + 1, words.line + 1,
        max(end, words.column) + 1, words.message, words.help,
    )  # fmt: skip


def _clamp(mark: yaml.Mark | None, lines: list[str]) -> tuple[int, int]:
    if mark is None:
        return 0, 0
    line = min(mark.line, len(lines) - 1)
    if mark.line > line:
        return line, len(lines[line])
    return line, min(mark.column, len(lines[line]))


def _backslash(slip: _Slip) -> _Words | None:
    if "unknown escape" not in slip.problem and "did not find expected hex" not in slip.problem:
        return None
    if "expected escape sequence" in slip.problem:
        return None
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"?', slip.begun)
    content = quoted.group(1) if quoted else ""
    # Text in single quotes is taken as it stands; RE2's `\d` is these ten digits.
    mended = content.replace("\\d", "[0-9]").replace("'", "''")
    return _Words(
        slip.begin_line, slip.begin_column, len(content) + 2,
        "a backslash is an escape in double quotes", f"use single quotes: '{mended}'",
    )  # fmt: skip


def _at_sign(slip: _Slip) -> _Words | None:
    if not _cannot_start(slip) or not slip.rest.startswith("@"):
        return None
    token = _token(slip.rest)
    if re.match(r"[ \t]*:(\s|$)", slip.rest[len(token) :]):
        message, mend = "a key that starts with `@` needs quotes", f'"{token}":'
    else:
        message, mend = "a name that starts with `@` needs quotes", f'"{token}"'
    return _Words(slip.line, slip.column, len(token), message, mend)


def _tab(slip: _Slip) -> _Words | None:
    if not slip.rest.startswith("\t"):
        return None
    return _Words(slip.line, slip.column, 1, "a tab cannot indent YAML", "indent with spaces")


def _bad_start(slip: _Slip) -> _Words | None:
    if not _cannot_start(slip) or not slip.rest:
        return None
    token = _token(slip.rest) or slip.rest[0]
    return _Words(
        slip.line, slip.column, len(token), f"no text in YAML can start with {slip.rest[0]}",
        f'quote it: "{token}"',
    )  # fmt: skip


def _cannot_start(slip: _Slip) -> bool:
    return "cannot start any token" in slip.problem


def _star(slip: _Slip) -> _Words | None:
    if "undefined alias" in slip.problem:
        line, column = slip.line, slip.column
    elif "alias" in slip.context:
        line, column = slip.begin_line, slip.begin_column
    else:
        return None
    token = _token(slip.lines[line][column:])
    if not token.startswith("*"):
        return None
    colon = ":" if re.match(r"[ \t]*:", slip.lines[line][column + len(token) :]) else ""
    mend = f'"{token}"{colon}'
    return _Words(line, column, len(token), f"`{token}` needs quotes in YAML", mend)


def _anchor(slip: _Slip) -> _Words | None:
    if "anchor" not in slip.context and "anchor" not in slip.problem + slip.context:
        return None
    token = _token(slip.begun) or "&"
    return _Words(
        slip.begin_line, slip.begin_column, len(token), f"`{token}` cannot be read as an anchor",
        f'quote it: "{token}"',
    )  # fmt: skip


def _brackets(slip: _Slip) -> _Words | None:
    """A plain text inside { } that goes on with a bracket, which YAML reads as a new value."""
    if not slip.rest.startswith(("[", "{")):
        return None
    member = _MEMBER.search(slip.text[: slip.column])
    if member is None:
        return None
    key, start = member.group(1), member.start(2)
    if key == "when":
        return _Words(
            slip.line, start, slip.column - start + 1,
            "a condition with brackets does not fit inside { }", "put `when:` on its own line",
        )  # fmt: skip
    value = re.match(r"[^,}]*", slip.text[start:])
    whole = value.group().rstrip() if value else ""
    pair = "[]" if slip.rest[0] == "[" else "{}"
    return _Words(
        slip.line, start, len(whole), f"`{pair}` needs quotes inside {{ }}", f'{key}: "{whole}"'
    )


def _colon(slip: _Slip) -> _Words | None:
    if "mapping values are not allowed" not in slip.problem:
        return None
    member = _LINE_MEMBER.match(slip.text)
    if member is None or member.start(2) > slip.column:
        start = len(slip.text) - len(slip.text.lstrip())
        return _Words(
            slip.line, start, slip.column - start, "a key cannot stand here",
            "indent it like the keys beside it, or quote the text that holds `: `",
        )  # fmt: skip
    key, start = member.group(1), member.start(2)
    if key == "when":
        mend = "write `when: |` and the condition on the next line"
    else:
        mend = "put the whole text in quotes"
    return _Words(slip.line, start, len(slip.text) - start, "YAML reads `: ` as a key", mend)


def _unclosed(slip: _Slip) -> _Words | None:
    opening = slip.begun[:1]
    at_end = slip.line == len(slip.lines) - 1 and not slip.rest.strip()
    if "scalar" in slip.context and opening in ("'", '"'):
        message = "this quote is never closed"
    elif opening in ("[", "{") and at_end:
        message = f"this `{opening}` is never closed"
    else:
        return None
    close = {"[": "]", "{": "}"}.get(opening, opening)
    return _Words(slip.begin_line, slip.begin_column, 1, message, f"close it with `{close}`")


def _flow(slip: _Slip) -> _Words | None:
    if "flow" not in slip.context:
        return None
    what = "mapping" if "mapping" in slip.context else "list"
    return _Words(
        slip.line, slip.column, 1,
        f"a comma or the end of the {what} that begins on line {slip.begin_line + 1} "
        "is expected here",
        "separate values with `, ` and quote texts that hold brackets, commas or quotes",
    )  # fmt: skip


def _simple_key(slip: _Slip) -> _Words | None:
    if "simple key" not in slip.context:
        return None
    token = slip.begun.strip()
    return _Words(
        slip.begin_line, slip.begin_column, len(token), "a `:` is missing after this key",
        "write `key: value`, with a space after the colon",
    )  # fmt: skip


def _indentation(slip: _Slip) -> _Words | None:
    if "block" not in slip.context:
        return None
    return _Words(
        slip.line, slip.column, max(1, len(slip.rest)),
        "this does not belong to the mapping or list above it",
        f"indent it like its neighbours (they begin on line {slip.begin_line + 1}, "
        f"column {slip.begin_column + 1}), or quote the text before it",
    )  # fmt: skip


def _depth(slip: _Slip) -> _Words | None:
    if "nesting depth" not in slip.problem:
        return None
    return _Words(slip.line, slip.column, 1, "the file nests too deep to read", "flatten it")


def _anything(slip: _Slip) -> _Words:
    return _Words(
        slip.line, slip.column, 1, f"YAML cannot read this: {slip.problem or slip.context}",
        "quote the text, or check the line above",
    )  # fmt: skip


def _token(text: str) -> str:
    found = _TOKEN.match(text)
    return found.group() if found else ""


_READERS: tuple[_Reader, ...] = (
    _depth, _backslash, _tab, _at_sign, _star, _anchor, _bad_start, _brackets, _colon, _unclosed,
    _flow, _simple_key, _indentation,
)  # fmt: skip
