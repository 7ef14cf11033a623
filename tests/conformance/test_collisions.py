"""What becomes of fields that a tool defines itself: every row of collisions.yaml, compiled and
walked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import compiled
from tool_intent.compiler.walk import walk
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root
from tool_intent.runtime.extend import extend
from tool_intent.runtime.model import Call
from tool_intent.runtime.paths import Place

ROWS = yaml.safe_load(Path(__file__).with_name("collisions.yaml").read_text(encoding="utf-8"))
PLACE = Place("/project", "/project", "/home/someone", False)


def schema_of(row: dict[str, Any]) -> dict[str, Any]:
    properties = dict(row["own"])
    if "edits" in row:
        items = {"type": "object", "properties": row["edits"]}
        properties["edits"] = {"type": "array", "items": items}
    return {"type": "object", "properties": properties}


def artifact_of(row: dict[str, Any], folder: Path) -> Artifact:
    roots = []
    for name, text in row["files"].items():
        path = folder / f"{name}.yaml"
        path.write_text(f"version: 1\n{text}\n", encoding="utf-8")
        roots.append(Root(str(path), name.partition("_")[0], f"{name}.yaml"))
    why = "it belongs to you" if row.get("writable") else None
    policy = load(roots, doubts=lambda *_: why)
    assert policy.broken == ()
    assert [d.message for d in policy.warnings if d.code == "policy/not-permitted"] == row.get(
        "warnings", []
    )
    return compiled(policy, PLACE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_collision_is_treated_as_its_row_says(row: dict[str, Any], tmp_path: Path) -> None:
    artifact, schema = artifact_of(row, tmp_path), schema_of(row)
    history = artifact.new_history()
    for args in row.get("calls") or [row["args"]]:
        decision = artifact.decide(Call(1, "t", args, schema=schema, now=1.0), history)
    assert sorted(f"{f.rule} at {f.at}" for f in decision.findings) == sorted(row["finds"])
    assert decision.args == row["gets"]
    if "says" in row:
        assert list(decision.provenance) == row["says"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_the_walker_finds_what_the_compiled_program_finds(
    row: dict[str, Any], tmp_path: Path
) -> None:
    artifact, schema = artifact_of(row, tmp_path), schema_of(row)
    tool = artifact.lowering.tool("t", artifact.treatment("t", schema))
    program = artifact.program("t", schema)
    for args in row.get("calls") or [row["args"]]:
        assert Counter(walk(tool, args)) == Counter(program.judge(args) or [])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_what_is_required_is_advertised_and_what_is_the_tool_s_stays_as_it_is(
    row: dict[str, Any], tmp_path: Path
) -> None:
    artifact, schema = artifact_of(row, tmp_path), schema_of(row)
    adverts = artifact.program("t", schema).adverts
    extended, refused = extend({"name": "t", "inputSchema": schema}, adverts)
    collides = any(f.startswith("fields/collision") for f in row["finds"])
    assert bool(refused) is collides
    shown = extended["inputSchema"]["properties"]
    assert {name: shown[name] for name in row["own"]} == row["own"]
    for one in [f for f in row["finds"] if f.startswith("fields/missing")]:
        *_, name = one.split("/")
        places = [extended["inputSchema"], shown.get("edits", {}).get("items", {})]
        assert any(name in place.get("required", []) for place in places) or "when" in str(row)
