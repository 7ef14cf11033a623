"""Why a part of a rule could not be told, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tool_intent.compiler import conditions as c
from tool_intent.compiler.walk_rules import Frame
from tool_intent.runtime.reading import ABSENT, Seq, member
from tool_intent.runtime.state import State


def reason(node: Any, frame: Frame) -> str:
    """Why a node is unknown of which no part is."""
    state = frame.state
    match node:
        case c.Role(name, at):
            return _role(name, at, state)
        case c.CommandPart(name, at):
            return _command(name, at, state)
        case c.Argument(steps):
            return _argument(f"args.{_path(steps)}", state.args, steps)
        case c.Entry(steps):
            return _argument(f"entry.{_path(steps)}", frame.spot.chain[-1], steps)
        case c.Variable(name, steps):
            return f"{name} has no such value: {_path(steps) or 'it is of another kind'}"
        case c.Infix(function):
            return _infix(function)
    template = _TEMPLATES.get(type(node), "its value is of another kind")
    return template.format(name=getattr(node, "name", getattr(node, "function", "")))


_LIST = "the list may hold more than is known, or is too long for the rule's budget"
_FIELD = "{name} is not there, or cannot be read as what the policy says it is"
_HISTORY = "the session's history does not tell"
_PAIR = "the two cannot be compared, or where a path leads is not known"
_TEMPLATES: Final[Mapping[type, str]] = {
    c.CallList: "not all that the call touches is known",
    c.Context: "the surface does not tell context.{name}",
    c.FieldText: _FIELD,
    c.FieldValue: _FIELD,
    c.Quantified: _LIST,
    c.CountOf: _LIST,
    c.Earlier: _HISTORY,
    c.CountEarlier: _HISTORY,
    c.Compare: _PAIR,
    c.In: _PAIR,
    c.Apply: "{name} was given a value of another kind",
}


def incomplete(node: Any, listed: Seq, frame: Frame) -> str | None:
    """Why a list may be longer than what is known; None where it is whole."""
    if listed.complete:
        return None
    if isinstance(node, c.CommandPart | c.CallList):
        return reason(node, frame)
    return "the list may hold more than is known"


def _role(name: str, at: c.ArgumentPaths | None, state: State) -> str:
    where = state.roles.get(name) if at == () else at
    if not where:
        return f"no catalog says which argument of this tool is its {name}"
    shown = " or ".join(".".join(path).replace(".[]", "[]") for path in where)
    return f"the argument {shown} is no text"


def _command(name: str, at: c.ArgumentPaths | None, state: State) -> str:
    command = state.command(at)
    if command is None:
        return _role("command", at, state)
    if not command.parsed:
        return "the command could not be parsed"
    if name in ("program", "flags", "args") and len(command.parts) != 1:
        return f"the command has {len(command.parts)} parts; command.{name} speaks of one alone"
    return "a word of the command could not be computed, or it runs what is not in its text"


def _argument(shown: str, value: Any, steps: tuple[str | int, ...]) -> str:
    if "[]" not in steps:
        found = member(value, steps)
        if found is ABSENT:
            return f"{shown} is absent"
        if found is None:
            return f"{shown} is null, or something on the way to it is no object"
    return f"{shown} is of another kind"


def _infix(function: str) -> str:
    if function in ("under", "like"):
        return "where the path leads is not known"
    if function == "runs":
        return "what the command runs is not all known"
    return "the two sides are not all known"


def _path(steps: tuple[str | int, ...]) -> str:
    return ".".join(str(step) for step in steps).replace(".[]", "[]")
