"""Why a part of a rule cannot be told, found by evaluating it plainly.

It explains decisions and is the oracle of `compiler.emit_doubts`. Of several causes the first in
the order of the text is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tool_intent.compiler import conditions as c
from tool_intent.compiler.names import judged_by, shown
from tool_intent.compiler.walk_rules import Frame, holds, value
from tool_intent.runtime import causes
from tool_intent.runtime.budget import affordable
from tool_intent.runtime.reading import Seq
from tool_intent.runtime.regex import Pattern


def cause(node: Any, frame: Frame) -> str | None:
    """Why a condition or value is unknown; None where it is known."""
    frame = replace(frame, observer=None)
    if isinstance(node, c.Condition):
        return _condition(node, frame) if holds(node, frame) is None else None
    return _value(node, frame)


def iterated(source: c.Value, frame: Frame) -> str | None:
    """Why a list whose elements are gone through is not all known; None where it is."""
    found = _value(source, replace(frame, observer=None))
    if found is None and not isinstance(value(source, frame), tuple):
        return causes.source(shown(source))
    return found


def _condition(node: Any, frame: Frame) -> str | None:
    match node:
        case c.Every(inner) | c.Some(inner):
            return _first(inner, frame)
        case c.Negation(part):
            return cause(part, frame)
        case c.Quantified():
            return _element(node, frame)
        case c.Truth(inside) | c.Has(inside):
            return _value(inside, frame) or causes.truth(shown(inside))
        case c.Compare(_, left, right, how):
            return _first((left, right), frame) or causes.comparison(
                value(left, frame), value(right, frame), (shown(left), shown(right)),
                paths=how == "path",
            )  # fmt: skip
        case c.In(left, right, how):
            return _first((left, right), frame) or causes.membership(
                value(left, frame), shown(left), paths=how == "path"
            )
        case c.Infix(function, left, right):
            both = (left,) if isinstance(right, Pattern) else (left, right)
            return _first(both, frame) or causes.search(
                frame.state, function, value(left, frame), shown(left)
            )
        case c.Earlier(history):
            return _history(history, frame)
    raise TypeError(f"{type(node).__name__} is no condition")


def _value(node: Any, frame: Frame) -> str | None:
    if isinstance(node, c.Items):
        return _first(node.values, frame)
    if isinstance(node, c.Judged):
        assert frame.judged is not None
        return _value(node.value, frame.judged)
    return _unknown(node, frame) if causes.is_unknown(value(node, frame)) else None


def _unknown(node: Any, frame: Frame) -> str | None:
    state = frame.state
    match node:
        case c.FieldText(name):
            return causes.field(name)
        case c.FieldValue(name):
            return causes.scalar(name)
        case c.Context(name):
            return causes.context(name)
        case c.CallList():
            return causes.CALL
        case c.Variable():
            return causes.element(shown(node))
        case c.Role(name, at):
            return causes.role(state, at, name)
        case c.CommandPart(name, at):
            return causes.command(state, at, name)
        case c.Argument(steps):
            return causes.argument(shown(node), state.args, steps)
        case c.Entry(steps):
            return causes.argument(shown(node), frame.spot.chain[-1], steps)
        case c.Apply(function, arguments):
            return _first(arguments, frame) or causes.function(function)
        case c.CountOf():
            return _element(node, frame)
        case c.CountEarlier(history):
            return _history(history, frame)
    return None


def _element(node: c.Quantified | c.CountOf, frame: Frame) -> str | None:
    """Why a list, or what is asked of its elements, is unknown."""
    found = iterated(node.source, frame)
    if found is not None:
        return found
    listed = value(node.source, frame)
    items = listed.items if isinstance(listed, Seq) else listed
    if isinstance(node, c.Quantified) and not affordable(
        Seq(items, True), node.cost, node.reads_arguments, frame.state
    ):
        return causes.BUDGET
    each = (replace(frame, variables={**frame.variables, node.variable: item}) for item in items)
    return next((why for inside in each if (why := cause(node.condition, inside))), None)


def _history(history: c.History, frame: Frame) -> str:
    given = _first(judged_by(history), frame)
    return given or causes.history(is_kept=frame.history is not None)


def _first(nodes: Iterable[Any], frame: Frame) -> str | None:
    return next((why for node in nodes if (why := cause(node, frame))), None)
