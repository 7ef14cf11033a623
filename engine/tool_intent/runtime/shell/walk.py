"""Going through a command in the order it runs, and noting what it does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

from tool_intent.runtime.shell.effects import effects
from tool_intent.runtime.shell.grammar import Group, Simple, parse
from tool_intent.runtime.shell.inner import Inner
from tool_intent.runtime.shell.model import ATTRIBUTES, Command, Part, Pipe, part, program_of
from tool_intent.runtime.shell.scanner import scan
from tool_intent.runtime.shell.scope import Scope
from tool_intent.runtime.shell.tokens import Piece, RefusedError, Token
from tool_intent.runtime.shell.words import Word, expand, expand_value
from tool_intent.runtime.shell.wrappers import WORKS_ITSELF, inner

#: Words, parts, pipes and paths that one command may have, those of scripts in it included.
_MAX_FACTS: Final = 20_000
#: Compound commands, substitutions, wrappers and scripts in scripts nest this deep in all.
_MAX_DEPTH: Final = 48
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?=$|\+?=|\[)")
_DECLARES: Final = frozenset({"export", "declare", "local", "typeset", "readonly"})
_SETS: Final = frozenset(
    {"read", "mapfile", "readarray", "getopts", "unset", "printf", "let", "wait"}
)
_LOSES: Final = frozenset({"eval", "source", ".", "((", "let", "trap", "popd"})
_READS: Final = frozenset({"<", "<>"})
_DEVICES: Final = re.compile(r"/dev/(null|stdin|stdout|stderr|tty|zero|u?random|fd/\d+)")
_SOCKET: Final = re.compile(r"/dev/(tcp|udp)/([^/]+)/([^/]+)")
_SETTING: Final = re.compile(r"(?<![=!<>])=(?!=)|<<=|>>=|\+\+|--")


class _Assignment(NamedTuple):
    """`NAME=value`; `whole` is false where the value is added to one from before, or an element."""

    name: str
    value: list[Piece]
    whole: bool


class Ends(NamedTuple):
    """The parts that read the input of a list of commands, and those that write its output."""

    first: tuple[Part, ...] = ()
    last: tuple[Part, ...] = ()

    def __add__(self, other: tuple[Any, ...]) -> Ends:
        return Ends(self.first + other[0], self.last + other[1])


class Walker:
    """Collects the facts of one command text."""

    def __init__(self) -> None:
        self.parts: list[Part] = []
        self.pipes: list[Pipe] = []
        self.facts: dict[str, dict[str, None]] = {name: {} for name in sorted(ATTRIBUTES)}
        self.unknown: set[str] = set()
        self.resolved = True
        self.left = _MAX_FACTS

    def command(self, parsed: bool) -> Command:
        unknown = self.unknown if parsed else ATTRIBUTES
        lists = {name: tuple(self.facts[name]) for name in ATTRIBUTES - {"parts", "pipes"}}
        return Command(
            parts=tuple(self.parts), pipes=tuple(self.pipes), **lists, parsed=parsed,
            resolved=parsed and self.resolved and not unknown, unknown=frozenset(unknown),
        )  # fmt: skip

    def text(self, text: str, scope: Scope, depth: int) -> Ends:
        """Walk a script given as text: the whole command, or what `sh -c` and `eval` run."""
        return self._group(parse(scan(text)), scope, depth)

    def _opaque(self) -> None:
        """Note that what runs is not in the text."""
        self.unknown |= ATTRIBUTES

    def _group(self, group: Group, scope: Scope, depth: int) -> Ends:
        if depth > _MAX_DEPTH:
            raise RefusedError("nested too deeply")
        if group.kind == "list":
            return self._items(group, scope, depth)
        if group.kind == "subshell":
            return self._items(group, scope.copy(), depth)
        names, lost, moves = _assigned(group)
        if group.kind == "function":
            scope.volatile |= names
            inside = scope.copy()
            inside.lost = True
            inside.directories = None if moves else scope.directories
            return self._items(group, inside, depth)
        self._nested(group.words, scope, depth)
        if group.kind == "loop":
            # A later round sees what an earlier one has set.
            scope.forget(names)
            scope.lost = scope.lost or lost
            scope.directories = None if moves else scope.directories
        inside = scope.copy()
        ends = self._items(group, inside, depth)
        scope.merge(inside)
        return ends

    def _items(self, group: Group, scope: Scope, depth: int) -> Ends:
        """Walk a flat list: lists of `&&` and `||`, each of pipelines."""
        ends = Ends()
        chains = _split(group.items, {";", "&", "\n"})
        after = [chain[0].joint for chain in chains[1:]] + [group.end]
        for chain, joint in zip(chains, after, strict=False):
            inside = scope.copy() if joint == "&" else scope
            ends += self._chain(_split(chain, {"&&", "||"}), inside, depth)
        return ends

    def _chain(self, pipelines: list[list[Simple | Group]], scope: Scope, depth: int) -> Ends:
        """Pipelines joined by `&&` and `||`: those after the first may not run."""
        before = scope.copy()
        ends = self._pipeline(pipelines[0], scope, depth)
        # A `cd` may fail: whatever does not follow it with && runs in either directory.
        seen = scope.copy()
        seen.merge(before, places_only=True)
        for pipeline in pipelines[1:]:
            if pipeline[0].joint == "||":
                scope.merge(seen)
            ends += self._pipeline(pipeline, scope, depth)
            seen.merge(scope)
        scope.merge(seen, places_only=len(pipelines) == 1)
        return ends

    def _pipeline(self, items: list[Simple | Group], scope: Scope, depth: int) -> Ends:
        several = sum(not _attached(item) for item in items) > 1
        elements: list[Ends] = []
        for item in items:
            inside = scope.copy() if several else scope
            if isinstance(item, Group):
                elements.append(self._group(item, inside, depth + 1))
            elif _attached(item):
                self._simple(item, inside, depth)
            else:
                elements.append(self._simple(item, inside, depth))
        for left, right in pairwise(elements):
            self._pipe(left.last, right.first)
        return Ends(elements[0].first, elements[-1].last) if elements else Ends()

    def _pipe(self, before: tuple[Part, ...], after: tuple[Part, ...]) -> None:
        for source in before:
            for sink in after:
                self._count()
                self.pipes.append(Pipe(source.program, sink.program))
                if source.program is None or sink.program is None:
                    self.unknown.add("pipes")

    def _simple(self, item: Simple, scope: Scope, depth: int) -> Ends:
        words = [token for token in item.tokens if token.kind == "word"]
        redirects = [token for token in item.tokens if token.kind == "redirect"]
        self._nested(item.tokens, scope, depth)
        for token in redirects:
            self._redirect(token, scope)
        values: list[_Assignment] = []
        while len(values) < len(words) and (found := _assignment(words[len(values)])):
            values.append(found)
        rest = words[len(values) :]
        expanded = [word for token in rest for word in self._expand(token, scope)]
        if not expanded:
            self._assign(values, scope)
            return Ends()
        if expanded[0].text in _DECLARES:
            self._declare(rest[1:], expanded, scope)
        inside = scope.copy()
        self._assign(values, inside)
        ends = self._run(expanded, inside, depth, redirects)
        scope.adopt(inside, {name for name, _, _ in values})
        return ends

    def _declare(self, tokens: list[Token], words: list[Word], scope: Scope) -> None:
        """`export X=1` and its like; options other than -x, -r, -g change what a value means."""
        flags = {c for word in words if word.text and word.text[0] in "-+" for c in word.text[1:]}
        self._assign([found for token in tokens if (found := _assignment(token))], scope)
        if flags - set("xrg"):
            scope.lost = True

    def _expand(self, token: Token, scope: Scope) -> list[Word]:
        words = expand(token.pieces, scope.lookup)
        self._count(len(words))
        self.resolved = self.resolved and all(word.text is not None for word in words)
        if any(piece.kind == "any" and _SETTING.search(piece.text) for piece in token.pieces):
            scope.lost = True
        return words

    def _assign(self, values: list[_Assignment], scope: Scope) -> None:
        for name, pieces, whole in values:
            value = expand_value(pieces, scope.lookup).text if whole else None
            self.resolved = self.resolved and value is not None
            scope.set(name, value)

    def _nested(self, tokens: Iterable[Token], scope: Scope, depth: int) -> None:
        """Walk the substitutions in words, redirections and here-documents."""
        for token in tokens:
            for piece in token.pieces:
                for script in piece.scripts:
                    self._group(parse(script), scope.copy(), depth + 1)

    def _redirect(self, token: Token, scope: Scope) -> None:
        if token.text in ("<<", "<<<"):
            return
        for word in expand(token.pieces, scope.lookup):
            text = word.text
            self.resolved = self.resolved and text is not None
            if text is not None and token.text in (">&", "<&") and re.fullmatch(r"\d+-?|-", text):
                continue
            if text is not None and (socket := _SOCKET.fullmatch(text)):
                self._fact("urls", f"{socket[1]}://{socket[2]}:{socket[3]}")
                continue
            if token.text in _READS:
                self._path("reads", word, scope)
            if token.text not in ("<", "<&"):
                self._path("writes", word, scope)

    def _run(
        self, words: list[Word], scope: Scope, depth: int, redirects: Sequence[Token],
        more: bool = False,
    ) -> Ends:  # fmt: skip
        """Note one simple command and what it wraps; returns the innermost parts."""
        self._count()
        while words[0].text == "!" and len(words) > 1:
            words = words[1:]
        program = program_of(words[0])
        found = inner(program, words[1:]) if program else []
        owns = [item.own for item in found if item.words]
        this = part(words, min(owns) if owns and program != "find" else None, more)
        self.parts.append(this)
        self.resolved = self.resolved and not more
        if program is None:
            self._opaque()
        # The arguments of `sudo` and `sh -c` are those of what it runs.
        if program in WORKS_ITSELF or not any(item.words or item.script for item in found):
            self._note(this, scope)
        self._builtin(this, scope)
        ends = Ends()
        if not owns:
            ends = Ends((this,), (this,))
        for item in found:
            ends += self._inner(item, scope, depth + 1, redirects, more)
        return ends

    def _inner(
        self, item: Inner, scope: Scope, depth: int, redirects: Sequence[Token], more: bool
    ) -> Ends:
        if depth > _MAX_DEPTH:
            raise RefusedError("nested too deeply")
        if item.opaque or (more and item.script):
            self._opaque()
            if item.same:
                scope.lost = True
                scope.directories = None
        if item.stdin:
            return self._from_input(redirects, scope, depth)
        if item.script is not None and item.script.text is not None:
            return self.text(item.script.text, scope if item.same else scope.child(), depth)
        if not item.words:
            return Ends()
        inside = scope
        if item.chdir is not None:
            inside = scope.copy()
            inside.change(item.chdir)
        return self._run(list(item.words), inside, depth, redirects, item.more or more)

    def _from_input(self, redirects: Sequence[Token], scope: Scope, depth: int) -> Ends:
        """A shell that reads its script: from a here-document or string if that is known."""
        documents = [token for token in redirects if token.text in ("<<", "<<<")]
        inputs = [token for token in redirects if token.text in ("<", "<>", "<&")]
        if not documents or inputs:
            self._opaque()
        ends = Ends()
        for token in documents:
            text = expand_value(token.pieces, scope.lookup).text
            if text is None:
                self._opaque()
            else:
                ends += self.text(text, scope.child(), depth)
        return ends

    def _note(self, this: Part, scope: Scope) -> None:
        inside = scope
        if this.program in ("git", "make", "tar") and "-C" in this.words[: this.own]:
            inside = scope.copy()
            inside.change(
                this.shapes[this.words.index("-C") + 1 :][0] if this.words[-1] != "-C" else None
            )
        for name, word in effects(this):
            if name in ("refs", "urls"):
                if word.text is None:
                    self.unknown.add(name)
                else:
                    self._fact(name, word.text)
            else:
                self._path(name, word, inside)

    def _builtin(self, this: Part, scope: Scope) -> None:
        """What builtins do to the scope."""
        program = this.program
        if program in ("cd", "pushd"):
            targets = [w for w in this.shapes if w.text not in ("-L", "-P", "-e", "-@", "--")]
            scope.change(targets[0] if targets else None)
        elif program == "popd":
            scope.directories = None
        elif program in ("((", "let"):
            scope.lost = scope.lost or any(
                not w.text or _SETTING.search(w.text) for w in this.shapes
            )
        elif program in _SETS or program in _DECLARES:
            for word in this.shapes:
                if word.text is None and not word.prefix:
                    scope.lost = True
                elif (found := _NAME.match(word.prefix)) and "=" not in word.prefix:
                    scope.set(found.group(), None)

    def _path(self, name: str, word: Word, scope: Scope) -> None:
        text = word.pattern if word.text is None else word.text
        if word.text is None:
            self.unknown |= {name, "paths"}
        if (
            not text
            or len(text) > 4096
            or "\n" in text
            or _DEVICES.fullmatch(text)
            or "://" in text
        ):
            return
        found, complete = scope.located(text)
        if not complete:
            self.unknown |= {name, "paths"}
        for path in found:
            self._fact(name, path)
            self._fact("paths", path)

    def _fact(self, name: str, value: str) -> None:
        self._count()
        self.facts[name][value] = None

    def _count(self, number: int = 1) -> None:
        self.left -= number
        if self.left < 0:
            raise RefusedError("too many commands and paths")


def _attached(item: Simple | Group) -> bool:
    """Whether `item` is the redirections of the compound command before it."""
    return isinstance(item, Simple) and item.only_redirects


def _split(items: Sequence[Simple | Group], joints: set[str]) -> list[list[Simple | Group]]:
    """Cut before each item that one of `joints` stands before; redirections stay with theirs."""
    out: list[list[Simple | Group]] = []
    for item in items:
        if out and (_attached(item) or item.joint not in joints):
            out[-1].append(item)
        else:
            out.append([item])
    return out


def _assignment(token: Token) -> _Assignment | None:
    """The assignment that `token` is, if it is one."""
    first = token.pieces[0]
    if first.kind != "text" or first.quoted:
        return None
    found = _ASSIGNMENT.match(first.text)
    if not found:
        return None
    rest = [first._replace(text=first.text[found.end() :]), *token.pieces[1:]]
    return _Assignment(found.group(1), rest, not found.group(2) and not found.group(3))


def _assigned(group: Group) -> tuple[set[str], bool, bool]:
    """The names that a compound command may set, whether it may set any, and whether it moves."""
    names: set[str] = set()
    lost = moves = False
    stack: list[Simple | Group] = [group]
    while stack:
        item = stack.pop()
        if isinstance(item, Group):
            stack += item.items
        for token in item.words if isinstance(item, Group) else item.tokens:
            first = token.pieces[0].text if token.pieces else ""
            if found := _NAME.match(first):
                names.add(found.group())
            if token.text in _LOSES or any(
                piece.kind == "any" and _SETTING.search(piece.text) for piece in token.pieces
            ):
                lost = True
            if token.text in ("cd", "pushd", "popd", "eval", "source", ".", "builtin", "command"):
                moves = True
    return names, lost, moves
