"""What compiled conditions call: quantifiers in their two readings, and looking back.

Each quantifier has two functions, for "surely" and for "maybe"; see `compiler.emit_rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tool_intent.runtime.budget import affordable
from tool_intent.runtime.state import UNKNOWN_LIST, Seq, State

#: Atom number, outcome, the judged call's keys, and the rest of the condition or None.
Past: TypeAlias = tuple[int, Any, tuple[Any, ...], Callable[[tuple[Any, ...]], bool | None] | None]
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
    found = _found(state, past, calls, seconds, since)
    if found is None:
        return None
    sure, possible = found
    return True if sure else None if possible else False


def count_earlier(
    state: State, past: Past, calls: int | None, seconds: float | None, since: Past | None = None
) -> int | None:
    """How many calls like that went before; None where that is not known."""
    found = _found(state, past, calls, seconds, since)
    return found[0] if found is not None and found[0] == found[1] else None


def _found(
    state: State, past: Past, calls: int | None, seconds: float | None, since: Past | None
) -> tuple[int, int] | None:
    """How many surely, and how many possibly; None without a history."""
    history = state.history
    if history is None:
        return None
    number, outcome, keys, rest = past
    oldest, is_sure = history.bound(calls, seconds, state.now)
    after_sure, after_possible = -1, -1
    if since is not None:
        after_sure, after_possible = _last(state, since)
    first = max(oldest, after_sure + 1)
    first_sure = max(oldest, after_possible + 1)
    if rest is None:
        sure = history.count(number, outcome, keys, first_sure, state)[0] if is_sure else 0
        return sure, history.count(number, outcome, keys, first, state)[1]
    sure_calls: set[int] = set()
    possible_calls: set[int] = set()
    tried = 0
    for entry, certain in history.candidates(number, outcome, keys, first, state):
        tried += 1
        answer = rest(entry.captured)
        if answer is False:
            continue
        possible_calls.add(entry.number)
        if answer and certain and is_sure and entry.number >= first_sure:
            sure_calls.add(entry.number)
    more = history.more_candidates(number, outcome, keys, first, state)
    return len(sure_calls), len(possible_calls) + more


def _last(state: State, since: Past) -> tuple[int, int]:
    """The newest call that surely was one, and the newest that may have been."""
    history = state.history
    assert history is not None
    number, outcome, keys, rest = since
    if rest is None:
        return history.last(number, outcome, keys, state)
    sure = possible = -1
    for entry, certain in history.candidates(number, outcome, keys, 0, state):
        answer = rest(entry.captured)
        if answer is not False:
            possible = max(possible, entry.number)
        if answer and certain:
            sure = max(sure, entry.number)
    if history.more_candidates(number, outcome, keys, 0, state):
        possible = max(possible, sure)
    return sure, possible
