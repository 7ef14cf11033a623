"""The first law: each rank is closed, and the decision is the strongest of what ranks find."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tool_intent.authoring.monotone import session_monotone
from tool_intent.compiler.loading import compiled
from tool_intent.policy.model import EffectivePolicy, Rule
from tool_intent.policy.schedules import changed
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import STRENGTH, Call, Effect, Rank
from tool_intent.runtime.paths import Place

from . import stacks as generated
from .conftest import examples
from .stacks import Stack

PLACE = Place("/project", "/project", "/home/someone", False)
ANSWERS = ["allow", "ask", "deny"]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


def judged(
    policy: EffectivePolicy, calls: list[dict[str, Any]], now: float | None = 1000.0
) -> list[Decision]:
    """The calls of one session judged one after the other. What came of each is given, so that
    two policies are asked about the same history."""
    artifact = compiled(policy, PLACE)
    history = artifact.new_history()
    decisions = []
    for number, call in enumerate(calls):
        asked = Call(number, call["tool"], call["args"], {}, None, now)
        decisions.append(artifact.decide(asked, history))
        if call["outcome"] != "tried":
            history.outcome(number, call["outcome"])
    return decisions


def sound(policy: EffectivePolicy) -> EffectivePolicy:
    assert not policy.broken, policy.broken
    return policy


def replayed(policy: EffectivePolicy, calls: list[dict[str, Any]]) -> list[Decision]:
    """The calls of one session, of which those pass that are allowed and would pass."""
    artifact = compiled(policy, PLACE)
    history = artifact.new_history()
    decisions = []
    for number, call in enumerate(calls):
        asked = Call(number, call["tool"], call["args"], {}, None, 1000.0 + number)
        decision = artifact.decide(asked, history)
        if decision.allowed and call["outcome"] == "passed":
            history.outcome(number, "passed")
        decisions.append(decision)
    return decisions


def strength(decision: Decision) -> int:
    return max((STRENGTH[f.effect] for f in decision.findings), default=0)


def said(decision: Decision) -> set[tuple[object, ...]]:
    """What a decision finds, as whoever reads it tells findings apart."""
    return {(f.rule, f.effect, f.at, f.message) for f in decision.findings}


sessions = st.lists(generated.calls(), min_size=1, max_size=4)


@settings(max_examples=examples(dev=30, ci=10_000))
@given(stack=generated.stacks(), calls=sessions, order=st.randoms(use_true_random=False))
def test_the_decision_is_the_strongest_of_what_each_rank_finds_by_itself(
    stack: Stack, calls: list[dict[str, Any]], order: Any, folder: Path
) -> None:
    """The oracle is each rank with the stronger ones alone. In passing: weaker ranks lower nothing,
    change no argument that a tool receives, the order of files and their repetition mean nothing.
    """
    whole = judged(sound(stack.load(folder)), calls)
    alone = {rank: judged(sound(stack.down_to(rank).load(folder)), calls) for rank in stack.ranks}
    again = judged(sound(stack.shuffled(order).load(folder)), calls)
    for number, decision in enumerate(whole):
        found = [alone[rank][number] for rank in stack.ranks]
        assert strength(decision) == max(map(strength, found))
        assert [strength(one) for one in found] == sorted(map(strength, found))
        assert said(again[number]) == said(decision)
        strongest = found[0]
        if not _further_fields(strongest, decision):
            assert decision.args == strongest.args


@settings(max_examples=examples(dev=30, ci=10_000))
@given(stack=generated.stacks(permits=True), calls=sessions)
def test_weaker_ranks_lower_nothing_below_floors_and_bounds_and_time_lowers_nothing(
    stack: Stack, calls: list[dict[str, Any]], folder: Path
) -> None:
    top = sound(stack.down_to(stack.ranks[0]).load(folder))
    whole = sound(stack.load(folder))
    floored = _floored(top)
    least = [judged(floored, calls, now) for now in generated.MOMENTS]
    found = [judged(whole, calls, now) for now in generated.MOMENTS]
    for number in range(len(calls)):
        over_time = [strength(decisions[number]) for decisions in found]
        assert over_time == sorted(over_time)
        sure = [strength(decisions[number]) for decisions in least]
        assert all(one >= other for one, other in zip(over_time, sure, strict=True))


@settings(max_examples=examples(dev=30, ci=10_000))
@given(stack=generated.stacks(), calls=st.lists(generated.calls(), min_size=2, max_size=8))
def test_what_weaker_ranks_refuse_keeps_no_session_monotone_rule_quiet_later(
    stack: Stack, calls: list[dict[str, Any]], folder: Path
) -> None:
    top, whole = (
        _monotone_only(sound(s.load(folder)), stack.ranks[0])
        for s in (stack.down_to(stack.ranks[0]), stack)
    )
    pairs = zip(replayed(whole, calls), replayed(top, calls), strict=True)
    assert all(strength(more) >= strength(less) for more, less in pairs)


def _further_fields(less: Decision, more: Decision) -> bool:
    """Whether the one takes out a reason that the other leaves in."""
    return less.provenance != more.provenance


def _floored(policy: EffectivePolicy) -> EffectivePolicy:
    """The policy with every rule at the least that weaker ranks can make of it, in its stages."""
    items = [_lowest(item) if isinstance(item, Rule) else item for item in policy.items]
    return replace(policy, items=tuple(items))


def _lowest(rule: Rule) -> Rule:
    least = rule.lowest or rule.effect

    def capped(effect: Effect) -> Effect:
        return min(effect, least, key=STRENGTH.__getitem__)

    schedule = {point: changed(steps, capped) for point, steps in rule.schedule.items()}
    return replace(rule, effect=least, schedule=schedule)


def _monotone_only(policy: EffectivePolicy, rank: Rank) -> EffectivePolicy:
    """The policy without those rules of a rank that no law holds of over a session."""
    kept = [
        item
        for item in policy.items
        if not isinstance(item, Rule) or item.origin.rank != rank or session_monotone(item)
    ]
    return replace(policy, items=tuple(kept))
