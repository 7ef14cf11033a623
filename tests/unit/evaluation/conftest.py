"""A small policy and a small corpus whose figures are known by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tool_intent.authoring.evaluation.corpus import Corpus, read_corpus
from tool_intent.compiler.loading import load
from tool_intent.policy.model import EffectivePolicy

_SMALL: Final = Path(__file__).parents[2] / "assets" / "evaluation" / "small.yaml"
POLICY: Final = f"""\
{_SMALL.read_text("utf-8")}\
  rule small/because on *
    when has rationale
    require rationale mentions "because"
    else warn "No reason."
  rule small/again on bash
    forbid earlier bash passed where rationale == this.rationale within 9 calls
    else deny "Said before."
"""
HEADER: Final = {
    "corpus": "small", "version": 1,
    "kinds": {"short": "deny", "vague": "warn", "again": "deny"},
    "rules": {"small/short": ["short"], "small/because": ["vague"]},
    "thresholds": {"deny": {"precision": 0.9, "false_positives": 0.4}, "warn": {"recall": 1}},
}  # fmt: skip


def row(id: str, rationale: str, label: str, *kinds: str, **more: Any) -> dict[str, Any]:
    said = {"id": id, "tool": "bash", "args": {"command": id}, "rationale": rationale}
    return said | {"label": label, "kinds": list(kinds)} | more


AGAIN: Final = [{"tool": "bash", "args": "ls", "rationale": "as before because"}]
#: found by deny: 1, 3, 6, 7; by warn: those and 2.
ROWS: Final = [
    row("1", "ok", "bad", "short", lang="en"),
    row("2", "it is good so", "bad", "vague", lang="en"),
    row("3", "as before because", "bad", "again", history=AGAIN, lang="de"),
    row("4", "as before because", "good", lang="de"),
    row("5", "slow because of 4 locks", "good", note="hard: short"),
    row("6", "because", "good", note="hard: short", tool="read"),
    row("7", "x", "borderline"),
    row("8", "fine because fine", "bad", "vague", lang="en"),
]


@pytest.fixture
def policy(tmp_path: Path) -> EffectivePolicy:
    file = tmp_path / "small.yaml"
    file.write_text(POLICY, encoding="utf-8")
    return load([str(file)], cwd=str(tmp_path), found=False).policy


@pytest.fixture
def write_corpus(tmp_path: Path) -> Callable[..., Corpus]:
    def write(*rows: dict[str, Any]) -> Corpus:
        file = tmp_path / "small.jsonl"
        file.write_text("".join(f"{json.dumps(one)}\n" for one in rows), encoding="utf-8")
        return read_corpus(str(file))

    return write


@pytest.fixture
def corpus(write_corpus: Callable[..., Corpus]) -> Corpus:
    return write_corpus(HEADER, *ROWS)
