"""Whether adding weaker policies can lower what a rule finds later in a session.

A stricter policy refuses more calls, so fewer of them pass. A rule is session-monotone if it fires
at least as often when fewer calls have passed: it then holds step by step over a whole session what
every rule holds for a single call. Calls that were only tried are the same under any policy.
"""

from __future__ import annotations

from collections.abc import Mapping

from tool_intent.policy.model import Rule
from tool_intent.rules import tree as t

#: Which way a condition works: 1 where more of it holding makes the rule fire less, -1 where it
#: makes it fire more, 0 where it may do either.
_QUIETS, _FIRES, _EITHER = 1, -1, 0


def session_monotone(rule: Rule) -> bool:
    """Whether a rule, over the same calls, fires at least as often the fewer of them passed."""
    tree, defines = rule.tree, rule.scopes.defines
    verdict = tree.verdict
    asked: list[tuple[t.Condition | None, int]] = [
        (tree.when, _FIRES),
        (tree.unless, _QUIETS),
        (verdict.unless, _QUIETS),
        (verdict.condition, _QUIETS if verdict.kind == "require" else _FIRES),
        (None if tree.each is None else tree.each.source, _EITHER),
    ]
    return all(part is None or _is_monotone(part, way, defines) for part, way in asked)


def _is_monotone(node: t.Condition, way: int, defines: Mapping[str, t.Condition]) -> bool:
    match node:
        case t.History():
            return _is_history_monotone(node, way)
        case t.Not(operand=inner):
            return _is_monotone(inner, -way, defines)
        case t.And(operands=parts) | t.Or(operands=parts):
            return all(_is_monotone(part, way, defines) for part in parts)
        case t.Quantifier(kind="any" | "all", source=source, condition=inner):
            held = _is_monotone(inner, way, defines)
            return held and _is_monotone(source, _EITHER, defines)
        case t.Quantifier(kind="none", source=source, condition=inner):
            held = _is_monotone(inner, -way, defines)
            return held and _is_monotone(source, _EITHER, defines)
        case t.Count(history=history):
            return _is_history_monotone(history, _EITHER)
        case t.Path(root=root, steps=()) if root in defines:
            return _is_monotone(defines[root], way, defines)
    return all(_is_monotone(part, _EITHER, defines) for part in t.parts(node))


def _is_history_monotone(history: t.History, way: int) -> bool:
    """`tried` is the same under any policy; `passed` only shrinks; `failed` may do either."""
    if history.since is not None and history.since.outcome not in (None, "tried"):
        return False
    if history.outcome in (None, "tried"):
        return True
    return history.outcome == "passed" and way == _QUIETS
