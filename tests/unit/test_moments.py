"""Times as people give them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tool_intent.cli.moments import moment

NOW = datetime(2026, 12, 1, 0, 30, 15, 678_912, tzinfo=UTC)

TIMES = [
    ("2026-11-30", "2026-11-30T00:00:00.000Z"),
    ("2026-11-30T09:00Z", "2026-11-30T09:00:00.000Z"),
    ("2026-11-30T09:00", "2026-11-30T09:00:00.000Z"),
    ("2026-11-30T09:00:01.2345+02:00", "2026-11-30T07:00:01.234Z"),
    ("today", "2026-12-01T00:00:00.000Z"),
    ("yesterday", "2026-11-30T00:00:00.000Z"),
    ("90m", "2026-11-30T23:00:15.678Z"),
    ("2h", "2026-11-30T22:30:15.678Z"),
    ("3d", "2026-11-28T00:30:15.678Z"),
    ("1w", "2026-11-24T00:30:15.678Z"),
    ("0m", "2026-12-01T00:30:15.678Z"),
    ("0099-01-01", "0099-01-01T00:00:00.000Z"),
]


@pytest.mark.parametrize(("given", "read"), TIMES)
def test_a_time_is_read_as_records_have_it(given: str, read: str) -> None:
    assert moment("--since", given, NOW) == read


def test_a_day_begins_at_midnight_in_utc_wherever_the_clock_is() -> None:
    here = NOW.astimezone(timezone(timedelta(hours=-5)))  # still the day before there
    assert moment("--since", "today", here) == "2026-12-01T00:00:00.000Z"


WRONG = [
    "", "soon", "Today", "3", "3 d", "-3d", "3y", "1.5h", "3d2h", "2026-02-30", "2026-13-01",
    "30.11.2026", "٣d", "999999w", "0001-01-01T00:00+05:00", "2026-11-30T25:00Z", "\0",
]  # fmt: skip


@pytest.mark.parametrize("given", WRONG)
def test_what_is_no_time_is_said_with_what_is(given: str) -> None:
    with pytest.raises(ValueError, match="is no time: write a date") as raised:
        moment("--since", given, NOW)
    assert str(raised.value).startswith(f"--since {given} is no time")
    for form in ("2026-11-30T09:00Z", "today", "yesterday", "90m", "1w"):
        assert form in str(raised.value)
