"""What a policy is held against: lengths, linters that are there, and a floor for its time."""

from __future__ import annotations

import builtins
import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tool_intent.authoring.evaluation import floor
from tool_intent.authoring.evaluation.baselines import baselines
from tool_intent.authoring.evaluation.corpus import Corpus
from tool_intent.authoring.evaluation.judging import Bench
from tool_intent.authoring.evaluation.latency import measure, percentile
from tool_intent.authoring.evaluation.metrics import Counts
from tool_intent.policy.model import EffectivePolicy

from .conftest import row


def test_lengths_find_a_row_with_any_text_that_is_too_short(
    write_corpus: Callable[..., Corpus],
) -> None:
    corpus = write_corpus(
        row("1", "", "bad", intent="twenty characters and"),
        row("2", "nineteen characters", "bad", intent="twenty characters and"),
        row("3", "twenty characters and", "good", intent="short"),
        row("4", "twenty characters, a", "good"),
        row("5", "x", "borderline"),
    )
    found = {one.name: one.counts for one in baselines(corpus)}
    assert found["minLength 1"] == Counts(1, 0, 1, 2)
    assert found["minLength 20"] == Counts(2, 1, 0, 1)


def test_a_linter_that_is_not_there_is_named_with_how_to_have_it(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    imported = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        if name.split(".")[0] in ("defluff", "slop_guard", "proselint"):
            raise ImportError(name)
        return imported(name, *more, **named)

    for module in ("defluff", "slop_guard", "proselint", "proselint.tools"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setenv("PATH", str(tmp_path))
    absent = {one.name: one.absent for one in baselines(corpus) if one.counts is None}
    assert absent == {
        "defluff": "not installed; pip install defluff",
        "slop-guard": "not installed; pip install --no-deps slop-guard",
        "proselint": "not installed; pip install proselint",
        "write-good": "not installed; npm install --global write-good",
    }


#: For each linter a text that it finds fault with.
FAULTY = {
    "defluff": (
        "defluff",
        "We leverage robust synergies to delve into a seamless, holistic, cutting-edge tapestry.",
    ),
    "slop_guard": ("slop-guard", "It's worth noting that we must delve into this robust tapestry."),
    "proselint": ("proselint", "This is very unique, at the end of the day."),
}


@pytest.mark.parametrize("module", FAULTY)
def test_a_linter_that_is_there_finds_its_own_kind_of_fault(
    module: str, write_corpus: Callable[..., Corpus]
) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    name, text = FAULTY[module]
    corpus = write_corpus(row("1", text, "bad"), row("2", "CI fails on main.", "good"))
    found = {one.name: one.counts for one in baselines(corpus)}
    assert found[name] == Counts(1, 0, 0, 1)


def test_write_good_is_run_by_node_where_both_are_on_the_path(
    write_corpus: Callable[..., Corpus],
) -> None:
    if shutil.which("write-good") is None:
        pytest.skip("write-good is not installed")
    corpus = write_corpus(
        row("1", "So it was very nice.", "bad"), row("2", "CI fails on main.", "good")
    )
    found = {one.name: one.counts for one in baselines(corpus)}
    assert found["write-good"] == Counts(1, 0, 0, 1)


def test_a_write_good_that_does_not_run_is_told(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    package = tmp_path / "package" / "bin"
    package.mkdir(parents=True)
    for place in (package / "write-good", tmp_path / "node"):
        place.write_text("#!/bin/sh\nexit 1\n")
        place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{package}:{tmp_path}")
    (absent,) = [one.absent for one in baselines(corpus) if one.name == "write-good"]
    assert absent == "installed, but it does not run; npm install --global write-good"


def test_the_time_of_every_rows_decision_is_measured_beside_the_floor(
    policy: EffectivePolicy, corpus: Corpus
) -> None:
    found = measure(Bench(policy), corpus, rounds=2)
    assert found.calls == len(corpus.items)
    assert 0 < found.p50 <= found.p99
    assert found.floor > 0
    assert found.ratio > 0
    assert found.p99_ratio == pytest.approx(found.p99 / found.floor)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([5], 0.99, 5), ([3, 1, 2], 0.5, 2), ([*range(1, 101)], 0.99, 99), ([1, 2], 0.5, 1)],
)
def test_a_percentile_is_the_smallest_value_that_the_share_does_not_exceed(
    values: list[int], share: float, expected: int
) -> None:
    assert percentile(values, share) == expected


def test_the_floor_passes_its_call_and_finds_each_fault_of_one() -> None:
    assert floor.faults(floor.CALL) is None
    faulty = {
        "intent": "write",
        "rationale": "as requested, best practices",
        "path": "infra/a.tf",
        "content": "AKIA" + "A" * 16,
    }
    assert floor.faults(faulty) == [
        "intent must have at least 3 words",
        "intent only restates the tool name",
        "boilerplate 0",
        "boilerplate 3",
        "protected path",
        "content holds a secret",
    ]
    assert floor.faults(floor.CALL | {"rationale": floor.CALL["intent"]}) == [
        "rationale repeats intent"
    ]
    assert floor.faults({}) == ["a field is no text"]
