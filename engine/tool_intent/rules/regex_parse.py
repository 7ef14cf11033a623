"""Reading RE2's syntax into a tree, and refusing what other dialects have with words that help."""

from __future__ import annotations

import re
from typing import Final

from tool_intent.rules.regex_escapes import (
    BACK_REFERENCE,
    character,
    named_class,
    posix_class,
)
from tool_intent.rules.regex_tree import (
    MIXED,
    Alternate,
    Assertion,
    Bracket,
    Char,
    Concat,
    Flags,
    Group,
    Node,
    Opaque,
    PatternError,
    Perl,
    Repeat,
    Span,
)

MAX_COUNT: Final = 1000
MAX_DEPTH: Final = 100

_COUNT: Final = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_NO_LOW: Final = re.compile(r"\{,\d+\}")
_NAME: Final = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_SPLIT: Final = "split it in two conditions"
_RECURSION: Final = ("recursion is not RE2", "name the levels you need one by one")
#: How a group may open in other dialects; the longest that fits is meant.
_FOREIGN_GROUPS: Final = {
    "(?=": ("look-ahead is not RE2", _SPLIT),
    "(?!": ("look-ahead is not RE2", _SPLIT),
    "(?<=": ("look-behind is not RE2", _SPLIT),
    "(?<!": ("look-behind is not RE2", _SPLIT),
    "(?>": ("atomic groups are not RE2", "write `(?:`: RE2 never backtracks"),
    "(?P=": BACK_REFERENCE,
    "(?P>": _RECURSION,
    "(?R": _RECURSION,
    "(?&": _RECURSION,
    "(?(": ("conditional groups are not RE2", "write the two cases as alternatives"),
    "(?#": ("comments are not RE2", "put a comment on its own line of the policy"),
    "(?|": ("branch reset is not RE2", "write `(?:`: groups are not read"),
    "(?'": ("this form of a named group is not RE2", "write `(?P<name>…)`, or `(?:…)`"),
    "(*": ("verbs are not RE2", "leave it out, or write `\\*` for the character"),
}
_FLAG_HELP: Final = {
    "x": "write the pattern without blanks and comments",
    "a": "write `[A-Za-z0-9_]` where only ASCII is meant",
    "u": "leave it out: text is always Unicode",
    "L": "leave it out: text is always Unicode",
}


def parse(pattern: str, flags: str = "") -> Node:
    """The tree of a pattern; `flags` are those that hold from its start.

    Raises PatternError with the offset of what is wrong.
    """
    return _Parser(pattern, flags).whole()


class _Parser:
    def __init__(self, pattern: str, flags: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.fold = "i" in flags
        self.depth = 0
        self.names: set[str] = set()

    def whole(self) -> Node:
        node = self.alternatives()
        if self.at < len(self.pattern):
            raise PatternError(
                "`)` closes nothing", "write `\\)` for the character, or open a group", self.at
            )
        return node

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def alternatives(self) -> Node:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else Alternate(tuple(branches))

    def sequence(self) -> Node:
        items: list[Node] = []
        while (char := self.peek()) not in ("", "|", ")"):
            start = self.at
            repeat = self.operator()
            if repeat is not None:
                low, text = repeat
                if not items or isinstance(items[-1], Flags):
                    raise PatternError(
                        f"nothing stands before `{text}` that it could repeat",
                        f"write `\\{char}` for the character",
                        start,
                    )
                items.append(Repeat(items.pop(), low, text))
                self.no_second_operator(start)
            else:
                items += self.atom(char)
        return Concat(tuple(items))

    def operator(self) -> tuple[int, str] | None:
        """The least count and the text of the repetition here, or None."""
        start = self.at
        char = self.peek()
        if char in ("*", "+", "?"):
            low = 1 if char == "+" else 0
            self.at += 1
        elif (found := _COUNT.match(self.pattern, start)) is not None:
            low = self.count(found)
            self.at = found.end()
        elif (open_ := _NO_LOW.match(self.pattern, start)) is not None:
            raise PatternError(
                f"`{open_[0]}` is five or more plain characters in RE2, not a count",
                f"write `{{0{open_[0][1:]}`, or `\\{open_[0]}` for the characters",
                start,
            )
        else:
            return None
        if self.peek() == "?":
            self.at += 1
        return low, self.pattern[start : self.at]

    def count(self, found: re.Match[str]) -> int:
        low, comma, high = found.groups()
        if max(len(low), len(high or "")) > 9 or int(low) > MAX_COUNT or int(high or 0) > MAX_COUNT:
            raise PatternError(
                f"`{found[0]}` counts over {MAX_COUNT:,}",
                "compare the text's length in a condition of its own",
                self.at,
            )
        if comma and high and int(high) < int(low):
            raise PatternError(
                f"`{found[0]}` ends below its start", f"write `{{{high},{low}}}`", self.at
            )
        return int(low)

    def no_second_operator(self, start: int) -> None:
        char = self.peek()
        if char == "+":
            raise PatternError(
                "possessive repetition is not RE2",
                f"write `{self.pattern[start : self.at]}`: RE2 never backtracks",
                start,
            )
        if char in ("*", "?") or _COUNT.match(self.pattern, self.at):
            raise PatternError(
                "a repetition cannot be repeated", "put the repeated part in `(?:…)`", self.at
            )

    def atom(self, char: str) -> list[Node]:
        start = self.at
        if char == "(":
            return [self.group()]
        if char == "[":
            return [self.bracket()]
        if char == "\\":
            return self.escape()
        self.at += 1
        if char in "^$":
            return [Assertion(char, start)]
        if char == ".":
            return [Opaque(".", None, MIXED)]
        return [Char(_plain(char), ord(char), self.fold)]

    def group(self) -> Node:
        start = self.at
        if self.depth >= MAX_DEPTH:
            raise PatternError(
                f"groups nest more than {MAX_DEPTH} deep", "take the inner ones apart", start
            )
        outer = self.fold
        head = self.group_head()
        if head is None:
            return Flags(self.pattern[start : self.at])
        self.depth += 1
        body = self.alternatives()
        self.depth -= 1
        if self.peek() != ")":
            raise PatternError(
                "this group is not closed", "add `)`, or write `\\(` for the character", start
            )
        self.at += 1
        self.fold = outer
        return Group(head, body)

    def group_head(self) -> str | None:
        """Steps over what opens a group and says how RE2 shall open it; None for `(?i)`."""
        start = self.at
        rest = self.pattern[start : start + 4]
        for prefix in sorted(_FOREIGN_GROUPS, key=len, reverse=True):
            if rest.startswith(prefix):
                raise PatternError(*_FOREIGN_GROUPS[prefix], start)
        if not rest.startswith("(?"):
            self.at += 1
            return "(?:"
        if rest.startswith(("(?P", "(?<")):
            return self.named_head()
        found = _FLAGS.match(self.pattern, start)
        if found is None:
            raise PatternError(
                "`(?` opens no group that RE2 knows",
                "write `(?:…)` for a group, `\\(` for the character",
                start,
            )
        self.set_flags(found, start)
        self.at = found.end()
        return found[0] if found[3] == ":" else None

    def named_head(self) -> str:
        start = self.at
        found = _NAME.match(self.pattern, start)
        if found is None:
            raise PatternError(
                "the name of this group is not closed or no name",
                "write `(?P<name>…)` with letters, digits and `_`, or `(?:…)`",
                start,
            )
        if found[1] in self.names:
            raise PatternError(
                f"two groups are called `{found[1]}`", "write `(?:…)`: groups are not read", start
            )
        self.names.add(found[1])
        self.at = found.end()
        return "(?:"

    def set_flags(self, found: re.Match[str], start: int) -> None:
        on, off = found[1], found[2]
        for flag in on + (off or ""):
            if flag not in "imsU":
                raise PatternError(
                    f"the flag `{flag}` is not RE2",
                    _FLAG_HELP.get(flag, "known are i, m, s and U"),
                    start,
                )
        if not on and off == "":
            raise PatternError("`(?-)` names no flag", "name one, as in `(?-i)`", start)
        self.fold = (self.fold or "i" in on) and "i" not in (off or "")

    def escape(self) -> list[Node]:
        start = self.at
        letter = self.pattern[start + 1 : start + 2]
        found = character(self.pattern, start)
        if found is not None:
            code, self.at = found
            return [Char(self.pattern[start : self.at], code, self.fold)]
        named = named_class(self.pattern, start)
        if named is not None:
            node, self.at = named
            return [node]
        self.at += 2
        if letter == "Q":
            return self.quoted()
        if letter == "E":
            return []
        if letter in "bBAz":
            return [Assertion("\\" + letter, start)]
        return [Perl(letter)]

    def quoted(self) -> list[Node]:
        end = self.pattern.find("\\E", self.at)
        text = self.pattern[self.at : end if end >= 0 else None]
        self.at = end + 2 if end >= 0 else len(self.pattern)
        return [Char(_quoted(char), ord(char), self.fold) for char in text]

    def bracket(self) -> Bracket:
        start = self.at
        self.at += 1
        negated = self.peek() == "^"
        self.at += negated
        items: list[Perl | Opaque | Span] = []
        while self.peek() != "]" or not items:
            if not self.peek():
                raise PatternError(
                    "this class is not closed", "add `]`, or write `\\[` for the character", start
                )
            items.append(self.bracket_item())
        self.at += 1
        return Bracket(negated, tuple(items))

    def bracket_item(self) -> Perl | Opaque | Span:
        start = self.at
        found = posix_class(self.pattern, start) or named_class(self.pattern, start)
        if found is not None:
            item, self.at = found
            return item
        if self.peek() == "\\" and self.pattern[start + 1 : start + 2] in tuple("dDsSwW"):
            self.at += 2
            return Perl(self.pattern[start + 1])
        low = self.bracket_char()
        high = low
        if self.peek() == "-" and self.pattern[self.at + 1 : self.at + 2] not in ("", "]"):
            self.at += 1
            high = self.bracket_char()
        if high < low:
            text = self.pattern[start : self.at]
            raise PatternError(
                f"the range `{text}` ends below its start", "write the lower character first", start
            )
        return Span(self.pattern[start : self.at], low, high)

    def bracket_char(self) -> int:
        start = self.at
        if self.peek() != "\\":
            self.at += 1
            return ord(self.pattern[start])
        found = character(self.pattern, start)
        if found is None:
            text = self.pattern[start : start + 2]
            help_ = "write `\\x08` for a backspace" if text == "\\b" else "write it outside `[…]`"
            raise PatternError(f"`{text}` stands for no one character in a class", help_, start)
        code, self.at = found
        return code


def _plain(char: str) -> str:
    # A `{` that opens no count is a plain character, and stays one beside what is put next to it.
    return "\\{" if char == "{" else char


def _quoted(char: str) -> str:
    return "\\" + char if char.isascii() and not char.isalnum() and char.isprintable() else char
