"""Many searches of the same texts, which are gated together, find what each finds alone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.benchmarks.rule_policies import fifty
from tests.laws.conftest import examples
from tests.laws.test_rules import Session

from tool_intent.compiler.loading import load

_PIECES = [
    "as requested", "As Requested by the user", "to finish the task", "this is needed", "for now",
    "best practice", "Best Practices", "<<<<<<< ", "=======", "AKIAABCDEFGHIJKLMNOP", "eval(",
    "print(x, DEBUG", "PASSWORD", "password", "except:", "trust me", "TRUST  ME",
    "n\u0435\u0435ded",
    "\uff41s requested", "\u017fomehow", "somehow", "magic", "\u212aey", " ", "\n", "\u200b", "x",
    "the hash chain", "quick win", "debug", "error", "lint", "it", "fix", "a" * 300, "\ud800",
    "fix it", "wip", "todo",
]  # fmt: skip
#: The first few texts are not gated.
_QUIET = [
    {"intent": "Guard the chain", "rationale": "Issue 12 shows it torn.", "newText": "x"},
] * 9  # fmt: skip
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=5).map(" ".join)
_VALUES = st.one_of(_TEXTS, st.sampled_from([None, 7, ["x"]]))
_ENTRIES = st.fixed_dictionaries(
    {}, optional={"intent": _VALUES, "rationale": _VALUES, "newText": _VALUES}
)


@cache
def _session() -> Session:
    with TemporaryDirectory() as folder:
        file = Path(folder, "fifty.yaml")
        file.write_text(fifty(), encoding="utf-8")
        environ = {"TOOL_INTENT_CACHE": "off"}
        return Session(load([str(file)], cwd=folder, found=False, environ=environ).policy)


def _judged(edits: Any) -> None:
    call = {"tool": "edit", "args": {"path": "a.py", "edits": edits}, "context": {}, "wait": 1}
    compiled, walked = _session().judge({**call, "outcome": "tried"})
    assert compiled == walked


@settings(max_examples=examples(dev=100, ci=5_000))
@given(st.lists(_ENTRIES, max_size=4))
def test_searches_that_are_gated_together_find_what_each_finds_alone(edits: list[Any]) -> None:
    _judged(_QUIET + edits)


@pytest.mark.parametrize("piece", _PIECES)
def test_a_text_alone_is_found_behind_every_gate(piece: str) -> None:
    for name in ("intent", "rationale", "newText"):
        _judged([*_QUIET, {**_QUIET[0], name: piece}])


def test_what_is_no_list_of_entries_is_judged_as_the_walker_does() -> None:
    for edits in (None, {}, [], [3, None], "x"):
        _judged(edits)
