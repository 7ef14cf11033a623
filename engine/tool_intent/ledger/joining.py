"""Decisions, each with its outcome."""

from __future__ import annotations

from collections.abc import Iterable

from tool_intent.ledger.members import Members, text


def joined(records: Iterable[Members]) -> list[tuple[Members, Members | None]]:
    """The decisions among `records`, in their order, each with the outcome whose `of` names it, or
    None. Records of other types, and outcomes of decisions that are not there, are left out."""
    decisions: list[Members] = []
    outcomes: dict[str, Members] = {}
    for record in records:
        if record.get("type") == "decision":
            decisions.append(record)
        elif record.get("type") == "outcome":
            outcomes[text(record, "of")] = record
    return [(decision, outcomes.get(text(decision, "id"))) for decision in decisions]
