"""Globs as in .gitignore, matched in time linear in the path.

`*` and `?` stop at a slash, `**` as a whole component spans any number of them, `[a-z]`, `[!x]` and
`[[:alpha:]]` are classes, a backslash takes the next character as it is. A glob without a slash
before its end matches at any depth; a leading slash anchors it; a trailing one asks for a
directory. What lies in a matched directory is matched too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from tool_intent.runtime.casing import composed, folded

_POSIX: Final = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~",
    "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_BRACES: Final = re.compile(r"(?<!\\)\{[^{}]*,[^{}]*\}")
_DRIVE: Final = re.compile(r"[A-Za-z]:/")
_COMPONENT: Final = re.compile(r"[^/]+")
_AT_END: Final = r"(?=/|\Z)"


class GlobError(ValueError):
    """A glob that cannot be used: what is wrong, how to mend it, where (0-based code points)."""

    def __init__(self, message: str, help: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.offset = offset


class Glob(NamedTuple):
    """A compiled glob. `rooted` had a leading slash; `floating` matches at any depth.

    `exact` and `fold` are matched from the start of a path without leading or trailing slash; a
    match that ends before the path does is a directory above it. `fold` reads folded paths.
    """

    text: str
    rooted: bool
    floating: bool
    directory: bool
    exact: re.Pattern[str]
    fold: re.Pattern[str]


@lru_cache(maxsize=2048)
def compile_glob(text: str) -> Glob:
    """A glob ready to match; raises GlobError."""
    _check(text)
    body = text.removeprefix("./")
    rooted = body.startswith("/")
    directory = body.endswith("/") and not body.endswith("\\/")
    parts = _parts(text)
    if not rooted and len(parts) == 1:
        parts.insert(0, ("**", 0))
    source = _translated([(composed(part), at) for part, at in parts])
    fold = source
    if not text.isascii():
        fold = _translated([(folded(part), at) for part, at in parts])
    return Glob(
        text,
        rooted or _DRIVE.match(body) is not None,
        parts[0][0] == "**" and not rooted,
        directory,
        re.compile(source, re.DOTALL),
        re.compile(fold, re.DOTALL | re.IGNORECASE),
    )


def matches_text(text: str, globs: Iterable[str]) -> bool:
    """Whether a text that is no path, such as a host name, matches a glob, whatever its case."""
    key = folded(text)
    return bool(key) and any(_whole(compile_glob(glob), key) for glob in globs)


def _whole(glob: Glob, key: str) -> bool:
    found = glob.fold.match(key)
    return found is not None and found.end() == len(key)


def _check(text: str) -> None:
    if text.startswith("!"):
        raise GlobError(
            "a glob cannot be negated with `!`", "write `not like`, or `\\!` for the character", 0
        )
    braces = _BRACES.search(text)
    if braces is not None:
        raise GlobError(
            "braces are no part of .gitignore globs",
            'write a list, as in ["*.ts", "*.js"], or `\\{` for the character',
            braces.start(),
        )


def _parts(text: str) -> list[tuple[str, int]]:
    """The components of a glob and where each starts; raises GlobError where there are none."""
    found = [(part[0], part.start()) for part in _COMPONENT.finditer(text) if part[0] != "."]
    if not found:
        raise GlobError("the glob names no file", "write `**` for every file", 0)
    for part, at in found:
        if part == "..":
            raise GlobError("a glob cannot climb with `..`", "start it at the policy's root", at)
    return found


def _translated(parts: list[tuple[str, int]]) -> str:
    """The regular expression of the components.

    Each run of components behind a `**` is matched at the first place where it can, and never
    again elsewhere (atomic groups): the first place leaves the most for what follows.
    """
    out = ""
    chunk: list[str] = []
    deep = False
    for n, (part, at) in enumerate(parts):
        if part == "**":
            out += _chunk(chunk, deep=deep) + ("/" if chunk else "")
            chunk, deep = [], True
            if n == len(parts) - 1:
                return out + r"(?=[^/])(?s:.)*"
        else:
            chunk.append(_component(part, at))
    return out + _chunk(chunk, deep=deep)


def _chunk(components: list[str], *, deep: bool) -> str:
    if not components:
        return ""
    body = "/".join(components)
    return f"(?>(?:[^/]+/)*?{body})" if deep else f"(?>{body})"


def _component(part: str, offset: int) -> str:
    """The regular expression of one component, which ends where the component ends."""
    pieces: list[str] = [""]
    at = 0
    while at < len(part):
        char = part[at]
        if char == "*":
            at += 1
            pieces.append("")
            continue
        if char == "[":
            text, at = _class(part, at, offset)
        elif char == "\\":
            text, at = _escaped(part, at, offset), at + 2
        else:
            text, at = "[^/]" if char == "?" else re.escape(char), at + 1
        pieces[-1] += text
    first, *middle = pieces
    if not middle:
        return first + _AT_END
    last = middle.pop()
    between = "".join(f"(?>[^/]*?{piece})" for piece in middle if piece)
    # A star alone is no empty component.
    some = "" if first or last or between else "(?=[^/])"
    return f"{first}{some}{between}[^/]*{last}{_AT_END}"


def _escaped(part: str, at: int, offset: int) -> str:
    if at + 1 >= len(part):
        raise GlobError(
            "the glob ends a component in a backslash",
            "write `\\\\` for a backslash, and `/` between folders",
            offset + at,
        )
    return re.escape(part[at + 1])


def _class(part: str, start: int, offset: int) -> tuple[str, int]:
    """The class at `start` as a regular expression, and where it ends."""
    at = start + 1
    negated = part[at : at + 1] in ("!", "^")
    at += negated
    first = at
    out = ""
    while part[at : at + 1] != "]" or at == first:
        if at >= len(part):
            raise GlobError(
                "this class is not closed",
                "add `]`, or write `\\[` for the bracket",
                offset + start,
            )
        text, at = _class_item(part, at, offset)
        out += text
    return f"(?!/)[{'^' if negated else ''}{out}]", at + 1


def _class_item(part: str, at: int, offset: int) -> tuple[str, int]:
    if part.startswith("[:", at) and (end := part.find(":]", at + 2)) > 0:
        name = part[at + 2 : end]
        if name not in _POSIX:
            raise GlobError(
                f"`[:{name}:]` is no class", f"known are {', '.join(sorted(_POSIX))}", offset + at
            )
        return _POSIX[name], end + 2
    low, after = _class_char(part, at, offset)
    if part[after : after + 1] == "-" and part[after + 1 : after + 2] not in ("", "]"):
        high, after = _class_char(part, after + 1, offset)
        if high < low:
            raise GlobError(
                f"the range `{low}-{high}` ends below its start",
                "write the lower character first",
                offset + at,
            )
        return f"{re.escape(low)}-{re.escape(high)}", after
    return re.escape(low), after


def _class_char(part: str, at: int, offset: int) -> tuple[str, int]:
    if part[at] != "\\":
        return part[at], at + 1
    _escaped(part, at, offset)
    return part[at + 1], at + 2
