"""What values are called where it is said that they are unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tool_intent.compiler import conditions as c
from tool_intent.runtime.pointer import quoted

#: Characters of a name that are shown.
_LONGEST_NAME: Final = 40


def shown(node: c.Value) -> str:
    """The name of a value in a rule's text; empty for a literal."""
    match node:
        case c.Argument(steps):
            return _path("args", steps)
        case c.Entry(steps):
            return _path("entry", steps)
        case c.Variable(name, steps):
            return _path(name, steps)
        case c.Context(name):
            return f"context.{name}"
        case c.CommandPart(name):
            return f"command.{name}"
        case c.CallList(name):
            return f"call.{name}"
        case c.FieldText(name) | c.FieldValue(name) | c.Role(name):
            return name
        case c.Apply("normalised", (inner,)):
            return shown(inner)
        case c.Apply(function):
            return f"what {function}() gives"
        case c.Judged(inner):
            return f"this.{shown(inner)}"
        case c.CountOf() | c.CountEarlier():
            return "a count"
        case c.ToolName():
            return "tool"
        case c.Session():
            return "what the session was told"
        case c.WholeCall():
            return "call"
    return ""


def judged_by(history: c.History) -> Iterator[c.Value]:
    """What earlier calls are compared with by equality: values of the call being judged."""
    for past in (history.past, history.since):
        if past is not None:
            yield from (join.judged for join in past.atom.joins)


def _path(root: str, steps: tuple[str | int, ...]) -> str:
    return root + "".join(map(_step, steps))


def _step(step: str | int) -> str:
    """A step; a name that is more than a word in quotes: whoever wrote it may mean to mislead."""
    if isinstance(step, int):
        return f"[{step}]"
    if step == "[]":
        return step
    if step.isascii() and step.isidentifier() and len(step) <= _LONGEST_NAME:
        return f".{step}"
    return f"[{quoted(step, _LONGEST_NAME)}]"
