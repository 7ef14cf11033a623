"""From Lark's parse tree to the syntax tree. What the grammar cannot say is checked on the way:
escapes, sizes of numbers, clauses given twice, depth."""

from __future__ import annotations

from typing import Any, Final, cast

from lark import Tree

from tool_intent.rules import tree as t
from tool_intent.rules.leaves import Branch, LeafBuilder, branches, tokens

#: Conditions, lists and objects nest no deeper than this.
MAX_DEPTH: Final = 50

_NESTING = frozenset({
    "expr", "conj", "not_", "compare", "member", "not_member", "infix", "not_infix", "has", "call",
    "quantifier", "count", "history", "list", "group", "object", "array",
})  # fmt: skip


def too_deep(root: Branch) -> Branch | None:
    """The first branch that nests deeper than `MAX_DEPTH`, or None."""
    pending = [(root, 0)]
    while pending:
        branch, depth = pending.pop()
        depth += branch.data in _NESTING
        if depth > MAX_DEPTH:
            return branch
        pending += [(c, depth) for c in reversed(branch.children) if isinstance(c, Tree)]
    return None


class Builder(LeafBuilder):
    """Builds nodes from branches no deeper than `MAX_DEPTH`."""

    # Statements

    def statement(self, branch: Branch) -> t.AnyStatement:
        """A `words`, `define`, `option` or `rule` branch."""
        built: t.AnyStatement = getattr(self, f"_{branch.data}")(branch)
        return built

    def _words(self, branch: Branch) -> t.Words:
        name, source = tokens(branch)[0], branches(branch)[0]
        texts = tuple(self.text(token) for token in tokens(source))
        return t.Words(
            str(name),
            items=texts if source.data == "listed" else (),
            files=texts if source.data == "files" else (),
            name_span=self.span(name),
            span=self.span(branch),
        )

    def _define(self, branch: Branch) -> t.Define:
        name = tokens(branch)[0]
        return t.Define(
            str(name),
            self.condition(branches(branch)[0]),
            name_span=self.span(name),
            span=self.span(branch),
        )

    def _option(self, branch: Branch) -> t.Option:
        name = tokens(branch)[0]
        value, *bounds = branches(branch)
        low, high = [self.number(n) for n in tokens(bounds[0])] if bounds else (None, None)
        return t.Option(
            str(name),
            self.value(value),
            low,
            high,
            name_span=self.span(name),
            span=self.span(branch),
        )

    def _rule(self, branch: Branch) -> t.Rule:
        parts = {str(b.data): b for b in branches(branch)}
        self._no_clause_twice(branch)
        on = branches(parts["on"])
        verdict = next(parts[kind] for kind in ("require", "forbid", "effect") if kind in parts)
        name = tokens(branch)[0]
        return t.Rule(
            str(name),
            targets=self._targets(on[0]),
            excepted=self._targets(branches(on[1])[0]) if len(on) > 1 else (),
            each=self._each(parts["each"]) if "each" in parts else None,
            when=self._only(parts.get("when")),
            unless=self._only(parts.get("unless")),
            verdict=self._verdict(verdict),
            floor=self._floor(parts["floor"]) if "floor" in parts else None,
            fix=self.message(branches(parts["fix"])[0]) if "fix" in parts else None,
            see=self.text(tokens(parts["see"])[0]) if "see" in parts else None,
            examples=tuple(self._example(b) for b in branches(branch) if b.data == "example"),
            id_span=self.span(name),
            span=self.span(branch),
        )

    def _no_clause_twice(self, branch: Branch) -> None:
        seen = set()
        for clause in branches(branch):
            if clause.data in {"floor", "fix", "see"} and clause.data in seen:
                self._report(
                    self.span(clause), f"`{clause.data}` is already given", "keep one of them"
                )
            seen.add(clause.data)

    def _targets(self, branch: Branch) -> tuple[t.Target, ...]:
        return tuple(t.Target(str(token), span=self.span(token)) for token in tokens(branch))

    def _each(self, branch: Branch) -> t.EachIn:
        return t.EachIn(
            str(tokens(branch)[0]), self._path(branches(branch)[0]), span=self.span(branch)
        )

    def _floor(self, branch: Branch) -> t.Floor:
        return t.Floor(cast("Any", str(tokens(branch)[0])), span=self.span(branch))

    def _only(self, branch: Branch | None) -> t.Condition | None:
        return None if branch is None else self.condition(branches(branch)[0])

    def _verdict(self, branch: Branch) -> t.Verdict:
        parts = branches(branch)
        effects = tokens(branch)
        message = None
        if branch.data == "effect":
            message = self.message(parts[0])
        otherwise = next((b for b in parts if b.data == "otherwise"), None)
        if otherwise is not None:
            effects = tokens(otherwise)
            message = self.message(branches(otherwise)[0]) if branches(otherwise) else None
        unless = next((b for b in parts if b.data == "unless"), None)
        return t.Verdict(
            cast("Any", str(branch.data)),
            condition=None if branch.data == "effect" else self.condition(parts[0]),
            unless=self._only(unless),
            effect=cast("Any", str(effects[0])) if effects else None,
            message=message,
            effect_span=self.span(effects[0]) if effects else t.NOWHERE,
            span=self.span(branch),
        )

    def _example(self, branch: Branch) -> t.Example:
        label, tool = tokens(branch)
        parts = branches(branch)
        given = next((b for b in parts if b.data == "given"), None)
        return t.Example(
            cast("Any", str(label)),
            str(tool),
            cast("Any", self.value(parts[0])),
            context=cast("Any", self.value(branches(given)[0])) if given is not None else None,
            after=tuple(self._after(b) for b in parts if b.data == "after"),
            span=self.span(branch),
        )

    def _after(self, branch: Branch) -> t.EarlierCall:
        tool, *outcome = tokens(branch)
        return t.EarlierCall(
            str(tool),
            cast("Any", str(outcome[0])) if outcome else None,
            cast("Any", self.value(branches(branch)[0])),
            span=self.span(branch),
        )

    # Conditions

    def condition(self, branch: Branch) -> t.Condition:
        """An expression's branch."""
        built: t.Condition = getattr(self, f"_on_{branch.data}")(branch)
        return built

    def _all(self, branch: Branch) -> tuple[t.Condition, ...]:
        return tuple(self.condition(b) for b in branches(branch))

    def _on_group(self, branch: Branch) -> t.Condition:
        return self.condition(branches(branch)[0])

    def _on_expr(self, branch: Branch) -> t.Condition:
        return t.Or(self._all(branch), span=self.span(branch))

    def _on_conj(self, branch: Branch) -> t.Condition:
        return t.And(self._all(branch), span=self.span(branch))

    def _on_not_(self, branch: Branch) -> t.Condition:
        return t.Not(self._all(branch)[0], span=self.span(branch))

    def _on_compare(self, branch: Branch) -> t.Condition:
        left, right = self._all(branch)
        operator = tokens(branch)[0]
        return t.Compare(
            cast("Any", str(operator)),
            left,
            right,
            operator_span=self.span(operator),
            span=self.span(branch),
        )

    def _on_member(self, branch: Branch) -> t.Condition:
        left, right = self._all(branch)
        return t.Member(left, right, branch.data == "not_member", span=self.span(branch))

    _on_not_member = _on_member

    def _on_infix(self, branch: Branch) -> t.Condition:
        left, right = self._all(branch)
        function = tokens(branch)[0]
        return t.Infix(
            str(function),
            left,
            right,
            branch.data == "not_infix",
            function_span=self.span(function),
            span=self.span(branch),
        )

    _on_not_infix = _on_infix

    def _on_has(self, branch: Branch) -> t.Condition:
        return t.Has(self._path(branches(branch)[0]), span=self.span(branch))

    def _path(self, branch: Branch) -> t.Path:
        steps = branches(branch)
        return t.Path(
            str(tokens(branch)[0]),
            tuple(self._step(step) for step in steps),
            step_spans=tuple(self.span(tokens(s)[0] if tokens(s) else s) for s in steps),
            span=self.span(branch),
        )

    _on_path = _path

    def _step(self, branch: Branch) -> t.Step:
        if branch.data == "every":
            return None
        token = tokens(branch)[0]
        if branch.data == "keyed":
            return self.text(token).value
        if branch.data == "named":
            return str(token)
        index = self.number(token).value
        if isinstance(index, float) or index < 0:
            self._report(self.span(token), "an index is a whole number from 0", "")
        return int(index)

    def _on_call(self, branch: Branch) -> t.Condition:
        return t.Call(str(tokens(branch)[0]), self._all(branch), span=self.span(branch))

    def _on_quantifier(self, branch: Branch) -> t.Condition:
        kind, variable = tokens(branch)
        source, condition = self._all(branch)
        return t.Quantifier(
            cast("Any", str(kind)), str(variable), source, condition, span=self.span(branch)
        )

    def _on_count(self, branch: Branch) -> t.Condition:
        kind = tokens(branch)[0]
        history = self._on_history(branches(branch)[0])
        return t.Count(cast("Any", str(kind)), history, span=self.span(branch))

    def _on_history(self, branch: Branch) -> t.History:
        parts = {str(b.data): b for b in branches(branch)}
        return t.History(
            self._targets(parts["targets"]),
            self._outcome(branch),
            self._only(parts.get("where")),
            self._since(parts["since"]) if "since" in parts else None,
            self._window(branches(branch)[-1]),
            span=self.span(branch),
        )

    def _since(self, branch: Branch) -> t.Since:
        parts = {str(b.data): b for b in branches(branch)}
        return t.Since(
            self._targets(parts["targets"]),
            self._outcome(branch),
            self._only(parts.get("where")),
            span=self.span(branch),
        )

    def _outcome(self, branch: Branch) -> Any:
        found = tokens(branch)
        return str(found[0]) if found else None

    def _window(self, branch: Branch) -> t.Window:
        token, span = tokens(branch)[0], self.span(branch)
        if branch.data == "within_time":
            return t.Window(milliseconds=self.duration(token), text=str(token), span=span)
        calls = self.number(token).value
        if isinstance(calls, float):
            self._report(self.span(token), "calls are counted in whole numbers", "")
        return t.Window(calls=int(calls), text=str(token), span=span)

    def _on_list(self, branch: Branch) -> t.Condition:
        return t.ListLiteral(self._all(branch), span=self.span(branch))

    def _on_string(self, branch: Branch) -> t.Condition:
        return self.text(tokens(branch)[0])

    def _on_number(self, branch: Branch) -> t.Condition:
        return self.number(tokens(branch)[0])

    def _on_duration(self, branch: Branch) -> t.Condition:
        token = tokens(branch)[0]
        return t.DurationLiteral(self.duration(token), str(token), span=self.span(branch))

    def _on_regex(self, branch: Branch) -> t.Condition:
        pattern, _, flags = str(tokens(branch)[0])[1:].rpartition("/")
        return t.RegexLiteral(pattern, flags, span=self.span(branch))

    def _on_true(self, branch: Branch) -> t.Condition:
        return t.BoolLiteral(branch.data == "true", span=self.span(branch))

    _on_false = _on_true
