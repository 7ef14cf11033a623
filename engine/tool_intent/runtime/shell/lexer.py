"""Words: quotes, escapes and expansions, read in one pass over the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tool_intent.runtime.shell.quoting import ansi_c
from tool_intent.runtime.shell.tokens import MAX_NESTING, Budget, Piece, RefusedError, Script, Token

_PLAIN: Final = re.compile(r"[^ \t\n|&;()<>'\"\\$`]+")
_IN_DOUBLE: Final = re.compile(r"[^\"\\$`]+")
_IN_BODY: Final = re.compile(r"[^\\$`]+")
_ANSI_C: Final = re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+'", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BRACED_NAME: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\}")
_ARITHMETIC: Final = re.compile(r"[^()$`'\"\\]+")
_PARAMETER: Final = re.compile(r"[^}$`'\"\\]+")
_BACKTICK: Final = re.compile(r"[^`\\]*+(?:\\.[^`\\]*+)*+`", re.DOTALL)
_ARRAY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_MAX_ANSI_C: Final = 1 << 20
_BLANK: Final = re.compile(r"(?:[ \t]+|\\\n)++")
_BLANK_LINES: Final = re.compile(r"(?:[ \t\n]+|\\\n|#[^\n]*)++")


class Lexer:
    """Reads words of `text` from `pos` on; the scanner on top of it reads commands.

    `scan` makes the Script of a nested command: it is the scanner's, handed in so that this
    module needs to know no operators.
    """

    __slots__ = ("budget", "depth", "heredocs", "pos", "scan", "text")

    def __init__(
        self, text: str, budget: Budget, depth: int, scan: Callable[[Lexer, bool], Script]
    ) -> None:
        if depth > MAX_NESTING:
            raise RefusedError("nested too deeply")
        self.text = text
        self.pos = 0
        self.budget = budget
        self.depth = depth
        self.scan = scan
        self.heredocs = 0

    def blank(self, lines: bool = False) -> None:
        """Skip blanks and continued lines; with `lines` new lines and comments too."""
        if lines and self.heredocs:
            raise RefusedError("a here-document opened on a line that goes on")
        if found := (_BLANK_LINES if lines else _BLANK).match(self.text, self.pos):
            self.pos = found.end()

    def peek(self, length: int = 1) -> str:
        return self.text[self.pos : self.pos + length]

    def word(self) -> Token:
        """The word at `pos`, which is at no blank and no operator."""
        start = self.pos
        pieces: list[Piece] = []
        while self.pos < len(self.text):
            if found := _PLAIN.match(self.text, self.pos):
                self.pos = found.end()
                self._add(pieces, Piece("text", found.group()))
                continue
            char = self.text[self.pos]
            if char in " \t\n|&;)":
                break
            if char == "(":
                if not _ARRAY.fullmatch(self.text, start, self.pos):
                    break
                self._add(pieces, self._array())
            elif char in "<>":
                if self.peek(2)[1:] != "(":
                    break
                self.pos += 2
                self._add(pieces, Piece("any", char, scripts=(self._nested(),)))
            else:
                self._special(char, pieces)
        plain = len(pieces) == 1 and pieces[0].kind == "text" and not pieces[0].quoted
        return Token("word", pieces[0].text if plain else "", tuple(pieces))

    def condition(self) -> Token:
        """What follows `[[`, up to and with `]]`, as one word."""
        scripts: list[Script] = []
        while True:
            self.blank(lines=True)
            char = self.peek()
            if not char or char == "#":
                raise RefusedError("[[ without ]]")
            if char in "()<>&|;" and self.peek(2) not in ("<(", ">("):
                self.pos += 1
                continue
            token = self.word()
            if token.text == "]]":
                return Token("word", "", (Piece("text", "]]", True, False, tuple(scripts)),))
            scripts += [s for piece in token.pieces for s in piece.scripts]

    def arithmetic(self) -> Piece:
        """What follows `((` or `$((`, up to and with `))`."""
        start, depth = self.pos, 0
        scripts: list[Script] = []
        while True:
            if found := _ARITHMETIC.match(self.text, self.pos):
                self.pos = found.end()
            char = self.peek()
            if char == "(":
                depth += 1
                self.pos += 1
            elif char == ")":
                # `$((a);(b))` is a subshell in a substitution: bash tries again, this reader stops.
                if not depth and self.peek(2) != "))":
                    raise RefusedError("( ( written as ((")
                self.pos += 1
                if not depth:
                    self.pos += 1
                    return Piece("any", self.text[start : self.pos], scripts=tuple(scripts))
                depth -= 1
            elif char in ("", "'"):
                raise RefusedError("arithmetic that is not closed")
            else:
                scripts += self._inner(char)

    def body(self) -> tuple[Piece, ...]:
        """The whole text as the body of an unquoted here-document."""
        pieces: list[Piece] = []
        while self.pos < len(self.text):
            self._double(pieces, _IN_BODY, "$`\\")
        return tuple(pieces)

    def _add(self, pieces: list[Piece], piece: Piece) -> None:
        """Append `piece`; a literal that a continued line had cut in two becomes one again."""
        self.budget.piece()
        last = pieces[-1] if pieces else None
        if (
            last
            and last[:3] == ("text", last.text, False)
            and piece[:3] == ("text", piece.text, False)
        ):
            pieces[-1] = Piece("text", last.text + piece.text)
        else:
            pieces.append(piece)

    def _special(self, char: str, pieces: list[Piece]) -> None:
        """A quote, an escape or an expansion of an unquoted word."""
        if char == "'":
            end = self._find("'", self.pos + 1)
            self._add(pieces, Piece("text", self.text[self.pos + 1 : end], True))
            self.pos = end + 1
        elif char == '"':
            self.pos += 1
            self._quoted(pieces)
        elif char == "\\":
            escaped = self.text[self.pos + 1 : self.pos + 2]
            self.pos += 2
            if escaped != "\n":
                self._add(pieces, Piece("text", escaped or "\\", True))
        elif char == "$" and self.peek(2) == "$'":
            found = _ANSI_C.match(self.text, self.pos + 2)
            if not found:
                raise RefusedError("$' without '")
            if found.end() - self.pos > _MAX_ANSI_C:
                raise RefusedError("$'…' too long")
            self.pos = found.end()
            self._add(pieces, Piece("text", ansi_c(found.group()[:-1]), True))
        elif char == "$" and self.peek(2) == '$"':
            self.pos += 2
            self._quoted(pieces)
        else:
            self._add(pieces, self._expansion(char, False))

    def _quoted(self, pieces: list[Piece]) -> None:
        """What follows a double quote, up to and with the closing one."""
        self._add(pieces, Piece("text", "", True))
        while self.peek() != '"':
            if not self.peek():
                raise RefusedError('" without "')
            self._double(pieces, _IN_DOUBLE, '$`"\\')
        self.pos += 1

    def _double(self, pieces: list[Piece], plain: re.Pattern[str], escapable: str) -> None:
        """One piece of text in double quotes or of a here-document."""
        if found := plain.match(self.text, self.pos):
            self.pos = found.end()
            self._add(pieces, Piece("text", found.group(), True))
            return
        char = self.text[self.pos]
        if char != "\\":
            self._add(pieces, self._expansion(char, True))
            return
        escaped = self.text[self.pos + 1 : self.pos + 2]
        self.pos += 2
        if escaped != "\n":
            text = escaped if escaped and escaped in escapable else "\\" + escaped
            self._add(pieces, Piece("text", text, True))

    def _expansion(self, char: str, quoted: bool) -> Piece:
        """A backtick or dollar expansion at `pos`."""
        self.pos += 1
        if char == "`":
            return self._backtick(quoted)
        if self.peek(2) == "((":
            self.pos += 2
            return self.arithmetic()._replace(quoted=quoted)
        following = self.peek()
        if following == "(":
            self.pos += 1
            return Piece("sub", "", quoted, False, (self._nested(),))
        if following == "{":
            self.pos += 1
            return self._parameter(quoted)
        if found := _NAME.match(self.text, self.pos):
            self.pos = found.end()
            return Piece("var", found.group(), quoted)
        if following and following in "0123456789@*#?$!-":
            self.pos += 1
            return Piece("any", following, quoted, following == "@")
        if following == "[" or self.peek(2) == "\\\n":
            raise RefusedError("an expansion that shells read differently")
        return Piece("text", "$", True)

    def _backtick(self, quoted: bool) -> Piece:
        found = _BACKTICK.match(self.text, self.pos)
        if not found:
            raise RefusedError("` without `")
        self.pos = found.end()
        escapes = r'\\([$`\\"])' if quoted else r"\\([$`\\])"
        inner = re.sub(escapes, r"\1", found.group()[:-1])
        lexer = Lexer(inner, self.budget, self.depth + 1, self.scan)
        return Piece("sub", "", quoted, False, (self.scan(lexer, False),))

    def _nested(self) -> Script:
        """The commands up to the closing parenthesis of a substitution."""
        if self.depth >= MAX_NESTING:
            raise RefusedError("nested too deeply")
        self.depth += 1
        script = self.scan(self, True)
        self.depth -= 1
        return script

    def _parameter(self, quoted: bool) -> Piece:
        """What follows `${`, up to and with the closing brace."""
        if found := _BRACED_NAME.match(self.text, self.pos):
            self.pos = found.end()
            return Piece("var", found.group(1), quoted)
        start = self.pos
        scripts: list[Script] = []
        if self.peek() in (" ", "\t", "\n", "|"):
            raise RefusedError("${ command; }")
        while self.peek() != "}":
            if found := _PARAMETER.match(self.text, self.pos):
                self.pos = found.end()
                continue
            char = self.peek()
            if char == "'" and not quoted:
                self.pos = self._find("'", self.pos + 1) + 1
            elif char in ("", "'"):
                # Whether a single quote quotes here depends on the operator before it.
                raise RefusedError("${ without }, or a quote in it")
            else:
                scripts += self._inner(char)
        raw = self.text[start : self.pos]
        self.pos += 1
        return Piece("any", raw, quoted, "@" in raw, tuple(scripts))

    def _inner(self, char: str) -> list[Script]:
        """The scripts of a quoted text, escape or expansion inside an expansion."""
        pieces: list[Piece] = []
        if char == "\\":
            self.pos += 2
        elif char == '"':
            self.pos += 1
            self._quoted(pieces)
        else:
            self._add(pieces, self._expansion(char, True))
        return [script for piece in pieces for script in piece.scripts]

    def _array(self) -> Piece:
        """The elements of `name=(…)`."""
        self.pos += 1
        scripts: list[Script] = []
        while True:
            self.blank(lines=True)
            char = self.peek()
            if char == ")":
                self.pos += 1
                return Piece("any", "(", True, False, tuple(scripts))
            if not char or (char in "|&;(<>" and self.peek(2) not in ("<(", ">(")):
                raise RefusedError("an array that is not closed")
            scripts += [s for piece in self.word().pieces for s in piece.scripts]

    def _find(self, char: str, start: int) -> int:
        end = self.text.find(char, start)
        if end < 0:
            raise RefusedError(f"{char} without {char}")
        return end
