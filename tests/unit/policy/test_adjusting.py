"""What weaker and equal ranks make of rules: `adjust:`, `stages:`, `options:`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy, Rule
from tool_intent.policy.sources import Root
from tool_intent.runtime.model import Finding
from tool_intent.runtime.permissions import settled

CASES = yaml.load(
    (Path(__file__).parents[2] / "conformance" / "adjustments.yaml").read_text("utf-8"),
    yaml.BaseLoader,
)


def loaded(folder: Path, said: dict[str, str], *, writable: bool = False) -> EffectivePolicy:
    """The policy of files by rank; a text that begins with `rule` or `option` is rules."""
    roots = []
    for name, text in said.items():
        body = f"rules: |\n{indent(text, '  ')}" if text.startswith(("rule ", "option ")) else text
        path = folder / f"{name}.yaml"
        path.write_text(f"version: 1\n{body}\npolicy: {name}\n", encoding="utf-8")
        roots.append(Root(str(path), name.partition("_")[0], f"{name}.yaml"))
    return load(roots, doubts=lambda *_: "it belongs to you" if writable else None)


def rules(policy: EffectivePolicy) -> dict[str, Rule]:
    found = [item for item in policy.items if isinstance(item, Rule)]
    return {f"{rule.origin.rank} {rule.id}": rule for rule in found}


def effect_at(rule: Rule, moment: dict[str, str]) -> str:
    """What a finding of the rule comes to at a time and a point."""
    finding = Finding(rule.id, rule.effect, "", "No.", None, rule.origin)
    schedules = {(rule.id, rule.origin.rank): rule.schedule} if rule.schedule else {}
    now = datetime.fromisoformat(moment["now"]).timestamp() if "now" in moment else None
    kept = settled([finding], schedules, now, moment.get("point", ""))
    return kept[0].effect if kept else "off"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_rules_are_adjusted_as_far_as_ranks_allow(case: dict[str, Any], tmp_path: Path) -> None:
    policy = loaded(tmp_path, case["files"], writable=case.get("writable") == "true")
    assert policy.broken == ()
    found = rules(policy)
    for name, effect in case.get("effects", {}).items():
        assert found[name].effect == effect
    for moment in case.get("at", ()):
        assert effect_at(found[moment["rule"]], moment) == moment["effect"], moment
    for name, options in case.get("options", {}).items():
        assert found[name].scopes.options == {k: int(v) for k, v in options.items()}
    assert [w.message for w in policy.warnings] == case.get("warnings", [])
