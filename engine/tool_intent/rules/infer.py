"""The types of conditions, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import nearest
from tool_intent.rules.environment import PatternCheck
from tool_intent.rules.functions import FOREIGN, FUNCTIONS, Parameter, described
from tool_intent.rules.printer import print_condition
from tool_intent.rules.scope import Report, Resolver, Scope, assumed
from tool_intent.rules.types import (
    ANY,
    BOOL,
    DURATION,
    FLOAT,
    INT,
    PATTERN,
    TEXT,
    Type,
    comparable,
    fits,
    joined,
    list_of,
    ordered,
)  # fmt: skip
from tool_intent.runtime.session import LONGEST_WINDOW

#: How deep quantifiers, `each` and entries nest together.
MAX_NESTING = 2

_QUANTIFIERS = "quantifiers, `each` and entries nest at most twice"


class Typer:
    """Gives each condition its type and reports what is wrong. `types` and the resolver's
    `meanings` hold what was found, by the identity of the node."""

    def __init__(self, report: Report, pattern: PatternCheck) -> None:
        self._report = report
        self._pattern = pattern
        self.resolver = Resolver(report)
        self.types: dict[int, Type] = {}

    def condition(self, condition: t.Condition, scope: Scope) -> None:
        """Check something that must be true or false."""
        given = self.type(condition, scope)
        if given.kind in {"bool", "any"}:
            return
        shown = print_condition(condition)
        helps = {
            "text": f'say what of it: `has {shown}`, `{shown} == "…"`, `words({shown}) >= 3`',
            "list": "ask about its elements: `any(x in …: …)`",
        }
        self._report(
            condition.span,
            "rules/type",
            f"a condition is true or false, not {given}",
            helps.get(given.kind, "") if isinstance(condition, t.Path) else "",
        )

    def type(self, condition: t.Condition, scope: Scope) -> Type:
        """The type of a condition or value; `any` where an error was reported."""
        found = self._type(condition, scope)
        self.types[id(condition)] = found
        return found

    def _type(self, node: t.Condition, scope: Scope) -> Type:  # noqa: C901, PLR0912 (a case a node)
        match node:
            case t.TextLiteral():
                return TEXT
            case t.NumberLiteral(value=value):
                return INT if isinstance(value, int) else FLOAT
            case t.DurationLiteral():
                return DURATION
            case t.BoolLiteral():
                return BOOL
            case t.RegexLiteral():
                return self._regex(node)
            case t.ListLiteral(items=items):
                return list_of(joined([self.type(item, scope) for item in items]))
            case t.Path():
                return self._path(node, scope)
            case t.Has(path=path):
                self.resolver.has(path, scope)
            case t.Not(operand=operand):
                self.condition(operand, scope)
            case t.And() | t.Or():
                self._connective(node, scope)
            case t.Compare():
                self._compare(node, scope)
            case t.Member():
                self._member(node, scope)
            case t.Infix():
                self._infix(node, scope)
            case t.Call():
                return self._call(node, scope)
            case t.Quantifier(kind=kind):
                self._quantifier(node, scope)
                return INT if kind == "count" else BOOL
            case t.Count():
                return self._count(node, scope)
            case t.History():
                self._history(node, scope)
        return BOOL

    def _regex(self, node: t.RegexLiteral) -> Type:
        wrong = self._pattern(node.pattern, node.flags)
        if wrong is not None:
            at = node.span
            if wrong.offset:  # at 0 it is the whole pattern, or as good as
                # A pattern stands on one line, behind its slash, as it was written.
                column = at.column + 1 + wrong.offset
                at = t.Span(at.line, column, at.line, column + 1)
            self._report(at, "rules/pattern", wrong.message, wrong.help)
        return PATTERN

    def _path(self, node: t.Path, scope: Scope) -> Type:
        named = scope.named.get(node.root)
        if named is not None and scope.depth + named.depth > MAX_NESTING:
            self._too_nested(node.span)
        return self.resolver.read(node, scope)

    def _connective(self, node: t.And | t.Or, scope: Scope) -> None:
        """What one operand makes sure of holds for those on its right."""
        for operand in node.operands:
            self.condition(operand, scope)
            scope = scope.knowing(assumed(operand, isinstance(node, t.And), scope.named))

    def _compare(self, node: t.Compare, scope: Scope) -> None:
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(side, t.Path) and side.root == "null" and not side.steps:
                has = "not has" if node.operator == "==" else "has"
                self._report(
                    side.span,
                    "rules/name",
                    "there is no null",
                    f"write `{has} {print_condition(other)}`",
                )
                return
        left, right = self.type(node.left, scope), self.type(node.right, scope)
        equality = node.operator in {"==", "!="}
        possible = _may_equal(left, right, node.operator) if equality else ordered(left, right)
        if possible:
            return
        mend = "`<` and `>` compare numbers and durations" if not equality else ""
        if equality and "list" in {left.kind, right.kind}:
            mend = "write `in`, or ask about the elements: `any(x in …: …)`"
        self._report(
            node.operator_span,
            "rules/type",
            f"`{node.operator}` cannot compare {left} with {right}",
            mend or "both sides are of one type",
        )

    def _member(self, node: t.Member, scope: Scope) -> None:
        left, right = self.type(node.left, scope), self.type(node.right, scope)
        if right.kind not in {"list", "any"}:
            mend = "`mentions` finds words in a text" if fits(right, TEXT) else ""
            self._report(
                node.right.span, "rules/type", f"`in` takes a list on its right, not {right}", mend
            )
        elif not comparable(left, right.element or ANY):
            self._report(node.right.span, "rules/type", f"`in` cannot find {left} in {right}", "")
        self._no_empty_needle(node.right)

    def _infix(self, node: t.Infix, scope: Scope) -> None:
        function = FUNCTIONS.get(node.function)
        if function is None or not function.infix:
            self._no_function(node.function, node.function_span, infix=True)
            self.type(node.left, scope)
            return
        left = self.type(node.left, scope)
        if isinstance(node.right, t.Or | t.And):
            self._joined_texts(node, node.right)
            return
        right = self.type(node.right, scope)
        for side, given, wanted in zip(
            (node.left, node.right), (left, right), function.parameters, strict=True
        ):
            self._fits(node.function, side, given, wanted)
        self._no_empty_needle(node.right)

    def _joined_texts(self, node: t.Infix, right: t.Or | t.And) -> None:
        word = "or" if isinstance(right, t.Or) else "and"
        listed = ", ".join(print_condition(o) for o in right.operands)
        mend = f"write `{node.function} [{listed}]`"
        if word == "and":
            mend = f"repeat `{node.function}`: one condition for each"
        self._report(right.span, "rules/type", f"`{word}` joins conditions, not texts", mend)

    def _fits(self, function: str, node: t.Condition, given: Type, wanted: Parameter) -> None:
        if any(fits(given, type_) for type_ in wanted.types):
            return
        mend = FUNCTIONS[function].doc
        if PATTERN in wanted.types and isinstance(node, t.TextLiteral):
            mend = f"write /{node.value.replace('/', chr(92) + '/')}/"
        elif given == PATTERN:
            mend = "`matches` takes a pattern"
        message = f"`{function}` takes {wanted}, not {given}"
        self._report(node.span, "rules/type", message, mend)

    def _no_empty_needle(self, node: t.Condition) -> None:
        needles: Sequence[t.Condition] = node.items if isinstance(node, t.ListLiteral) else (node,)
        for needle in needles:
            if isinstance(needle, t.TextLiteral) and not needle.value.strip():
                self._report(
                    needle.span,
                    "rules/empty",
                    "an empty text is never in anything",
                    'name what is looked for; for an absent field write `== ""`',
                )

    def _call(self, node: t.Call, scope: Scope) -> Type:
        types = [self.type(argument, scope) for argument in node.arguments]
        function = FUNCTIONS.get(node.function)
        if function is None or function.infix:
            self._no_function(node.function, node.span, infix=False)
            return ANY
        most = len(function.parameters)
        if not function.least <= len(types) <= most:
            count = f"{most}" if function.least == most else f"{function.least} or {most}"
            self._report(
                node.span,
                "rules/function",
                f"`{node.function}` takes {count} value{'s' * (most > 1)}, not {len(types)}",
                function.doc,
            )
        for argument, given, wanted in zip(
            node.arguments, types, function.parameters, strict=False
        ):
            self._fits(node.function, argument, given, wanted)
        return function.result

    def _no_function(self, name: str, at: t.Span, *, infix: bool) -> None:
        if name in FUNCTIONS:
            place = "goes before its values" if infix else "goes between its two values"
            mend = f"write `{name}(…)`" if infix else f"write `… {name} …`"
            self._report(at, "rules/function", f"`{name}` {place}", mend)
            return
        near = nearest(name, (f.name for f in FUNCTIONS.values() if f.infix == infix))
        names = ", ".join(f.name for f in FUNCTIONS.values() if f.infix == infix)
        mend = f"did you mean `{near}`?" if near else f"there are {names}"
        mend = FOREIGN.get(name, mend)
        at = at._replace(end_line=at.line, end_column=at.column + len(name))
        self._report(at, "rules/function", f"no function is called `{name}`", mend)

    def _quantifier(self, node: t.Quantifier, scope: Scope) -> None:
        source = self.type(node.source, scope)
        if source.kind not in {"list", "any"}:
            self._report(
                node.source.span,
                "rules/type",
                f"`{node.kind}` goes through a list, not {described(source)}",
                "",
            )
        self.free(node.variable, node.span, scope)
        inner = scope.binding(node.variable, source.element or ANY)
        if inner.depth > MAX_NESTING:
            self._too_nested(node.span)
            inner = replace(inner, depth=scope.depth)
        self.condition(node.condition, inner)

    def _too_nested(self, at: t.Span) -> None:
        self._report(at, "rules/depth", _QUANTIFIERS, "make two rules of it")

    def free(self, name: str, at: t.Span, scope: Scope) -> None:
        """Report a new name that means something already."""
        taken = scope.taken(name)
        if taken is not None:
            self._report(at, "rules/clash", f"`{name}` is {taken} already", "choose another name")

    def _count(self, node: t.Count, scope: Scope) -> Type:
        if node.kind != "count":
            self._report(
                node.span,
                "rules/type",
                f"`{node.kind}` goes through a list, not through history",
                "write `earlier …` alone, or `count(earlier …)`",
            )
        self.type(node.history, scope)
        return INT

    def _history(self, node: t.History, scope: Scope) -> None:
        if scope.judged is not None:
            self._report(
                node.span, "rules/history", "history does not nest", "make two conditions of it"
            )
            return
        calls, time = node.window.calls, node.window.milliseconds
        if calls is not None and not 1 <= calls <= LONGEST_WINDOW:
            self._report(
                node.window.span,
                "rules/history",
                f"history looks back over 1 to {LONGEST_WINDOW} calls, not {calls}",
                "",
            )
        if time == 0:
            self._report(node.window.span, "rules/history", "no call is that recent", "")
        self._past(node, scope)
        if node.since is not None:
            self._past(node.since, scope)

    def _past(self, node: t.History | t.Since, scope: Scope) -> None:
        self.targets(node.targets, scope)
        if node.where is not None:
            self.condition(node.where, scope.among(node.targets))

    def targets(self, targets: Sequence[t.Target], scope: Scope) -> None:
        """Report groups that nobody defines, and warn of targets that no known tool matches."""
        environment = scope.environment
        for target in targets:
            near = environment.stray(target.name)
            if near is None:
                continue
            mend = f"did you mean `{near}`?" if near else ""
            if target.name.startswith("@"):
                mend = mend or f"there are {', '.join(environment.groups)}"
                message = f"no group is called `{target.name}`"
                self._report(target.span, "rules/name", message, mend)
            else:
                mend = mend or "see the catalogs for the tools' names"
                message = f"no known tool matches `{target.name}`"
                self._report(target.span, "rules/target", message, mend, "warning")


def _may_equal(left: Type, right: Type, operator: str) -> bool:
    """A list equals a value where one of its elements does; two lists are not compared."""
    if operator == "==" and (left.kind == "list") != (right.kind == "list"):
        left = (left.element or ANY) if left.kind == "list" else left
        right = (right.element or ANY) if right.kind == "list" else right
    return comparable(left, right)
