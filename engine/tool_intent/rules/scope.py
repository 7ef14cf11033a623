"""What a name means where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, Literal, Protocol, TypeAlias

from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import nearest
from tool_intent.rules.environment import Environment
from tool_intent.rules.printer import print_condition
from tool_intent.rules.types import (
    ANY,
    CALL,
    CONTEXT,
    OPEN_RECORD,
    TEXT,
    Type,
    list_of,
)  # fmt: skip

Meaning: TypeAlias = Literal[
    "variable", "words", "define", "option", "args", "call", "tool", "context", "entry", "this",
    "field", "role",
]  # fmt: skip
Severity: TypeAlias = Literal["error", "warning"]


class Report(Protocol):
    """Takes the place, the code, the message and the help of something that is wrong."""

    def __call__(
        self, at: t.Span, code: str, message: str, mend: str, severity: Severity = "error", /
    ) -> None: ...


#: Names that the language itself gives.
ROOTS: Final[Mapping[str, Type]] = {
    "args": OPEN_RECORD, "call": CALL, "tool": TEXT, "context": CONTEXT, "entry": OPEN_RECORD,
    "this": OPEN_RECORD,
}  # fmt: skip

#: Spelling is compared with so many names; a hostile file has many names and many errors.
MAX_CANDIDATES: Final = 1_000

#: What may be absent, so what `has` can ask for.
_MAY_LACK = frozenset({"field", "role", "args", "context", "entry", "variable"})


@dataclass(frozen=True, slots=True)
class Named:
    """A name that the file gives: its type and where it stands. Of a define also how deep the
    quantifiers in it nest, whether it names a field or an entry, and what is known to be present
    where it is true, and where it is false."""

    meaning: Literal["words", "define", "option"]
    type: Type
    line: int
    depth: int = 0
    carried: bool = False
    if_true: frozenset[str] = frozenset()
    if_false: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """The names in force at one place.

    `named` are the file's names so far, `later` those below with their lines, `lost` those of
    statements that could not be read. `present` are the paths that `has` has found there. Inside
    the `where` of a history `judged` is the scope of the call being judged. `depth` counts the
    quantifiers, `each` and entries around.
    """

    environment: Environment
    targets: tuple[t.Target, ...]
    named: Mapping[str, Named]
    later: Mapping[str, int] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    variables: Mapping[str, Type] = field(default_factory=dict)
    present: frozenset[str] = frozenset()
    judged: Scope | None = None
    depth: int = 0

    def knowing(self, facts: frozenset[str]) -> Scope:
        """This scope where more is known to be present."""
        return replace(self, present=self.present | facts) if facts else self

    def binding(self, name: str, type_: Type) -> Scope:
        """The scope of a quantifier's or `each`'s body."""
        return replace(self, variables={**self.variables, name: type_}, depth=self.depth + 1)

    def among(self, targets: tuple[t.Target, ...]) -> Scope:
        """The scope of a `where`: names are those of earlier calls of `targets`. That a name is
        a field's is known there too; that an argument is present is not."""
        fields = frozenset(path for path in self.present if path.isidentifier())
        return replace(self, targets=targets, judged=self.judged or self, present=fields)

    def meaning(self, name: str) -> tuple[Meaning, Type] | None:
        """What a bare name means here."""
        if name in self.variables:
            return "variable", self.variables[name]
        if name in self.named:
            return self.named[name].meaning, self.named[name].type
        if name == "args":
            return "args", self.environment.arguments(self.targets)
        if name in ROOTS:
            return name, ROOTS[name]  # type: ignore[return-value]  # the keys are meanings
        if name in self.environment.fields:
            return "field", self.environment.fields[name]
        if name in self.environment.options:
            return "option", self.environment.options[name]
        role = self.environment.roles(self.targets).get(name)
        if role is not None:
            return "role", role
        if name in self.lost:
            return "define", ANY
        if self.environment.open_fields and name in self.present:
            return "field", TEXT
        return None

    def known(self) -> Iterator[str]:
        """Every name that means something here."""
        yield from self.variables
        yield from self.named
        yield from ROOTS
        yield from self.environment.fields
        yield from self.environment.options
        yield from self.environment.roles(self.targets)

    def taken(self, name: str) -> str | None:
        """What a name means already, in words, or None if it is free."""
        if name == "null":
            return "nothing"
        found = self.meaning(name)
        return None if found is None or name in self.lost else _IN_WORDS[found[0]]


_IN_WORDS: Mapping[str, str] = {
    "variable": "an element of a list", "words": "a word list", "define": "a define",
    "option": "an option", "field": "a field", "role": "a role",
    **dict.fromkeys(ROOTS, "a part of the call"),
}  # fmt: skip


class Resolver:
    """Finds what paths mean, reports those that mean nothing, and notes the meanings of roots by
    the identity of their node; for `this.name`, what the name means for the call being judged."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.meanings: dict[int, Meaning] = {}

    def read(self, path: t.Path, scope: Scope) -> Type:
        """The type of a path that is read; `any` once an error is reported."""
        return self._path(path, scope, reading=True)

    def has(self, path: t.Path, scope: Scope) -> None:
        """Check a path after `has`."""
        if path.root == "this":
            self._this(path, scope, reading=False)
            return
        if not path.steps and scope.environment.open_fields and not scope.taken(path.root):
            self.meanings[id(path)] = "field"
            return
        self._path(path, scope, reading=False)
        meaning = self.meanings.get(id(path))
        bare = not path.steps and meaning in {"args", "context", "entry", "variable"}
        if meaning is not None and (meaning not in _MAY_LACK or bare):
            self._report(
                path.span,
                "rules/has",
                f"`{print_condition(path)}` is always there",
                "`has` asks for a field, an optional argument or a context value",
            )

    def _path(self, path: t.Path, scope: Scope, *, reading: bool) -> Type:
        if path.root == "this":
            return self._this(path, scope, reading=reading)
        found = scope.meaning(path.root)
        if found is None:
            self._unknown(path, scope)
            return ANY
        meaning, type_ = found
        self.meanings[id(path)] = meaning
        if meaning == "entry" and scope.judged is not None:
            self._report(
                path.span, "rules/name", "an earlier call has no `entry`", "write `this.entry`"
            )
            return ANY
        fields = scope.environment.fields
        return self._steps(path, type_, scope.present, fields, reading=reading)

    def _this(self, path: t.Path, scope: Scope, *, reading: bool) -> Type:
        if scope.judged is None:
            self._report(
                path.span,
                "rules/name",
                "`this` is the call being judged, where earlier ones are looked through",
                "leave `this.` out" if path.steps else "use it inside `where`",
            )
            return ANY
        first = path.steps[0] if path.steps else None
        if not isinstance(first, str):
            self._report(path.span, "rules/name", "`this` needs a name", "write `this.path`")
            return ANY
        inner = t.Path(first, path.steps[1:], step_spans=path.step_spans[1:], span=path.span)
        found = frozenset(p[5:] for p in scope.present if p.startswith("this."))
        judged = scope.judged.knowing(found)
        type_ = ANY
        if reading:
            type_ = self._path(inner, judged, reading=True)
        else:
            self.has(inner, judged)
        if id(inner) in self.meanings:
            self.meanings[id(path)] = self.meanings.pop(id(inner))
        return type_

    def _steps(
        self,
        path: t.Path,
        type_: Type,
        present: frozenset[str],
        fields: Mapping[str, Type],
        *,
        reading: bool,
    ) -> Type:
        every = False
        raw = self.meanings.get(id(path)) in {"args", "entry"}
        for n, step in enumerate(path.steps):
            at = path.step_spans[n] if n < len(path.step_spans) else path.span
            if isinstance(step, str):
                below = self._member(type_, step, fields)
                if below is None:
                    self._no_member(at, type_, step)
                    return ANY
                needed = reading or n + 1 < len(path.steps)
                if needed and step in type_.optional:
                    self._may_lack(path, n + 1, present)
                type_ = below
                continue
            if type_.kind not in {"list", "any"}:
                self._report(at, "rules/type", f"{type_} is no list", "")
                return ANY
            if not raw:
                self._no_index(path, n)
                return ANY
            type_ = type_.element or ANY
            every = every or step is None
        return list_of(type_) if every else type_

    def _member(self, type_: Type, name: str, fields: Mapping[str, Type]) -> Type | None:
        if type_.kind == "any":
            return ANY
        found = type_.member(name)
        # An element that carries fields has them besides the members of the tool's own schema.
        if type_.kind == "record" and not type_.label and name in fields and found in {None, ANY}:
            return fields[name]
        return found

    def _no_member(self, at: t.Span, type_: Type, name: str) -> None:
        names = [n for n, _ in type_.members]
        near = nearest(name, names)
        known = f"it has {', '.join(names)}" if names else ""
        self._report(
            at,
            "rules/name",
            f"{type_} has no member `{name}`",
            f"did you mean `{near}`?" if near else known,
        )

    def _no_index(self, path: t.Path, n: int) -> None:
        """Raw arguments are walked by `[]`; whatever else is a list is asked about by a quantifier,
        which knows whether it has seen all of it."""
        shown = print_condition(t.Path(path.root, path.steps[:n]))
        self._report(
            path.step_spans[n] if n < len(path.step_spans) else path.span,
            "rules/type",
            "only raw arguments (`args.`, `entry.`) take brackets",
            f"write `any(x in {shown}: …)`, or `all` or `none`",
        )

    def _may_lack(self, path: t.Path, steps: int, present: frozenset[str]) -> None:
        shown = print_condition(t.Path(path.root, path.steps[:steps]))
        if shown not in present:
            self._report(
                path.span,
                "rules/has",
                f"`{shown}` may be absent",
                f"write `has {shown} and …`, or `when has {shown}`",
            )

    def _unknown(self, path: t.Path, scope: Scope) -> None:
        name = path.root
        if name == "null":
            self._report(path.span, "rules/name", "there is no null", "write `not has …`")
            return
        if name in scope.later:
            line = scope.later[name]
            self._report(
                path.span, "rules/name", f"`{name}` is named on line {line} only", "move it up"
            )
            return
        near = nearest(name, islice(_about_as_long(name, scope.known()), MAX_CANDIDATES))
        hint = f"did you mean `{near}`?" if near else f"if it is an argument, write `args.{name}`"
        if not near and scope.environment.open_fields:
            hint += f"; if it is a field, ask `has {name}` first"
        on = f" on {', '.join(target.name for target in scope.targets)}" if scope.targets else ""
        self._report(path.span, "rules/name", f"nothing is called `{name}`{on}", hint)


def _about_as_long(name: str, known: Iterable[str]) -> Iterator[str]:
    return (k for k in known if abs(len(k) - len(name)) <= 3)


def assumed(condition: t.Condition, truth: bool, named: Mapping[str, Named]) -> frozenset[str]:
    """The paths that are known to be present where a condition is known to be true, or false."""
    match condition:
        case t.Has(path=path) if truth:
            return frozenset({print_condition(path)})
        case t.Not(operand=operand):
            return assumed(operand, not truth, named)
        case t.And(operands=operands) | t.Or(operands=operands):
            facts = [assumed(operand, truth, named) for operand in operands]
            together = isinstance(condition, t.And) == truth
            return frozenset.union(*facts) if together else frozenset.intersection(*facts)
        case t.Path(root=root, steps=()) if root in named:
            return named[root].if_true if truth else named[root].if_false
        case _:
            return frozenset()
