"""Where in a rule's text each lowered node is from, for those who explain a decision."""

from __future__ import annotations

from typing import Any

from tool_intent.rules import tree as t


class Sources:
    """Filled while rules are lowered. What a `define` stands for is from its own text and from the
    name that is used for it."""

    def __init__(self) -> None:
        # The node is kept with its texts: an id is only good while its object lives.
        self._texts: dict[int, tuple[Any, list[t.Condition]]] = {}

    def note(self, lowered: Any, text: t.Condition) -> None:
        """Remember that `lowered` is what `text` means."""
        texts = self._texts.setdefault(id(lowered), (lowered, []))[1]
        if not any(known is text for known in texts):
            texts.append(text)

    def of(self, lowered: Any) -> tuple[t.Condition, ...]:
        """The texts of a node, the names used for it last; none where it is not from the text."""
        return tuple(self._texts.get(id(lowered), (None, ()))[1])
