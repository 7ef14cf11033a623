"""Findings of rules: what a rule says when it fires, with nothing in it that could mislead."""

from __future__ import annotations

from typing import Any

from tool_intent.runtime.model import Finding
from tool_intent.runtime.pointer import escape, plain
from tool_intent.runtime.reading import Seq

#: Findings of one rule that are kept.
_MOST_PLACES = 256
#: Elements of a list that a message names.
_MOST_SHOWN = 5


def fired(
    rule: tuple[Any, ...], at: str, message: str, fix: str | None, *, why: str | None
) -> Finding:
    """A rule's finding. `rule` is `(id, effect, field, origin, who)`; `why` says what was unknown
    where the rule fires for that."""
    name, effect, field, origin, who = rule
    if why is not None:
        message = f"{message} (It could not be told: {why}.)"
    where = at if field is None else f"{at}/{escape(field)}"
    return Finding(name, effect, where, message, fix, origin, who, why)


class Said(dict[tuple[str, str | None], Finding]):
    """The findings of a rule that always says the same, by place and by what was unknown."""

    __slots__ = ("_fix", "_message", "_rule")

    def __init__(self, rule: tuple[Any, ...], message: str, fix: str | None) -> None:
        self._rule = rule
        self._message = message
        self._fix = fix

    def __missing__(self, key: tuple[str, str | None]) -> Finding:
        if len(self) >= _MOST_PLACES:
            self.clear()
        at, why = key
        finding = self[key] = fired(self._rule, at, self._message, self._fix, why=why)
        return finding


def shown_value(value: Any) -> str:
    """A value in a message: at most 80 characters, escaped; a list by its first elements."""
    if value is None:
        return "(unknown)"
    if isinstance(value, Seq):
        texts = [shown_value(item) for item in value.items[:_MOST_SHOWN]]
        more = len(value.items) - len(texts)
        return ", ".join(texts) + (f" and {more} more" if more else "" if value.complete else ", …")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return plain(str(value))
