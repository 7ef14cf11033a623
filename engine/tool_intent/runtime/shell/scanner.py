"""Commands: words, operators, redirections and here-documents, in one linear pass."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tool_intent.runtime.shell.lexer import Lexer
from tool_intent.runtime.shell.tokens import MAX_NESTING, Budget, Piece, RefusedError, Script, Token

_OPERATOR: Final = re.compile(r";;&|;;|;&|;|&&|\|\||\|&|&(?!>)|\||\(|\)|\n")
_REDIRECT: Final = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>&|>\||>")
_DESCRIPTOR: Final = re.compile(r"[0-9]+|\{[A-Za-z_][A-Za-z0-9_]*\}")
_OPENERS: Final = frozenset({"if", "while", "until", "for", "select", "case", "{"})
_CLOSERS: Final = frozenset({"fi", "done", "esac", "}"})
_BETWEEN: Final = frozenset({"then", "elif", "else", "do", "!"})
_AFTER_WORD: Final = {"name": "in", "pattern": "pattern", "function": "command"}


class _Pending(NamedTuple):
    """A here-document whose body begins on the next line; `token` is the place of its token."""

    token: int
    end: str
    literal: bool
    tabs: bool


def scan(text: str) -> Script:
    """The tokens of a whole command text; raises RefusedError past a limit or off the syntax."""
    if "\0" in text:
        raise RefusedError("a NUL character")
    return _scan(Lexer(text, Budget(), 0, _scan), False)


def _scan(lexer: Lexer, nested: bool) -> Script:
    return _Reader(lexer, nested).read()


class _Reader:
    """One list of commands: to the end of the text, or to the parenthesis that closes it.

    `state` is what the next word may be: `command`, `argument`, `closed` (after `fi`), `name`
    and `in` (after `for` and `case`), `pattern`.
    """

    __slots__ = ("lexer", "nested", "opened", "pending", "state", "tokens")

    def __init__(self, lexer: Lexer, nested: bool) -> None:
        self.lexer = lexer
        self.nested = nested
        self.tokens: list[Token] = []
        self.opened: list[str] = []
        self.pending: list[_Pending] = []
        self.state = "command"

    def read(self) -> Script:
        lexer = self.lexer
        while True:
            lexer.blank()
            char = lexer.peek()
            if char == "":
                if self.nested or self.pending:
                    raise RefusedError("the text ends in the middle")
                break
            if char == "#":
                end = lexer.text.find("\n", lexer.pos)
                lexer.pos = len(lexer.text) if end < 0 else end
            elif char == ")" and self.nested and not self.opened:
                if self.pending:
                    raise RefusedError("a here-document without a body")
                lexer.pos += 1
                break
            else:
                self._next()
        return Script(tuple(self.tokens), lexer.depth)

    def _next(self) -> None:
        lexer = self.lexer
        if self.state in ("command", "name") and lexer.peek(2) == "((":
            lexer.pos += 2
            inside = Token("word", "", (lexer.arithmetic()._replace(kind="text", quoted=True),))
            if self.state == "command":
                self._add(Token("word", "((", (Piece("text", "(("),)))
            self._add(inside)
            self.state = "in" if self.state == "name" else "argument"
        elif found := _OPERATOR.match(lexer.text, lexer.pos):
            lexer.pos = found.end()
            self._operator(found.group())
        elif (found := _REDIRECT.match(lexer.text, lexer.pos)) and lexer.peek(2) not in (
            "<(",
            ">(",
        ):
            self._redirect(found)
        else:
            self._word()

    def _add(self, token: Token) -> None:
        self.lexer.budget.token()
        self.tokens.append(token)

    def _open(self, what: str) -> None:
        self.opened.append(what)
        if len(self.opened) + self.lexer.depth > MAX_NESTING:
            raise RefusedError("nested too deeply")

    def _operator(self, text: str) -> None:
        self._add(Token("operator", text))
        if text == "\n":
            self._bodies()
            if self.state in ("in", "pattern"):
                return
        elif text == "(":
            self._open("(")
            if self.state == "pattern":
                self.opened.pop()
                return
        elif text == ")":
            if self.opened and self.opened[-1] == "(":
                self.opened.pop()
                self.state = "closed"
                return
        elif text in (";;", ";&", ";;&"):
            self.state = "pattern"
            return
        elif text == "|" and self.state == "pattern":
            return
        self.state = "command"

    def _word(self) -> None:
        start = self.lexer.pos
        token = self.lexer.word()
        raw = self.lexer.text[start : self.lexer.pos]
        if self.lexer.pos == start:
            raise RefusedError("no word where one must stand")
        if self.lexer.peek() in ("<", ">") and _DESCRIPTOR.fullmatch(raw):
            if raw.startswith("{"):
                raise RefusedError("a variable for a descriptor")
            return
        if not token.pieces:
            return
        text = token.text
        if self.state == "command" and text == "[[":
            self._add(token)
            self._add(self.lexer.condition())
            self.state = "argument"
            return
        reserved = self._reserved(text)
        self._add(token._replace(reserved=reserved))
        if not reserved:
            self.state = _AFTER_WORD.get(self.state, "argument")

    def _reserved(self, text: str) -> bool:
        """Whether the grammar reads the word; moves on to what may follow it."""
        if self.state == "in" and text in ("in", "do"):
            in_case = self.opened[-1:] == ["case"]
            self.state = "command" if text == "do" else "pattern" if in_case else "argument"
            return True
        if self.state == "pattern" and text != "esac":
            return False
        if self.state not in ("command", "closed", "pattern"):
            return False
        if text in _OPENERS:
            self._open(text)
            self.state = "name" if text in ("for", "select", "case") else "command"
        elif text in _CLOSERS:
            if self.opened and self.opened[-1] != "(":
                self.opened.pop()
            self.state = "closed"
        elif text in _BETWEEN or text == "function":
            self.state = "function" if text == "function" else "command"
        else:
            return False
        return True

    def _redirect(self, found: re.Match[str]) -> None:
        lexer, operator = self.lexer, found.group()
        lexer.pos = found.end()
        lexer.blank()
        loose = self.state == "closed"
        start = lexer.pos
        if lexer.peek() in ("", "\n", "#"):
            raise RefusedError("a redirection without a target")
        target = lexer.word()
        if not target.pieces:
            raise RefusedError("a redirection without a target")
        if operator in ("<<", "<<-"):
            self._heredoc(operator, lexer.text[start : lexer.pos], target)
            self._add(Token("redirect", "<<", loose=loose))
        else:
            self._add(Token("redirect", operator, target.pieces, loose=loose))
        if self.state != "closed":
            self.state = "argument" if self.state == "argument" else "redirected"

    def _heredoc(self, operator: str, raw: str, target: Token) -> None:
        if any(piece.kind != "text" for piece in target.pieces) or "\n" in raw:
            raise RefusedError("a here-document with a strange end")
        end = "".join(piece.text for piece in target.pieces)
        literal = any(piece.quoted for piece in target.pieces)
        self.pending.append(_Pending(len(self.tokens), end, literal, operator == "<<-"))
        self.lexer.heredocs += 1

    def _bodies(self) -> None:
        """Read the bodies of the here-documents that the line just ended has opened."""
        lexer = self.lexer
        if lexer.heredocs > len(self.pending):
            raise RefusedError("a new line between a here-document and its body")
        for doc in self.pending:
            body = _body(lexer, doc)
            pieces: tuple[Piece, ...] = (Piece("text", body, True),)
            if not doc.literal:
                pieces = Lexer(body, lexer.budget, lexer.depth, lexer.scan).body()
            token = self.tokens[doc.token]
            self.tokens[doc.token] = token._replace(pieces=pieces, literal=doc.literal)
        lexer.heredocs -= len(self.pending)
        self.pending.clear()


def _body(lexer: Lexer, doc: _Pending) -> str:
    """The lines up to the closing one; in an unquoted body a trailing backslash joins lines."""
    text, joined = lexer.text, ""
    lines: list[str] = []
    while lexer.pos < len(text):
        stop = text.find("\n", lexer.pos)
        stop = len(text) if stop < 0 else stop
        line = text[lexer.pos : stop]
        lexer.pos = min(stop + 1, len(text))
        if doc.tabs and not joined:
            line = line.lstrip("\t")
        if joined + line == doc.end:
            if joined:
                raise RefusedError("the end of a here-document on two lines")
            return "".join(lines)
        lines.append(line + "\n")
        continued = not doc.literal and (len(line) - len(line.rstrip("\\"))) % 2 == 1
        joined = (joined + line[:-1])[: len(doc.end) + 1] or "\0" if continued else ""
    raise RefusedError("a here-document without its end")
