"""What evaluating a condition may cost."""

from __future__ import annotations

from typing import Any

from tool_intent.compiler import conditions as c

_SEARCH_FUNCTIONS = frozenset({"mentions", "restates", "resembles", "matches"})


def cost(node: Any) -> int:
    """Steps that evaluating a node may take, one list element of its own at the most counted as
    256."""
    match node:
        case c.Quantified(source=source, cost=inside):
            return cost(source) + 256 * inside
        case c.CountOf(source=source, condition=inside):
            return cost(source) + 256 * cost(inside)
        case c.Infix(function=function):
            own = 16 if function in _SEARCH_FUNCTIONS else 4
            return own + sum(cost(child) for child in c.children(node))
        case c.Apply():
            return 16 + sum(cost(child) for child in c.children(node))
    return 1 + sum(cost(child) for child in c.children(node))


def reads_arguments(node: Any) -> bool:
    """Whether a text of any size is read: an argument, a role, the call."""
    if isinstance(node, c.Argument | c.Entry | c.Role | c.WholeCall):
        return True
    return any(reads_arguments(child) for child in c.children(node))
