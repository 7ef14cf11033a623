"""The report of a ledger on disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tool_intent.ledger.families import Family
from tool_intent.ledger.members import part, text, when
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.reading import records
from tool_intent.ledger.verifying import verify
from tool_intent.reports.model import Integrity, Summary
from tool_intent.reports.summary import summarise

#: Problems of a ledger that a report names; the rest are counted.
_MOST_FAULTS = 20


def report_of(
    folder: str, *, since: str = "", session: str = "", expect: str | None = None
) -> Summary:
    """The report of the ledger in `folder`.

    `since` is an RFC 3339 time in UTC (`2026-11-30T09:00:00.000Z`), `session` a session's id or how
    it begins, and takes in those that it started; "" takes all. `expect` is a hash that was the
    ledger's head once. The whole ledger is verified, whatever is shown. Raises OSError where a file
    cannot be read.
    """
    chosen = selected(folder, since=since, session=session)
    return summarise(chosen, ObjectStore(folder).get, _integrity(folder, expect))


def selected(folder: str, *, since: str = "", session: str = "") -> Iterator[dict[str, Any]]:
    """The records that a report is about: as `report_of`. Markers have no session, and outcomes
    belong to decisions, so that all of them are there."""
    family = Family(session)
    if session:
        for record in records(folder):
            if record["type"] == "decision":
                family.learn(record)
    for record in records(folder):
        kind = record["type"]
        in_session = kind != "decision" or family.has(text(part(record, "session"), "id"))
        if kind == "outcome" or (when(record) >= since and in_session):
            yield record


def _integrity(folder: str, expect: str | None) -> Integrity:
    found = verify(folder, expect)
    faults = tuple(f"{problem.place}: {problem.text}" for problem in found.problems[:_MOST_FAULTS])
    if found.wrong > len(faults):
        faults = (*faults, f"and {found.wrong - len(faults)} more")
    count = f"{found.records} record{'' if found.records == 1 else 's'}"
    if not found.whole:
        return Integrity("broken", f"{count}; {found.wrong} of its lines or links are not right.",
                         faults, found.head)  # fmt: skip
    if found.authenticated:
        message = f"{count}; the chain holds, and leads to the head that was expected."
    else:
        message = f"{count}; the chain holds. Consistent, not authenticated: no head was expected."
    return Integrity("consistent", message, (), found.head)
