"""Calls that an earlier process judged, as far as a record of them tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tool_intent.runtime.session import Outcome
    from tool_intent.runtime.shelves import AtomCode
    from tool_intent.runtime.state import State


class Recalled(NamedTuple):
    """One call: its tool, when it was judged (seconds since the epoch), what came of it (`tried`
    for one that was refused, None where nobody knows), and what is known of its arguments, fields
    included.

    `known` are the names at the top of the arguments that are as they were sent; with `whole`,
    there were no others. `said` are the fields that it is known to have had, or not to have had.
    """

    tool: str
    at: float | None
    outcome: Outcome | None
    args: dict[str, Any]
    known: frozenset[str]
    whole: bool
    said: frozenset[str]
    context: Mapping[str, Any]


def is_known(recalled: Recalled, atom: AtomCode, state: State) -> bool:
    """Whether all that is asked of a call is known of this one."""
    for carrier in state.carriers:
        if carrier.at and not recalled.whole and not set(atom.fields).isdisjoint(carrier.fields):
            return False  # a place that may be there, or not
    if not recalled.said.issuperset(atom.fields):
        return False
    if recalled.whole:
        return True
    if atom.reads is None:
        return False
    roles, arguments = atom.reads
    played = {path[0] for role in roles for path in state.roles.get(role, ())}
    return recalled.known.issuperset(played.union(arguments))
