"""An explanation is of the decision that was made, and marks what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from tool_intent.authoring.explain import Explainer, Explanation
from tool_intent.authoring.rendering import explanation_data, explanation_lines
from tool_intent.authoring.tracing import Step
from tool_intent.compiler.loading import compiled
from tool_intent.runtime.model import Call

from . import rule_strategies as generated
from .conftest import examples
from .test_rules import PLACE, policy_of


def explained(text: str, calls: list[dict[str, Any]]) -> Explanation:
    """The last call, explained after the others."""
    artifact = compiled(policy_of(text), PLACE)
    explainer = Explainer(artifact)
    history = artifact.new_history(keep=True)
    now = 1_000_000.0
    for number, call in enumerate(calls):
        now += call["wait"]
        made = Call(number, call["tool"], call["args"], call["context"], None, now)
        if call is calls[-1]:
            return explainer.explain(made, history)
        artifact.decide(made, history)
        if call["outcome"] != "tried":
            history.outcome(number, call["outcome"])
    raise AssertionError


def steps(explanation: Explanation) -> Iterator[Step]:
    waiting = [p.step for r in explanation.rules for j in r.judgements for p in j.parts]
    while waiting:
        step = waiting.pop()
        yield step
        waiting += step.parts


CALLS = st.lists(generated.calls(), min_size=1, max_size=5)


@settings(max_examples=examples(dev=100, ci=10_000))
@given(text=generated.rules(), calls=CALLS)
def test_what_is_explained_is_what_was_decided(text: str, calls: list[dict[str, Any]]) -> None:
    explanation = explained(text, calls)
    ids = {rule.id for rule in explanation.rules}
    found = {(f.rule, f.at, f.message) for f in explanation.decision.findings if f.rule in ids}
    told = {
        (j.finding.rule, j.finding.at, j.finding.message)
        for rule in explanation.rules
        for j in rule.judgements
        if j.finding is not None
    }
    assert told == found, text
    checks = {(c.rule, c.at) for c in explanation.fields if c.holds is False}
    fields = {(f.rule, f.at) for f in explanation.decision.findings if f.rule in _SHOWN}
    assert fields <= checks


_SHOWN = {"fields/missing", "fields/type", "fields/unreadable", "fields/minLength"}


@settings(max_examples=examples(dev=100, ci=3_000))
@given(text=generated.rules(), calls=CALLS)
def test_every_judgement_rests_on_a_marked_step_and_every_unknown_has_a_reason(
    text: str, calls: list[dict[str, Any]]
) -> None:
    explanation = explained(text, calls)
    for rule in explanation.rules:
        for judgement in rule.judgements:
            if judgement.parts and any(p.clause != "each" for p in judgement.parts):
                assert any(part.step.decides for part in judgement.parts), text
    for step in steps(explanation):
        if step.status == "unknown":
            assert step.reason or any(_has_reason(part) for part in step.parts), (text, step.text)


def _has_reason(step: Step) -> bool:
    return step.reason is not None or any(map(_has_reason, step.parts))


@settings(max_examples=examples(dev=50, ci=3_000))
@given(text=generated.rules(), calls=CALLS)
def test_an_explanation_is_short_printable_and_has_the_same_rules_as_data(
    text: str, calls: list[dict[str, Any]]
) -> None:
    explanation = explained(text, calls)
    lines = list(explanation_lines(explanation, whole=True))
    assert all(line.isprintable() and len(line) < 900 for line in lines)
    data = explanation_data(explanation)
    assert [r["rule"] for r in data["rules"]] == [r.id for r in explanation.rules]
