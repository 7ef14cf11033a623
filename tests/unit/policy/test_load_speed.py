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
from tool_intent.rules.parse import _lark, parse_rules
from tool_intent.rules.patterns import check_pattern

BUDGET = 2.0
BUDGET_WITH_RULES = 3.0
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

    assert _ratio(floor, ours) <= BUDGET


def _ratio(floor, ours):
    best = {floor: float("inf"), ours: float("inf")}
    for _ in range(5):
        for run in (floor, ours):
            gc.collect()
            began = time.perf_counter()
            run()
            best[run] = min(best[run], time.perf_counter() - began)
    return best[ours] / best[floor]


RULES = "".join(
    f"""\
rule team/rule-{n:04d} on tool_{n:04d}
  when args.path under "src/part{n}" and has ticket
  require rationale mentions ["review", "audit {n}"] or intent matches /fix-[0-9]+{n}/
  else ask "Say who reviews part {n} of {{tool}}."
  fix "Name the reviewer."
"""
    for n in range(1000)
)
WITH_RULES = TEXT.replace("tools:", "fields: {ticket: {}}\ntools:") + "".join(
    ["rules: |\n", *(f"  {line}\n" for line in RULES.splitlines())]
)


def test_a_thousand_entries_and_rules_load_within_thrice_what_reads_them(tmp_path):
    (tmp_path / "p.yaml").write_text(WITH_RULES)
    schema = json.loads((Path(sources.shipped()) / "schema/policy.schema.json").read_text())
    data = yaml.safe_load(WITH_RULES)
    root = Root(str(tmp_path / "p.yaml"), "repo", "p.yaml")
    parse_rules("", "warm-up")  # the parser's tables are made once a process

    def floor():
        yaml.compose(WITH_RULES, yaml.CSafeLoader)
        assert not list(Draft202012Validator(schema).iter_errors(data))
        _lark().parse(RULES, start="start")

    def ours():
        check_pattern.cache_clear()
        assert len(load([root]).items) == 2000

    assert _ratio(floor, ours) <= BUDGET_WITH_RULES


def test_rules_of_all_tools_of_a_catalog_take_time_in_proportion(tmp_path):
    def spent(count):
        catalog = "catalog: big\ntools:\n" + "".join(
            f"  t{n}: {{groups: ['@write'], roles: {{path: path}}, "
            f"schema: {{type: object, properties: {{a{n}: {{type: integer}}}}}}}}\n"
            for n in range(count)
        )
        entries = "".join(
            f'  t{n}:\n    require: intent\n    when: path under "x{n}"\n' for n in range(count)
        )
        rules = "".join(
            f'  rule a/r{n} on @write, bsah{n}\n    forbid path under "s{n}" and has args.a{n}\n'
            for n in range(count)
        )
        (tmp_path / "c.yaml").write_text(catalog)
        (tmp_path / "p.yaml").write_text(
            f"version: 1\ncatalog: ./c.yaml\ntools:\n{entries}rules: |\n{rules}"
        )
        root = Root(str(tmp_path / "p.yaml"), "repo", "p.yaml")
        best = float("inf")
        for _ in range(3):
            began = time.perf_counter()
            assert len(load([root]).items) == 2 * count
            best = min(best, time.perf_counter() - began)
        return best

    assert spent(800) / spent(200) <= 4 * 1.6
