"""The anti-fluff pack on its labelled calls: what the docs say of it is what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tool_intent.authoring.evaluation.corpus import read_corpus
from tool_intent.authoring.evaluation.pages import with_tables
from tool_intent.authoring.evaluation.report import Evaluation, evaluate
from tool_intent.compiler.loading import load

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = ROOT / "docs/anti-fluff.md"


def figures(corpus: str) -> Evaluation:
    policy = load(["std/anti-fluff"], cwd=str(ROOT), found=False).policy
    return evaluate("std/anti-fluff", policy, read_corpus(str(ROOT / "tests/corpus" / corpus)))


@pytest.fixture(scope="module")
def measured() -> Evaluation:
    return figures("fluff.jsonl")


@pytest.mark.slow
def test_the_tables_of_the_page_are_what_is_measured_now(measured: Evaluation) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(PAGE.name, text, measured) == text, "run `make docs-fluff`"


def test_the_pack_and_each_of_its_rules_reach_their_tier(measured: Evaluation) -> None:
    assert [gate for gate in measured.gates if not gate.met] == []


def test_the_pack_reaches_its_tiers_on_calls_that_were_written_after_it() -> None:
    fresh = figures("fluff-fresh.jsonl")
    assert [gate.figure for gate in fresh.gates if not gate.met] == []
    assert len(fresh.gates) == 8


def test_every_rule_is_held_to_its_tier(measured: Evaluation) -> None:
    assert measured.unknown_rules == ()
    rules = {rule.rule for rule in measured.rules}
    assert rules == set(measured.corpus.header.rules)
    assert all(rule.of_kinds.true_positives for rule in measured.rules), (
        "a rule that never fires is not measured"
    )


def test_every_row_is_judged_as_it_stands(measured: Evaluation) -> None:
    assert [one.item.id for one in measured.judged if one.is_fault] == []
