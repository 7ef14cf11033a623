"""Which arguments the rules and waivers of a tool may look at: others need not reach the judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tool_intent.compiler import conditions as c
from tool_intent.compiler.ir import Tool
from tool_intent.runtime.shelves import Reads


def arguments_read(tool: Tool) -> frozenset[str] | None:
    """The names, at the top of a call's arguments, of what rules, conditions and waivers' paths
    may look at; None where that can be any. What history looks for in later calls is not asked
    here."""
    found: set[str] = set()
    for kinds, node in _asked(tool):
        names = _names(tool, kinds, node)
        if names is None:
            return None
        found |= names
    if any(waiver.paths for waiver in tool.waivers):
        touched = _of_roles(tool)
        if touched is None:
            return None
        found |= touched
    return frozenset(found)


def read_of(atom: c.Atom) -> Reads | None:
    """The roles and the arguments of an earlier call that history looks at, besides its fields;
    None where that can be any."""
    roles: set[str] = set()
    arguments: set[str] = set()
    for node in _below([atom.filter, *(join.earlier for join in atom.joins), *atom.captures]):
        match node:
            case c.Role(name=name):
                roles.add(name)
            case c.CommandPart():
                roles.add("command")
            case c.Argument(steps) if isinstance(steps[0], str):
                arguments.add(steps[0])
            case (
                c.Argument() | c.Entry() | c.WholeCall() | c.CallList() | c.Session()
                | c.Quantified(reads_arguments=True)
            ):  # fmt: skip
                return None
    return tuple(sorted(roles)), tuple(sorted(arguments))


def _asked(tool: Tool) -> Iterator[tuple[tuple[tuple[str, ...], ...], Any]]:
    """Every value and condition, with the kinds of place that it is asked at."""
    for sentence in tool.sentences:
        roots: list[Any] = [sentence.guard, sentence.condition]
        roots += [] if sentence.each is None else [sentence.each[1]]
        for part in (*sentence.message, *(sentence.fix or ())):
            if isinstance(part, c.Shown):
                roots += [part.value, part.witness]
        for node in _below(roots):
            yield sentence.places, node
    for place in tool.conditional:
        for node in _below([place.when]):
            yield (place.at,), node


def _below(roots: Iterable[Any]) -> Iterator[Any]:
    waiting = [root for root in roots if root is not None]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += c.children(node)


def _names(tool: Tool, kinds: tuple[tuple[str, ...], ...], node: Any) -> set[str] | None:
    match node:
        case c.Role(at=at) | c.CommandPart(at=at):
            return _of_roles(tool) if at == () else {path[0] for path in at or ()}
        case c.CallList(name="paths"):
            return _of_roles(tool)
        case c.WholeCall() | c.Session() | c.CallList() | c.CountEarlier() | c.Earlier():
            return None
        case c.Quantified(reads_arguments=True):
            return None  # what it may cost is counted over all of them
        case c.Argument(steps):
            return {steps[0]} if isinstance(steps[0], str) else None
        case c.Entry(steps):
            return {str(kind[0] if kind else steps[0]) for kind in kinds}
    return set()


def _of_roles(tool: Tool) -> set[str] | None:
    return {path[0] for at in tool.roles.values() for path in at} or None
