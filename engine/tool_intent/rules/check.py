"""Checks a rule file: names, types, verdicts, messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.environment import DEFAULT, Environment
from tool_intent.rules.infer import Typer
from tool_intent.rules.messages import check_message
from tool_intent.rules.parse import MAX_ERRORS, MAX_RULES, parse_partly
from tool_intent.rules.scope import ROOTS, Meaning, Named, Scope, Severity, assumed
from tool_intent.rules.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    ROLES,
    TEXT,
    Type,
    list_of,
)  # fmt: skip
from tool_intent.runtime.model import STRENGTH, Json

#: Prefixes of the findings that the engine makes itself.
RESERVED: Final = frozenset({"fields", "entries", "args", "tools", "policy", "engine"})

_PREFIXES: Mapping[str, str] = {
    "bash": "shell", "@exec": "shell", "@write": "write", "@edit": "write", "write": "write",
    "edit": "write", "@read": "read", "read": "read", "@net": "net",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking found. `types` and `meanings` are keyed by the `id` of the node: every
    condition has a type, every path a meaning for its root."""

    diagnostics: tuple[Diagnostic, ...]
    types: Mapping[int, Type] = field(default_factory=dict)
    meanings: Mapping[int, Meaning] = field(default_factory=dict)


def check_rules(
    tree: t.RuleFile,
    file: str,
    environment: Environment = DEFAULT,
    *,
    lost: frozenset[str] = frozenset(),
) -> Checked:
    """Check a file's statements, in order, up to `MAX_ERRORS` errors. `lost` are names of
    statements that could not be read: what uses them is not an error too."""
    checker = _Checker(file, environment, lost)
    checker.file(tree)
    return checker.checked()


def check_condition(
    condition: t.Condition,
    file: str,
    targets: Iterable[str],
    environment: Environment = DEFAULT,
) -> Checked:
    """Check the condition of a `when:` for the tools, globs and groups that it is about."""
    checker = _Checker(file, environment, frozenset())
    checker.condition(condition, tuple(t.Target(name) for name in targets))
    return checker.checked()


def check_text(
    text: str,
    file: str,
    environment: Environment = DEFAULT,
    *,
    line_offset: int = 0,
    column_offset: int = 0,
    max_rules: int | None = MAX_RULES,
) -> tuple[t.RuleFile | None, tuple[Diagnostic, ...]]:
    """Parse and check a file, with all errors and warnings of both at once, by position; the tree,
    or None where there is an error."""
    parsed = parse_partly(
        text, file, line_offset=line_offset, column_offset=column_offset, max_rules=max_rules
    )
    found = check_rules(parsed.tree, file, environment, lost=parsed.lost).diagnostics
    told = tuple(sorted(parsed.diagnostics + found, key=lambda d: (d.line, d.column)))
    broken = any(d.severity == "error" for d in told)
    return (None if broken else parsed.tree), told


class _Checker:
    def __init__(self, file: str, environment: Environment, lost: frozenset[str]) -> None:
        self._file = file
        self._environment = environment
        self._lost = lost
        self._diagnostics: dict[Diagnostic, None] = {}
        self._named: dict[str, Named] = {}
        self._later: dict[str, int] = {}
        self._ids: dict[str, int] = {}
        self._typer = Typer(self._report, environment.pattern)

    def checked(self) -> Checked:
        found = sorted(self._diagnostics, key=lambda d: (d.line, d.column))
        return Checked(tuple(found), self._typer.types, self._typer.resolver.meanings)

    def _report(
        self, at: t.Span, code: str, message: str, mend: str, severity: Severity = "error"
    ) -> None:
        if len(self._diagnostics) >= MAX_ERRORS:
            return
        self._diagnostics[
            Diagnostic(code, severity, self._file, *at, message=message, help=mend)
        ] = None

    def file(self, tree: t.RuleFile) -> None:
        for statement in reversed(tree.statements):
            if not isinstance(statement, t.Rule):
                self._later[statement.name] = statement.span.line
        for statement in tree.statements:
            if len(self._diagnostics) >= MAX_ERRORS:
                return
            match statement:
                case t.Rule():
                    self._rule(statement)
                case t.Words():
                    self._words(statement)
                case t.Define():
                    self._define(statement)
                case t.Option():
                    self._option(statement)

    def condition(self, condition: t.Condition, targets: tuple[t.Target, ...]) -> None:
        scope = self._scope(targets)
        if self._carries(condition):
            scope = Scope(self._environment, targets, self._named, depth=1)
        self._typer.condition(condition, scope)

    def _scope(self, targets: tuple[t.Target, ...] = ()) -> Scope:
        return Scope(self._environment, targets, self._named, self._later, self._lost)

    # Names

    def _name(self, statement: t.Words | t.Define | t.Option, named: Named) -> None:
        name = statement.name
        before = self._named.get(name)
        if before is not None:
            self._report(
                statement.name_span,
                "rules/clash",
                f"`{name}` is named on line {before.line} already",
                "choose another name",
            )
            return
        self._typer.free(name, statement.name_span, self._scope())
        self._named[name] = named

    def _words(self, words: t.Words) -> None:
        for item in words.items or words.files:
            if not item.value.strip():
                self._report(item.span, "rules/empty", "an empty text is never in anything", "")
        if not words.items and not words.files:
            self._report(words.span, "rules/empty", f"`{words.name}` lists nothing", "")
        self._name(words, Named("words", list_of(TEXT), words.span.line))

    def _define(self, define: t.Define) -> None:
        expression = define.expression
        self._later.pop(define.name, None)
        type_ = self._typer.type(expression, self._scope())
        named = Named(
            "define",
            type_,
            define.span.line,
            depth=_nesting(expression, self._named),
            carried=self._carries(expression),
            if_true=assumed(expression, True, self._named),
            if_false=assumed(expression, False, self._named),
        )
        self._name(define, named)

    def _option(self, option: t.Option) -> None:
        value = option.value
        type_ = _option_type(value)
        if type_ is None:
            self._report(
                option.span,
                "rules/type",
                "an option is a truth value, a number, a text or a list of texts",
                "",
            )
        low, high = option.low, option.high
        if low is not None and high is not None:
            numeric = isinstance(value, int | float) and not isinstance(value, bool)
            if not numeric or not low.value <= float(str(value)) <= high.value:
                self._report(
                    low.span,
                    "rules/option",
                    f"`{option.name}` is not between {low.text} and {high.text}",
                    "bounds hold the option's own value",
                )
        self._name(option, Named("option", type_ or ANY, option.span.line))

    # Rules

    def _rule(self, rule: t.Rule) -> None:
        self._id(rule)
        scope = self._scope(rule.targets)
        self._typer.targets(rule.targets + rule.excepted, scope)
        depth = int(any(self._carries(c) for c in t.conditions(rule)))
        scope = Scope(
            self._environment, rule.targets, self._named, scope.later, self._lost, depth=depth
        )
        if rule.each is not None:
            scope = self._each(rule.each, scope)
        scope = self._guard(rule.when, scope, holds=True)
        scope = self._guard(rule.unless, scope, holds=False)
        scope = self._guard(rule.verdict.unless, scope, holds=False)
        if rule.verdict.condition is not None:
            self._typer.condition(rule.verdict.condition, scope)
        self._verdict(rule)
        for message in (rule.verdict.message, rule.fix):
            if message is not None:
                check_message(message, rule, scope, self._typer, self._report)

    def _id(self, rule: t.Rule) -> None:
        prefix, slash, _ = rule.id.partition("/")
        if not slash:
            guess = next((_PREFIXES[x.name] for x in rule.targets if x.name in _PREFIXES), "team")
            self._report(
                rule.id_span, "rules/id", "an id has a prefix", f"write `{guess}/{rule.id}`"
            )
        elif prefix in RESERVED:
            self._report(
                rule.id_span,
                "rules/id",
                f"`{prefix}/` is the prefix of the engine's own findings",
                "choose another",
            )
        if rule.id in self._ids:
            self._report(
                rule.id_span,
                "rules/id",
                f"`{rule.id}` is given on line {self._ids[rule.id]} already",
                "choose another name",
            )
        self._ids.setdefault(rule.id, rule.span.line)

    def _each(self, each: t.EachIn, scope: Scope) -> Scope:
        source = self._typer.type(each.source, scope)
        if source.kind not in {"list", "any"}:
            self._report(
                each.source.span, "rules/type", f"`each` goes through a list, not {source}", ""
            )
        self._typer.free(each.variable, each.span, scope)
        return scope.binding(each.variable, source.element or ANY)

    def _guard(self, condition: t.Condition | None, scope: Scope, *, holds: bool) -> Scope:
        """Check a guard; the scope of what follows it, which is judged only where it holds."""
        if condition is None:
            return scope
        self._typer.condition(condition, scope)
        return scope.knowing(assumed(condition, holds, self._named))

    def _verdict(self, rule: t.Rule) -> None:
        verdict = rule.verdict
        if verdict.effect == "off":
            self._report(
                verdict.effect_span,
                "rules/verdict",
                "a rule cannot be written off",
                "delete it, or set its level in `adjust:`",
            )
        effect = verdict.effect or "deny"
        floor = rule.floor
        if floor is not None and effect != "off" and STRENGTH[floor.effect] > STRENGTH[effect]:
            self._report(
                floor.span,
                "rules/verdict",
                f"the floor, {floor.effect}, is above the effect, {effect}",
                f"a floor is {effect} or weaker",
            )

    def _carries(self, condition: t.Condition) -> bool:
        """Whether a condition names a field or an entry, so is judged at every place that carries
        one."""
        for node in t.walk(condition):
            path = node.path if isinstance(node, t.Has) else node
            if not isinstance(path, t.Path):
                continue
            named = self._named.get(path.root)
            asked = isinstance(node, t.Has) and not path.steps
            if named.carried if named is not None else self._is_field(path, asked):
                return True
        return False

    def _is_field(self, path: t.Path, asked: bool) -> bool:
        name = next(iter(path.steps), None) if path.root == "this" else path.root
        if name == "entry" or name in self._environment.fields:
            return True
        return asked and self._environment.open_fields and name not in {*ROOTS, *ROLES}


def _nesting(condition: t.Condition, named: Mapping[str, Named]) -> int:
    """How deep quantifiers nest in a condition, those of defines included."""
    below = max((_nesting(part, named) for part in t.parts(condition)), default=0)
    if isinstance(condition, t.Path) and condition.root in named:
        return named[condition.root].depth
    return below + isinstance(condition, t.Quantifier)


def _option_type(value: Json) -> Type | None:
    match value:
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return FLOAT
        case str():
            return TEXT
        case [*items] if all(isinstance(item, str) for item in items):
            return list_of(TEXT)
        case _:
            return None
