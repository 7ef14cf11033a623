"""Reading raw arguments: texts, members, elements; None stands for what cannot be told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tool_intent.runtime.text import is_absent, normalise

#: Elements of a list that rules look at.
LONGEST_LIST = 256
#: What `member` gives for a value that is not there.
ABSENT = object()


class Seq(NamedTuple):
    """A list as rules see it; without `complete`, there may be more than is listed."""

    items: tuple[Any, ...]
    complete: bool
    #: A list that a caller sent where a rule may expect one value.
    raw: bool = False


def read_text(value: Any) -> str | None:
    """A field's value as rules read it: normalised text, empty where blank, None where it is no
    text or cannot be read."""
    if not isinstance(value, str):
        return None
    text = normalise(value)
    return text if text is None or not is_absent(text) else ""


def scalar(value: Any) -> Any:
    """A scalar as it is; None for anything else."""
    return value if isinstance(value, str | int | float | bool) else None


def member(value: Any, steps: tuple[str | int, ...]) -> Any:
    """What a path of names and indices leads to, ABSENT, or None where it leads through what is
    neither object nor list."""
    for step in steps:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(step, int) and isinstance(value, list):
            value = value[step] if -len(value) <= step < len(value) else ABSENT
        else:
            return None
        if value is ABSENT:
            return ABSENT
    return value


def elements(value: Any, steps: tuple[str | int, ...]) -> Seq:
    """All that a path with "[]" in it leads to."""
    found: list[Any] = [value]
    complete = True
    for step in steps:
        below: list[Any] = []
        for one in found:
            if step == "[]":
                if isinstance(one, list):
                    below += one
                else:
                    complete = False
                continue
            inner = member(one, (step,))
            if inner is None:
                complete = False
            elif inner is not ABSENT:
                below.append(inner)
        found = below
    return capped(tuple(found), complete)


def read(value: Any, steps: tuple[str | int, ...]) -> Any:
    """A raw value behind a path: text, number or truth value, a `Seq` for a list, a dict for an
    object, None where it is absent or null."""
    if "[]" in steps:
        return elements(value, steps)
    found = member(value, steps)
    if found is ABSENT or found is None:
        return None
    if not isinstance(found, list):
        return found
    return capped(tuple(found), True)._replace(raw=True)


def present(value: Any, steps: tuple[str | int, ...]) -> bool | None:
    """Whether something is there behind a path."""
    found = member(value, steps)
    return None if found is None else found is not ABSENT


def leaves(value: Any) -> Iterable[str]:
    """Every text in a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)


def capped(items: tuple[Any, ...], complete: bool) -> Seq:
    return Seq(items[:LONGEST_LIST], complete and len(items) <= LONGEST_LIST)
