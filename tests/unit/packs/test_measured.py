"""The anti-fluff pack on its labelled calls: what the docs say of it is what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tool_intent.authoring.evaluation.corpus import read_corpus
from tool_intent.authoring.evaluation.pages import with_tables
from tool_intent.authoring.evaluation.report import evaluate
from tool_intent.compiler.loading import load

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = ROOT / "docs/anti-fluff.md"


def test_the_tables_of_the_page_are_what_is_measured_now() -> None:
    corpus = read_corpus(str(ROOT / "tests/corpus/fluff.jsonl"))
    policy = load(["std/anti-fluff"], cwd=str(ROOT), found=False).policy
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(PAGE.name, text, evaluate("std/anti-fluff", policy, corpus)) == text, (
        "run `make docs-fluff`"
    )
