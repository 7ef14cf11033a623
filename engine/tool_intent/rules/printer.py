"""A syntax tree as text, in the one canonical layout."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from tool_intent.rules import tree as t
from tool_intent.runtime.model import Json

_NAME = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = frozenset(_NAME + "0123456789")

# What needs brackets where the grammar takes a single value.
_LOOSE = (t.Or, t.And, t.Not, t.Compare, t.Member, t.Infix, t.Has, t.History)


def print_rules(tree: t.RuleFile) -> str:
    """The file's text: clauses in their canonical order, two spaces in, a blank line around
    rules. Parsing it gives an equal tree, so printing is idempotent.

    Comments are kept. One inside a statement moves above it; one that stands apart from the
    statement below it stays apart.
    """
    out: list[str] = []
    last: t.AnyStatement | None = None
    for statement in tree.statements:
        if last is not None and _parted(last, statement):
            out.append("")
        out += statement.comments
        out += _statement(statement)
        last = statement
    if tree.comments:
        out += ([""] if out else []) + list(tree.comments)
    return "\n".join(out) + "\n" if out else ""


def print_condition(condition: t.Condition) -> str:
    """A condition on one line."""
    printed: str = _PRINTERS[type(condition)](condition)
    return printed


def _parted(above: t.AnyStatement, below: t.AnyStatement) -> bool:
    return bool(isinstance(above, t.Rule) or isinstance(below, t.Rule) or below.comments)


def _statement(statement: t.AnyStatement) -> Iterator[str]:
    match statement:
        case t.Words(name=name, files=files) if files:
            yield f"words {name} from {', '.join(map(print_condition, files))}"
        case t.Words(name=name, items=items):
            yield f"words {name} = [{', '.join(map(print_condition, items))}]"
        case t.Define(name=name, expression=expression):
            yield f"define {name} = {print_condition(expression)}"
        case t.Option(name=name, value=value, low=low, high=high):
            bounds = f" between {low.text} and {high.text}" if low and high else ""
            yield f"option {name} = {_value(value)}{bounds}"
        case t.Rule():
            yield from _rule(statement)


def _rule(rule: t.Rule) -> Iterator[str]:
    excepted = f" except {_targets(rule.excepted)}" if rule.excepted else ""
    yield f"rule {rule.id} on {_targets(rule.targets)}{excepted}"
    if rule.each is not None:
        yield f"  each {rule.each.variable} in {_path(rule.each.source)}"
    if rule.when is not None:
        yield f"  when {print_condition(rule.when)}"
    if rule.unless is not None:
        yield f"  unless {print_condition(rule.unless)}"
    yield from _verdict(rule.verdict)
    if rule.floor is not None:
        yield f"  floor {rule.floor.effect}"
    if rule.fix is not None:
        yield f"  fix {_message(rule.fix)}"
    if rule.see is not None:
        yield f"  see {_quoted(rule.see.value)}"
    for example in rule.examples:
        yield from _example(example)


def _verdict(verdict: t.Verdict) -> Iterator[str]:
    said = [verdict.effect, verdict.message and _message(verdict.message)]
    effect = " ".join(part for part in said if part)
    if verdict.condition is None:
        yield f"  {effect}"
        return
    yield f"  {verdict.kind} {print_condition(verdict.condition)}"
    if verdict.unless is not None:
        yield f"  unless {print_condition(verdict.unless)}"
    if effect:
        yield f"  else {effect}"


def _example(example: t.Example) -> Iterator[str]:
    context = "" if example.context is None else f" with {_value(example.context)}"
    yield f"  {example.label:<3} {example.tool} {_value(example.args)}{context}"
    for call in example.after:
        outcome = f" {call.outcome}" if call.outcome else ""
        yield f"      after {call.tool}{outcome} {_value(call.args)}"


def _targets(targets: tuple[t.Target, ...]) -> str:
    return ", ".join(target.name for target in targets)


def _message(message: t.Message) -> str:
    parts = (
        _escaped(part)
        if isinstance(part, str)
        else "{" + _escaped(print_condition(part.expression)) + "}"
        for part in message.parts
    )
    return f'"{"".join(parts)}"'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escaped(text: str) -> str:
    return _quoted(text)[1:-1]


def _value(value: Json | Mapping[str, Json]) -> str:
    match value:
        case Mapping():
            return "{" + ", ".join(f"{_key(k)}: {_value(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case str():
            return _quoted(value)
        case float():
            return _decimal(value)
        case _:
            return json.dumps(value)


def _decimal(value: float) -> str:
    """A float without an exponent, which the language has not."""
    text = format(Decimal(repr(value)), "f")
    return text if "." in text else text + ".0"


def _key(key: str) -> str:
    return key if _is_word(key) else _quoted(key)


def _is_word(text: str) -> bool:
    return text != "" and text[0] in _NAME and set(text) <= _LETTERS


def _path(path: t.Path) -> str:
    return path.root + "".join(map(_step, path.steps))


def _step(step: t.Step) -> str:
    if step is None:
        return "[]"
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _is_word(step) else f"[{_quoted(step)}]"


def _operand(condition: t.Condition) -> str:
    printed = print_condition(condition)
    return f"({printed})" if isinstance(condition, _LOOSE) else printed


def _joined(word: str, operands: tuple[t.Condition, ...], loose: tuple[type, ...]) -> str:
    return f" {word} ".join(
        f"({print_condition(o)})" if isinstance(o, loose) else print_condition(o) for o in operands
    )


def _history(history: t.History) -> str:
    since = ""
    if history.since is not None:
        since = " since last " + _past(history.since)
    return f"earlier {_past(history)}{since} within {_window(history.window)}"


def _past(past: t.History | t.Since) -> str:
    outcome = f" {past.outcome}" if past.outcome else ""
    where = f" where {print_condition(past.where)}" if past.where is not None else ""
    return f"{_targets(past.targets)}{outcome}{where}"


def _window(window: t.Window) -> str:
    return window.text if window.calls is None else f"{window.text} calls"


def _not(negated: bool) -> str:
    return "not " if negated else ""


_PRINTERS: dict[type, Any] = {
    t.TextLiteral: lambda n: _quoted(n.value),
    t.NumberLiteral: lambda n: n.text,
    t.DurationLiteral: lambda n: n.text,
    t.RegexLiteral: lambda n: f"/{n.pattern}/{n.flags}",
    t.BoolLiteral: lambda n: "true" if n.value else "false",
    t.ListLiteral: lambda n: f"[{', '.join(map(_operand, n.items))}]",
    t.Path: _path,
    t.Call: lambda n: f"{n.function}({', '.join(map(print_condition, n.arguments))})",
    t.Compare: lambda n: f"{_operand(n.left)} {n.operator} {_operand(n.right)}",
    t.Member: lambda n: f"{_operand(n.left)} {_not(n.negated)}in {_operand(n.right)}",
    t.Infix: lambda n: f"{_operand(n.left)} {_not(n.negated)}{n.function} {_operand(n.right)}",
    t.Has: lambda n: f"has {_path(n.path)}",
    t.Not: lambda n: f"not {_joined('', (n.operand,), (t.Or, t.And))}",
    t.And: lambda n: _joined("and", n.operands, (t.Or, t.And)),
    t.Or: lambda n: _joined("or", n.operands, (t.Or,)),
    t.Quantifier: lambda n: (
        f"{n.kind}({n.variable} in {_operand(n.source)}: {print_condition(n.condition)})"
    ),
    t.Count: lambda n: f"{n.kind}({_history(n.history)})",
    t.History: _history,
}
