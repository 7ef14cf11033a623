"""Refusals in a row: past some, the model is told to stop and ask."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from tool_intent.runtime.pointer import plain

#: Sessions and tools whose refusals are counted.
_MOST: Final = 10_000


class Refusals:
    """Counts those of each session and tool."""

    def __init__(self) -> None:
        self._rows: OrderedDict[tuple[str | None, str], int] = OrderedDict()

    def counted(self, session: str | None, tool: str, refused: bool | None) -> int:
        """The refusals of a tool in a row: one more, none any more, or (None) as they were."""
        key = (session, tool)
        if refused is None:
            return self._rows.get(key, 0)
        before = self._rows.pop(key, 0)
        if not refused:
            return 0
        self._rows[key] = before + 1
        if len(self._rows) > _MOST:
            self._rows.popitem(last=False)
        return before + 1


def enough(tool: str, refusals: int) -> str:
    """What the model is to do after so many refusals of a tool in a row."""
    return (
        f"This is refusal {refusals} of {plain(tool)} in a row. Do not send it again: stop, tell"
        " the user what is refused and why, and ask how to go on."
    )
