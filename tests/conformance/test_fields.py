"""What counts as a reason: every row of fields.yaml, compiled and walked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tool_intent.compiler.loading import load
from tool_intent.compiler.walk import walk

ROWS = yaml.safe_load(Path(__file__).with_name("fields.yaml").read_text(encoding="utf-8"))


def test_there_are_at_least_80_rows_with_distinct_names() -> None:
    assert len({row["name"] for row in ROWS}) == len(ROWS) >= 80


@pytest.mark.parametrize("row", ROWS, ids=[str(row["name"]) for row in ROWS])
def test_field_value_gets_the_findings_of_its_row(row: dict, tmp_path: Path) -> None:
    use = "optional" if row.get("optional") else "require"
    policy = tmp_path / "policy.yaml"
    fields = {"reason": row.get("schema", {})}
    tools = {"t": {use: ["reason"]}}
    policy.write_text(json.dumps({"version": 1, "fields": fields, "tools": tools}))
    args = {} if row.get("absent") else {"reason": _value(row)}
    artifact = load([str(policy)], found=False)

    decision = artifact.decide(_call(args), None)
    walked = walk(artifact.lowering.tool("t"), args)

    assert [f.rule for f in decision.findings] == row["findings"]
    assert sorted(walked) == sorted(decision.findings)
    assert decision.allowed is not bool(row["findings"])
    assert decision.args == {}


def _value(row: dict) -> object:
    if "repeat" in row:
        text, times = row["repeat"]
        return text * times
    return row["value"]


def _call(args: dict) -> object:
    from tool_intent import Call

    return Call(1, "t", args)
