"""What compiled conditions call: quantifiers in their two readings, and looking back.

Each quantifier has two functions, for "surely" and for "maybe"; see `compiler.expressions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tool_intent.runtime.budget import affordable
from tool_intent.runtime.reading import Seq
from tool_intent.runtime.session import Past
from tool_intent.runtime.state import UNKNOWN_LIST, State

_Test: TypeAlias = Callable[[Any], bool]


def as_list(value: Any) -> Seq:
    """A list as rules see it; what is no list may hold anything."""
    if isinstance(value, Seq):
        return value
    return Seq(value, True) if isinstance(value, tuple) else UNKNOWN_LIST


def any_sure(listed: Any, test: _Test, cost: int, reads: bool, state: State) -> bool:
    """Some element is known that surely fits."""
    found = as_list(listed)
    return affordable(found, cost, reads, state) and any(map(test, found.items))


def any_maybe(listed: Any, test: _Test, cost: int, reads: bool, state: State) -> bool:
    """Some element may fit, a known one or another."""
    found = as_list(listed)
    if not found.complete or not affordable(found, cost, reads, state):
        return True
    return any(map(test, found.items))


def all_sure(listed: Any, test: _Test, cost: int, reads: bool, state: State) -> bool:
    """Every element is known and surely fits."""
    found = as_list(listed)
    if not found.complete or not affordable(found, cost, reads, state):
        return False
    return all(map(test, found.items))


def all_maybe(listed: Any, test: _Test, cost: int, reads: bool, state: State) -> bool:
    """Every known element may fit."""
    found = as_list(listed)
    return not affordable(found, cost, reads, state) or all(map(test, found.items))


def count_of(listed: Any, test: Callable[[Any], bool | None]) -> int | None:
    """How many elements fit, None where that is not known of each."""
    found = as_list(listed)
    if not found.complete:
        return None
    answers = [test(item) for item in found.items]
    return None if None in answers else sum(1 for a in answers if a)


def witness(listed: Any, decides: _Test, shown: Callable[[Any], Any]) -> Any:
    """What a message shows of the first element that decided, None where none is known."""
    found = as_list(listed)
    return next((shown(item) for item in found.items if decides(item)), None)


def truth(value: Any) -> bool | None:
    """A value that is itself a condition."""
    return value if isinstance(value, bool) else None


def has_text(text: str | None) -> bool | None:
    """Whether a text field says something."""
    return None if text is None else text != ""


def has_value(value: Any) -> bool | None:
    """Whether a value that the surface may tell is told."""
    return None if value is None else True


def earlier(
    state: State, past: Past, calls: int | None, seconds: float | None, since: Past | None = None
) -> bool | None:
    """Whether a call like that went before, within the window."""
    view = state.view
    return None if view is None else view.earlier(state, past, calls, seconds, since)


def count_earlier(
    state: State, past: Past, calls: int | None, seconds: float | None, since: Past | None = None
) -> int | None:
    """How many calls like that went before; None where that is not known."""
    view = state.view
    return None if view is None else view.count(state, past, calls, seconds, since)
