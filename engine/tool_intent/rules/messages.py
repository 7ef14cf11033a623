"""What a rule may show the model: paths, counts, tool and context names."""

from __future__ import annotations

from dataclasses import replace

from tool_intent.rules import tree as t
from tool_intent.rules.infer import Typer
from tool_intent.rules.scope import Report, Scope
from tool_intent.rules.types import ANY, Type

_SHOWN = frozenset({"path", "int", "float", "any"})
_HELP = "interpolate a path, a count or a name"


def check_message(
    message: t.Message, rule: t.Rule, scope: Scope, typer: Typer, report: Report
) -> None:
    """Check what stands between the braces of a rule's message. The variables of the rule's
    quantifiers are known there: they stand for the element that decided."""
    shown = [part for part in message.parts if isinstance(part, t.Interpolation)]
    if not shown:
        return
    for condition in t.conditions(rule):
        for node in t.walk(condition):
            if isinstance(node, t.Quantifier) and not scope.taken(node.variable):
                element = typer.types.get(id(node.source), ANY).element or ANY
                scope = replace(scope, variables={**scope.variables, node.variable: element})
    for part in shown:
        expression = part.expression
        given = typer.type(expression, scope)
        wrong = _wrong(expression, given, typer, scope)
        if wrong is not None:
            report(part.span, "rules/message", wrong, _HELP)


def _wrong(node: t.Condition, given: Type, typer: Typer, scope: Scope) -> str | None:
    if isinstance(node, t.Path):
        meaning = typer.resolver.meanings.get(id(node))
        if meaning == "role" and node.root == "content":
            return "content is never echoed to the model"
        if meaning in {"tool", "context"} or _is_name(node, given, meaning, scope):
            return None
    if given.kind in _SHOWN or given.label == "url":
        return None
    if given.kind == "list" and given.element is not None:
        return _wrong(node, given.element, typer, scope)
    return f"a {given} is never echoed to the model"


def _is_name(node: t.Path, given: Type, meaning: str | None, scope: Scope) -> bool:
    """Whether a path names an argument that no role calls a text or a command."""
    if meaning == "variable":
        return given.kind == "string"
    facts = scope.environment.facts(scope.targets) or ()
    told = [fact.roles.get(role, ()) for fact in facts for role in ("content", "command")]
    texts = {path for paths in told for path in paths}
    dotted = ".".join(str(step) for step in node.steps)
    return meaning == "args" and given.kind == "string" and dotted not in texts
