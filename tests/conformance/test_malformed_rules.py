"""Every usual slip gets its one message, at its place, with its help. Rows of other kinds belong to
the reader of policy files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tool_intent.rules.check import check_text

ROWS = [
    row
    for line in Path(__file__).with_name("malformed.jsonl").read_text("utf-8").splitlines()
    if (row := json.loads(line))["kind"] == "rules"
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']}")
def test_a_slip_gets_its_message_at_its_place(row: dict) -> None:
    tree, found = check_text(row["text"], "r.rules")
    told = [(f"{d.line}:{d.column}", d.message, d.help) for d in found]
    assert told == [(row["at"], row["message"], row["help"])]
    assert tree is None
    assert found[0].severity == "error"
    assert (found[0].code == "rules/parse") == (row["stage"] == "parse")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']}")
def test_a_slip_is_told_alike_among_sound_rules(row: dict) -> None:
    """Only the lines move: recovery neither loses the error nor makes others of it."""
    before = "rule sound/before on *\n  forbid true\n\n"
    after = "\n\nrule sound/after on *\n  forbid true\n"
    _, found = check_text(before + row["text"] + after, "r.rules")
    line, column = map(int, row["at"].split(":"))
    told = [(d.line, d.column, d.message, d.help) for d in found]
    assert told == [(line + 3, column, row["message"], row["help"])]
