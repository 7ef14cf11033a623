"""Comparing values that may be unknown: `==`, `<`, `in`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tool_intent.runtime.reading import Seq

if TYPE_CHECKING:
    from tool_intent.runtime.state import State

#: Word lists whose folded forms are remembered.
_REMEMBERED = 256


def compare(
    operator: str, left: Any, right: Any, state: State | None = None, other: State | None = None
) -> bool | None:
    """`left OPERATOR right`, unknown for values that cannot be compared. `state` makes `==` and
    `!=` compare places in the file system; `other` is the call that the right side is from."""
    if getattr(left, "raw", False) or getattr(right, "raw", False):
        return None
    if isinstance(left, Seq) or isinstance(right, Seq):
        if operator not in ("==", "!="):
            return None
        if isinstance(left, Seq):
            listed = left
            found = any_of(compare("==", item, right, state, other) for item in left.items)
        else:
            listed = right
            found = any_of(compare("==", left, item, state, other) for item in right.items)
        found = found if found or listed.complete else None
        return opposite(found) if operator == "!=" else found
    if left is None or right is None or not _alike(left, right):
        return None
    if operator in ("==", "!="):
        same = bool(left == right) if state is None else _same_place(left, right, state, other)
        return opposite(same) if operator == "!=" else same
    return _ORDERS[operator](left, right) if not isinstance(left, str | bool) else None


def contains(listed: Any, value: Any, state: State | None = None) -> bool | None:
    """`value in listed`."""
    if value is None or listed is None:
        return None
    if isinstance(listed, tuple) and not isinstance(listed, Seq):
        if state is None:
            return _folded(value) in _folded_set(listed) if isinstance(value, str) else None
        listed = Seq(listed, True)
    if not isinstance(listed, Seq):
        return None
    if value == "":
        return False
    found = any_of(_equal(item, value, state) for item in listed.items)
    return found if found or listed.complete else None


def _equal(item: Any, value: Any, state: State | None) -> bool | None:
    if state is None and isinstance(item, str) and isinstance(value, str):
        return bool(_folded(item) == _folded(value))
    return compare("==", item, value, state)


def _alike(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return isinstance(left, bool) and isinstance(right, bool)
    if isinstance(left, str) or isinstance(right, str):
        return isinstance(left, str) and isinstance(right, str)
    return isinstance(left, int | float) and isinstance(right, int | float)


def _same_place(left: Any, right: Any, state: State, other: State | None) -> bool | None:
    if not isinstance(left, str) or not isinstance(right, str):
        return None
    from tool_intent.runtime.paths import same

    return same(state.resolved(left), (other or state).resolved(right), state.place)


def opposite(value: bool | None) -> bool | None:
    return None if value is None else not value


def any_of(answers: Iterable[bool | None]) -> bool | None:
    unknown = False
    for answer in answers:
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False


def _folded(value: Any) -> Any:
    return " ".join(value.casefold().split()) if isinstance(value, str) else value


@lru_cache(maxsize=_REMEMBERED)
def _folded_set(listed: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_folded(v) for v in listed)


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
