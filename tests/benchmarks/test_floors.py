"""The floors decide as the engine does, or the ratios of `make bench` would mislead."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent import Call
from tool_intent.authoring.evaluation import floor
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.guard.guard import Guard

from . import workloads
from .workloads import Args, Fault

FIELDS = Path(__file__).parents[1] / "conformance" / "fields.yaml"
ROWS = yaml.safe_load(FIELDS.read_text(encoding="utf-8"))

#: What the rules of W3 say.
W3_MESSAGES = {
    "intent must have at least 3 words", "intent only restates the tool name",
    "rationale repeats intent", "protected path", "content holds a secret",
    *(f"boilerplate {n}" for n in range(5)),
}  # fmt: skip

#: SHA-256 of the JSON text of each list of calls.
INPUTS = {
    "inputs_w1": "7eec001ef76f752e0a5dd0dba4d9856d5050105e9d9ca3b2df643f3920ffc393",
    "inputs_w2": "b4c8818a7d865e8709d3ab1b5bf1a8d04d1752e9b0abadf3a5f0ddc78055d33f",
    "inputs_w3": "b7ffabbf5e4814f38b7b93cc7283360e4fa265321dded1c25926fc912c5b0960",
}
W3 = Path(__file__).with_name("w3.yaml")
FLOORS = {
    "write": (workloads.floor_w1, workloads.tuned_w1),
    "edit": (workloads.floor_w2, workloads.tuned_w2),
}


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Artifact]:
    file = tmp_path_factory.mktemp("floors") / "policy.yaml"
    file.write_text(workloads.POLICY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOL_INTENT_CACHE", "off")
        yield load([str(file)], found=False)


@pytest.mark.parametrize("name", INPUTS)
def test_the_calls_are_the_ones_that_earlier_figures_were_measured_on(name: str) -> None:
    calls = getattr(workloads, name)()
    assert sha256(json.dumps(calls).encode()).hexdigest() == INPUTS[name]


@pytest.mark.parametrize("tool", FLOORS)
def test_floor_and_engine_fault_the_same_places_of_every_call(
    artifact: Artifact, tool: str
) -> None:
    calls = {"write": workloads.inputs_w1, "edit": workloads.inputs_w2}[tool]()
    faulty = [_agreed(artifact, tool, args) for args in calls]
    assert len(calls) == 1000
    assert sum(faulty) == 500


@pytest.fixture(scope="module")
def by_rules(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """The artifact of W3, in a folder where nothing is."""
    folder = tmp_path_factory.mktemp("w3")
    return load([str(W3)], cwd=str(folder), found=False, environ={"TOOL_INTENT_CACHE": "off"})


def test_floor_and_engine_fault_the_same_places_of_every_call_by_the_same_rules(
    by_rules: Artifact,
) -> None:
    broken: Counter[str] = Counter()
    for args in workloads.inputs_w3():
        faults = workloads.floor_w3(args) or []
        findings = by_rules.decide(Call(1, "write", args)).findings
        assert sorted(at for at, _ in faults) == sorted(f.at for f in findings), args
        by_rule = [f for f in findings if f.rule.startswith("w3/")]
        # What could not be told is said behind the rule's own words.
        rules = sorted((f.at, f.message.partition(" (It could")[0]) for f in by_rule)
        assert sorted(x for x in faults if x[1] in W3_MESSAGES) == rules, args
        broken.update(message for _, message in rules)
        broken["call"] += bool(findings)
    assert broken["call"] == 500
    assert set(broken) == {*W3_MESSAGES, "call"}, "every rule is broken by some call"


def test_the_floor_of_an_evaluation_finds_what_that_of_the_benchmark_finds() -> None:
    for args in workloads.inputs_w3():
        faults = [message for _, message in workloads.floor_w3(args) or []]
        if W3_MESSAGES.issuperset(faults):  # its fields are texts that can be read
            assert (floor.faults(args) or []) == faults, args


@pytest.mark.parametrize(
    "args",
    [
        {
            "intent": "Guard the\u00a0hash chain",
            "rationale": "It is\u200b \uff4eeeded: this is needed",
        },
        {"intent": "\u200b", "rationale": "\u2003"},
        {"intent": "a" * 70_000, "rationale": "APPROVED, see issue 4", "path": "infra/a.tf"},
        {"intent": "Write the file\u202e", "rationale": "disapproved", "path": "infra/a.tf"},
        {"intent": "Guard the chain", "rationale": "Unapproved, approved", "path": "secrets/a"},
        {"intent": "Guard - chain -", "rationale": "Guard - chain -", "path": 7, "content": None},
        {"intent": None, "rationale": ["x"], "path": None, "content": 3},
    ],
)
def test_floor_and_engine_read_odd_texts_alike(by_rules: Artifact, args: Args) -> None:
    faults = workloads.floor_w3(args) or []
    found = by_rules.decide(Call(1, "write", args)).findings
    assert sorted(at for at, _ in faults) == sorted(f.at for f in found)


@pytest.mark.parametrize("row", ROWS, ids=[str(row["name"]) for row in ROWS])
def test_floor_and_engine_fault_the_same_places_for_every_kind_of_value(
    artifact: Artifact, row: dict[str, Any]
) -> None:
    for name in ("intent", "rationale"):
        fields = {"intent": "Guard the hash chain", "rationale": "Issue 12 shows it torn."}
        fields.pop(name)
        if not row.get("absent"):
            fields[name] = _value(row)
        _agreed(artifact, "write", {"path": "a.py", "content": "x", **fields})
        _agreed(artifact, "edit", {"path": "a.py", "edits": [fields, dict(fields)]})


@pytest.mark.parametrize(
    "args", [{}, {"edits": None}, {"edits": []}, {"edits": {}}, {"edits": "x"}, {"edits": [7, {}]}]
)
def test_floor_and_engine_fault_the_same_places_where_no_edit_is_one(
    artifact: Artifact, args: Args
) -> None:
    assert _agreed(artifact, "edit", args)


def _agreed(artifact: Artifact, tool: str, args: Args) -> bool:
    """Whether floors, compiled function and guard, which must agree, find a fault in a call."""
    floor, tuned = FLOORS[tool]
    faults: list[Fault] = floor(args) or []
    places = [place for place, _ in faults]
    compiled = [finding.at for finding in artifact.program(tool).judge(args) or ()]
    decision = Guard(artifact).check(tool, args)

    assert (tuned(args) or []) == faults
    assert compiled == places
    assert sorted(finding.at for finding in decision.findings) == sorted(places)
    assert decision.allowed is not bool(places)
    return bool(places)


def _value(row: dict[str, Any]) -> Any:
    if "repeat" in row:
        text, times = row["repeat"]
        return text * times
    return row["value"]
