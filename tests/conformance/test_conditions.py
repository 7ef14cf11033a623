"""The rows of conditions.yaml, one test each: what is no text function, in both evaluators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.authoring.examples import PLACE
from tool_intent.authoring.explain import Explainer
from tool_intent.compiler.loading import compiled
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root, pack_path
from tool_intent.runtime.model import Call

TABLE = yaml.safe_load(Path(__file__).with_name("conditions.yaml").read_text(encoding="utf-8"))
CALL = TABLE.pop("call")
ROWS = [(name, *row) for name, rows in TABLE.items() for row in rows]
FIRED = {True: True, False: False, None: "unknown"}


@pytest.mark.parametrize(("name", "condition", "value"), ROWS, ids=[row[1] for row in ROWS])
def test_a_condition_is_what_its_row_says(
    name: str, condition: str, value: Any, tmp_path: Path
) -> None:
    file = tmp_path / "one.rules"
    file.write_text(f"rule a/b on odd, bash\n  forbid {condition}\n", encoding="utf-8")
    roots = [Root(pack_path("std/baseline"), "org", "std/baseline"), Root(str(file), "repo", "r")]
    policy = load(roots)
    assert policy.broken == ()
    artifact = compiled(policy, PLACE)
    call = Call(1, CALL["tool"], CALL["args"], CALL["context"], None, 0.0)
    explained = Explainer(artifact).explain(call, artifact.new_history(keep=True))
    (rule,) = [r for r in explained.rules if r.id == "a/b"]
    assert FIRED[rule.judgements[0].fired] == value
    findings = [
        f for f in artifact.decide(call, artifact.new_history()).findings if f.rule == "a/b"
    ]
    assert [f.effect for f in findings] == ([] if value is False else ["deny"])
    assert [("could not be told" in f.message) for f in findings] == (
        [] if value is False else [value == "unknown"]
    )


@pytest.mark.parametrize("name", TABLE)
def test_every_kind_of_condition_has_at_least_twelve_rows(name: str) -> None:
    assert len(TABLE[name]) >= 12
