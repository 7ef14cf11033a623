"""Loading costs little more than what it cannot do without: reading YAML and its schema."""

import gc
import json
import time
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from tool_intent.policy import sources
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root

BUDGET = 2.0
TEXT = "version: 1\ntools:\n" + "".join(
    f"  tool_{n:04d}: {{require: [intent, rationale]}}\n" for n in range(1000)
)


def test_a_thousand_entries_load_within_twice_yaml_and_schema(tmp_path):
    (tmp_path / "p.yaml").write_text(TEXT)
    schema = json.loads((Path(sources.shipped()) / "schema/policy.schema.json").read_text())
    data = yaml.safe_load(TEXT)
    root = Root(str(tmp_path / "p.yaml"), "repo", "p.yaml")

    def floor():
        yaml.compose(TEXT, yaml.CSafeLoader)
        assert not list(Draft202012Validator(schema).iter_errors(data))

    def ours():
        assert len(load([root]).items) == 1000

    best = {floor: float("inf"), ours: float("inf")}
    for _ in range(5):
        for run in (floor, ours):
            gc.collect()
            began = time.perf_counter()
            run()
            best[run] = min(best[run], time.perf_counter() - began)
    assert best[ours] / best[floor] <= BUDGET
