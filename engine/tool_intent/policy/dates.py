"""Dates in policy files: days in UTC, or times that say their offset."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,6})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII
)
#: What to write instead of what is none.
HOW_TO_WRITE: Final = "write a day such as 2026-12-31, or a time such as 2026-12-31T18:00:00+01:00"


def begins(text: str) -> float:
    """When a day or time begins, in seconds since the epoch. Raises ValueError, whose text says
    what is wrong, where there is no such day or it is no date."""
    return _instant(text)[0]


def ends(text: str) -> float:
    """When what lasts to a day or time is over: at the end of that day in UTC, or at that time.
    Raises ValueError as `begins` does."""
    return _instant(text)[1]


def _instant(text: str) -> tuple[float, float]:
    if _DAY.fullmatch(text):
        try:
            day = date.fromisoformat(text)
            start = datetime(day.year, day.month, day.day, tzinfo=UTC)
            return start.timestamp(), (start + timedelta(days=1)).timestamp()
        except (ValueError, OverflowError):
            raise ValueError(f"there is no day {text}") from None
    if _TIME.fullmatch(text):
        try:
            at = datetime.fromisoformat(text.upper()).timestamp()
        except (ValueError, OverflowError):
            raise ValueError(f"there is no time {text}") from None
        return at, at
    if _DAY.match(text):
        raise ValueError(f"`{text}` does not say its offset from UTC")
    raise ValueError(f"`{text}` is no date")
