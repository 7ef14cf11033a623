"""The policies in use, decided: each rule fires at a call it is for, and not at another."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tool_intent import Guard
from tool_intent.rules import tree as t
from tool_intent.rules.parse import parse_rules
from tool_intent.rules.printer import print_rules

POLICIES: Final = Path(__file__).parents[2] / "assets" / "policies"
CORPUS: Final = yaml.safe_load(Path(__file__).with_name("corpus.yaml").read_text("utf-8"))
NOW: Final = 1_800_000_000.0

#: The fields that the rules name, and one rule with the names that its file defines.
POLICY: Final = """\
version: 1
policy: corpus
extends: ./one.rules
fields:
  intent: {description: What for.}
  rationale: {description: Why.}
  ticket: {description: The ticket.}
  risk: {description: What can go wrong.}
tools:
  "*": {optional: [intent, rationale, ticket, risk]}
  edit: {at: "edits[]", optional: [intent, rationale]}
"""


def _rules() -> dict[str, str]:
    """Each rule as a file of its own, by its id."""
    found: dict[str, str] = {}
    for path in sorted(POLICIES.iterdir()):
        text = path.read_text("utf-8") if path.suffix in (".rules", ".yaml") else ""
        rules = text if path.suffix == ".rules" else (yaml.safe_load(text) or {}).get("rules", "")
        tree = parse_rules(rules, path.name)[0]
        named = tuple(s for s in tree.statements if not isinstance(s, t.Rule))
        for rule in tree.rules:
            found[rule.id] = print_rules(replace(tree, statements=(*named, rule)))
    return found


RULES: Final = _rules()


@pytest.fixture
def guard(request: pytest.FixtureRequest, tmp_path: Path) -> Guard:
    """A guard by one rule, for a user without a policy."""
    own = tmp_path / ".tool-intent"
    shutil.copytree(POLICIES / "words", own / "words")
    (own / "one.rules").write_text(RULES[request.param], encoding="utf-8")
    (own / "policy.yaml").write_text(POLICY, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path / "home"))
        patch.setenv("TOOL_INTENT_CACHE", "off")
        return Guard.load(cwd=str(tmp_path), now=NOW)


def _found(guard: Guard, calls: list[list[Any]], session: str) -> list[str]:
    """The rules that fire at the last call of a session."""
    found: list[str] = []
    for tool, args, *rest in calls:
        context, what = (*rest, {}, "")[:2] if len(rest) != 1 else (rest[0], "")
        given = json.loads(json.dumps(args).replace("$long", "word " * 200))
        for _ in range(int(what[7:]) if what.startswith("repeat ") else 1):
            if what == "failed":
                with pytest.raises(OSError, match="exit code 1"):
                    guard.call(tool, given, _failing, session=session, context=context)
                continue
            decision = guard.check(tool, given, session=session, context=context)
            found = [finding.rule for finding in decision.findings]
            assert not any("could not be told" in f.message for f in decision.findings)
    return found


def _failing(_: dict[str, Any]) -> None:
    raise OSError("exit code 1")


@pytest.mark.parametrize(("guard", "rule"), [(rule, rule) for rule in CORPUS], indirect=["guard"])
def test_a_rule_fires_at_what_it_is_for_and_at_nothing_else(rule: str, guard: Guard) -> None:
    assert set(_found(guard, CORPUS[rule]["fires"], "fires")) == {rule}
    assert _found(guard, CORPUS[rule]["quiet"], "quiet") == []


def test_every_rule_of_the_corpus_has_its_sessions() -> None:
    assert sorted(CORPUS) == sorted(RULES)
    assert len(CORPUS) >= 80
