"""Examples, explanations and costs by small policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tool_intent.authoring.costs import rule_costs
from tool_intent.authoring.examples import (
    PLACE,
    rules_of,
    run_examples,
    with_places,
    without_examples,
)
from tool_intent.authoring.explain import Explainer, Explanation
from tool_intent.authoring.rendering import explanation_lines
from tool_intent.authoring.shown import shown
from tool_intent.authoring.tracing import Step
from tool_intent.compiler.loading import compiled
from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.sources import Root, pack_path
from tool_intent.runtime.model import Call
from tool_intent.runtime.state import Seq


def loaded(folder: Path, text: str, name: str = "f.rules") -> EffectivePolicy:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    policy = load([Root(str(path), "repo", name)])
    assert policy.broken == (), policy.broken
    return policy


def explained(policy: EffectivePolicy, tool: str, **args: Any) -> Explanation:
    artifact = compiled(with_places(policy), PLACE)
    call = Call(1, tool, args, {}, None, 0.0)
    return Explainer(artifact).explain(call, artifact.new_history(keep=True))


def steps(explanation: Explanation) -> Iterator[Step]:
    waiting = [p.step for r in explanation.rules for j in r.judgements for p in j.parts]
    while waiting:
        step = waiting.pop(0)
        yield step
        waiting += step.parts


GUARDED = 'rule a/b on bash\n  when command runs "rm"\n  require rationale mentions "old"\n'


def test_a_guard_decides_only_where_the_rule_is_not_quiet_for_another_part(tmp_path: Path) -> None:
    policy = loaded(tmp_path, GUARDED)
    marked = {
        name: {
            part.clause
            for part in explained(policy, "bash", **args).rules[0].judgements[0].parts
            if part.step.decides
        }
        for name, args in {
            "fires": {"command": "rm a", "rationale": "new"},
            "satisfied": {"command": "rm a", "rationale": "old"},
            "elsewhere": {"command": "ls", "rationale": "new"},
        }.items()
    }
    assert marked == {
        "fires": {"when", "require"}, "satisfied": {"require"}, "elsewhere": {"when"},
    }  # fmt: skip


def test_the_part_of_an_and_that_failed_decides_and_the_next_is_not_asked(tmp_path: Path) -> None:
    text = 'rule a/b on bash\n  require words(rationale) > 2 and rationale mentions "x"\n'
    found = {s.text: s for s in steps(explained(loaded(tmp_path, text), "bash", rationale="a x"))}
    assert (found["words(rationale) > 2"].status, found["words(rationale) > 2"].decides) == (
        "false", True,
    )  # fmt: skip
    assert found["words(rationale)"].value == "2"
    skipped = found['rationale mentions "x"']
    assert (skipped.status, skipped.decides) == ("skipped", False)


def test_a_define_is_shown_with_what_it_stands_for(tmp_path: Path) -> None:
    text = "define enough = words(rationale) >= 3\n\nrule a/b on bash\n  require enough\n"
    first = next(steps(explained(loaded(tmp_path, text), "bash", rationale="a")))
    assert first.text == "enough, which is words(rationale) >= 3"


@pytest.mark.parametrize(
    ("condition", "args", "reason"),
    [
        ('all(p in command.deletes: p like "x")', {"command": 'rm "$X"'}, "could not be computed"),
        ('command runs "rm"', {"command": 3}, "the argument command is no text"),
        ('command runs "rm"', {"command": "$X"}, "a word of the command could not be"),
        ("command.parsed", {"command": 3}, "the argument command is no text"),
        ('context.branch == "x"', {"command": "x"}, "context.branch is not told"),
        ("args.timeout > 3", {"timeout": "x"}, "what it is compared with is a number"),
        ("args.timeout > 3", {"timeout": None}, "args.timeout is null"),
        ('content mentions "x"', {"command": "x"}, "which argument of this tool is its content"),
        ('rationale mentions "x"', {"rationale": 3}, "rationale is no text that can be read"),
        ('command.program == "x"', {"command": "a; b"}, "speaks of one alone"),
    ],
)
def test_what_is_unknown_has_its_reason(
    condition: str, args: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    guard = "  when has args.timeout\n" if "timeout" in condition else ""
    text = f"rule a/b on bash, odd\n{guard}  require {condition}\n"
    explanation = explained(loaded(tmp_path, text), "bash", **args)
    assert explanation.rules[0].judgements[0].fired is None
    assert any(reason in (step.reason or "") for step in steps(explanation)), [
        (s.text, s.reason) for s in steps(explanation)
    ]


def test_explaining_adds_nothing_to_the_session(tmp_path: Path) -> None:
    text = "rule a/b on bash\n  forbid earlier bash within 5 calls\n"
    artifact = compiled(with_places(loaded(tmp_path, text)), PLACE)
    history = artifact.new_history(keep=True)
    call = Call(1, "bash", {"command": "x"}, {}, None, 0.0)
    explainer = Explainer(artifact)
    assert [explainer.explain(call, history).decision.decision for _ in "ab"] == ["allow"] * 2
    assert history.records == []
    artifact.decide(call, history)
    assert explainer.explain(call, history).decision.decision == "deny"


def test_each_check_of_a_field_is_told_apart(tmp_path: Path) -> None:
    text = """version: 1
fields: {ticket: {pattern: "^PAY", maxLength: 5}}
tools: {bash: {require: [ticket]}}
"""
    policy = loaded(tmp_path, text, "policy.yaml")
    found = {c.rule: c.holds for c in explained(policy, "bash", ticket="PAY-123").fields}
    assert found == {
        "fields/missing": True, "fields/pattern": True, "fields/maxLength": False,
    }  # fmt: skip
    absent = {c.rule: c.holds for c in explained(policy, "bash").fields}
    assert absent == {
        "fields/missing": False, "fields/pattern": None, "fields/maxLength": None,
    }  # fmt: skip


def test_of_a_long_list_those_elements_are_shown_that_decided(tmp_path: Path) -> None:
    text = 'rule a/b on bash\n  forbid any(p in command.deletes: p like "last")\n'
    names = " ".join(f"f{n}" for n in range(40))
    explanation = explained(loaded(tmp_path, text), "bash", command=f"rm {names} last")
    asked = [s for s in steps(explanation) if s.element]
    assert asked[0].element == 'p = "last"'
    assert asked[0].decides
    assert len(asked) == 5
    assert "… 36 more" in "\n".join(explanation_lines(explanation, whole=True))


OUTCOMES = """rule a/b on bash
  require earlier read passed within 5 calls
  {label} bash {{command: "x"}} after read {outcome} {{path: "a"}}

rule a/deny-all on *
  deny "No."
"""


@pytest.mark.parametrize(
    ("label", "outcome", "found"),
    [("ok", "passed", "quiet"), ("ok", "failed", "fired"), ("bad", "", "fired")],
)
def test_an_example_is_judged_after_its_calls_and_by_its_rule_alone(
    label: str, outcome: str, found: str, tmp_path: Path
) -> None:
    policy = loaded(tmp_path, OUTCOMES.format(label=label, outcome=outcome))
    (result,) = run_examples(policy)
    assert result.outcome == found
    assert result.passed == ((label == "ok") == (found == "quiet"))


def test_a_fault_while_judging_an_example_is_its_outcome(tmp_path: Path) -> None:
    policy = loaded(tmp_path, GUARDED + '  ok bash {command: "x"}\n')
    (rule,) = rules_of(policy)
    broken = replace(rule, tree=replace(rule.tree, when=object()))  # type: ignore[arg-type]
    (result,) = run_examples(policy, [broken])
    assert (result.outcome, result.passed) == ("error", False)


def test_a_shipped_rule_without_examples_is_an_error_and_any_other_a_warning(
    tmp_path: Path,
) -> None:
    policy = loaded(tmp_path, GUARDED)
    assert [d.severity for d in without_examples(policy, rules_of(policy))] == ["warning"]
    path = pack_path("std/shell")
    assert path is not None
    pack = load([Root(path, "repo", "std/shell")])
    bare = [replace(r, tree=replace(r.tree, examples=())) for r in rules_of(pack)[:1]]
    assert [d.severity for d in without_examples(pack, bare)] == ["error"]


def test_a_rule_judged_for_each_entry_may_cost_256_times_as_much(tmp_path: Path) -> None:
    once = '  require rationale mentions "x"\n'
    policy = loaded(tmp_path, f"rule a/edit on edit\n{once}\nrule a/bash on bash\n{once}")
    edit, bash = (cost.steps for cost in rule_costs(policy))
    assert edit == 256 * bash


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"),
        (True, "true"),
        ('a\n\u202e"', '"a\\n\\u{202e}\\""'),
        ("x" * 100, '"' + "x" * 79 + '…"'),
        (Seq(("a", 1), True), '["a", 1]'),
        (Seq(("a",), False), '["a", perhaps more]'),
        (Seq(tuple("abcdefgh"), True), '["a", "b", "c", "d", "e", … 3 more]'),
        ({"from_": "a"}, '{from: "a"}'),
    ],
)
def test_a_value_is_shown_on_one_short_line(value: Any, text: str) -> None:
    assert shown(value) == text
