"""Times as people give them to options."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_AGE: Final = re.compile(r"([0-9]{1,6})([mhdw])")
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAYS_AGO: Final = {"today": 0, "yesterday": 1}


def moment(option: str, given: str, now: datetime | None = None) -> str:
    """The time that an option names, as records have it: `2026-11-30T12:00:00.000Z`.

    Days begin at midnight in UTC, and times are in UTC unless they say otherwise; ages are counted
    back from `now`, the clock's unless given. Raises ValueError, with a sentence for people.
    """
    at = datetime.now(UTC) if now is None else now
    try:
        then = _read(given, at)
        return then.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        raise ValueError(
            f"{option} {given} is no time: write a date (2026-11-30), a time"
            " (2026-11-30T09:00Z, UTC unless it says otherwise), today, yesterday,"
            " or an age (90m, 2h, 3d, 1w)"
        ) from None


def _read(given: str, now: datetime) -> datetime:
    if given in _DAYS_AGO:
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=_DAYS_AGO[given])
    if age := _AGE.fullmatch(given):
        return now - timedelta(**{_UNITS[age[2]]: int(age[1])})
    then = datetime.fromisoformat(given)
    return then if then.tzinfo is not None else then.replace(tzinfo=UTC)
