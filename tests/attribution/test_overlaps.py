"""Calls that were at work on one file at the same time."""

from __future__ import annotations

from typing import Any

import pytest

from tool_intent.ledger.attribution.hops import Step, begun, steps
from tool_intent.ledger.attribution.overlaps import apart

#: An event: `+call content` is a call that begins and what it finds, `-call content` one that ends,
#: `-call content content` one whose record tells its own part, from one content to the other.
CASES = {
    "one after another": ("+a x, -a y, +b y, -b z", ""),
    "somebody in between": ("+a x, -a y, +b q, -b z", ""),
    "an older version, checked out in between": ("+a x, -a y, +b x, -b z", ""),
    "the inner one's change is seen by the outer one": ("+a x, +b x, -b y, -a z", "ab"),
    "both begin with the same": ("+a x, +b x, -a y, -b z", "ab"),
    "the later one finds what the earlier one leaves": ("+a x, +b y, -a y, -b z", ""),
    "the later one tells its own part": ("+a x, +b x, -a y, -b y z", ""),
    "neither sees the other's end, both tell": ("+a x, +b x, -a p z, -b q z", ""),
    "only one of them tells": ("+a x, +b x, -a y, -b q z", "a"),
    "three, of which two overlap": ("+a x, -a y, +b y, +c y, -b z, -c w", "bc"),
    "a long one around two": ("+a x, +b x, -b y, +c y, -c z, -a w", "abc"),
    "one that changes nothing": ("+a x, +b x, -a x, -b z", ""),
    "one that never ends": ("+a x, +b x, -b z", ""),
    "one whose decision is gone": ("+b x, -a y, -b z", ""),
}


def _records(events: str, folder: str = "/w") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    begun: dict[str, str] = {}
    for seq, event in enumerate(events.split(", "), 1):
        (sign, call), *contents = event.split()
        if sign == "+":
            (begun[call],) = contents
            file = {"path": "f", "pre": contents[0]}
            found.append(
                {"type": "decision", "seq": seq, "id": call, "actor": {"worktree": folder}}
                | {"files": [file]}
            )
        else:
            pre, post = [begun.get(call, "x"), *contents][-2:]
            file = {"path": "f", "pre": pre, "post": post}
            found.append({"type": "outcome", "seq": seq, "of": call, "files": [file]})
    return found


def _apart(records: list[dict[str, Any]], *, everywhere: bool = False) -> list[Step]:
    starts = {r["id"]: begun(r, everywhere=everywhere) for r in records if r["type"] == "decision"}
    return apart(steps(records, everywhere=everywhere), starts)


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize(("events", "unsure"), CASES.values(), ids=CASES)
def test_who_made_a_change_is_unsure_where_two_may_have(
    events: str, unsure: str, everywhere: bool
) -> None:
    found = _apart(_records(events), everywhere=everywhere)
    assert "".join(sorted(step.call for step in found if not step.hops[0].sure)) == unsure


def test_calls_in_different_work_trees_are_not_in_each_others_way() -> None:
    mixed = _records("+a x, +b x, -a y, -b z")
    mixed[1]["actor"] = {"worktree": "/other"}
    assert all(step.hops[0].sure for step in _apart(mixed))
