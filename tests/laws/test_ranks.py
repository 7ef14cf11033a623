"""The first law: each rank is closed, and the decision is the strongest of what ranks find."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tool_intent.compiler.loading import compiled
from tool_intent.policy.model import EffectivePolicy
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import STRENGTH, Call, Rank
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


def judged(policy: EffectivePolicy, calls: list[dict[str, Any]]) -> list[Decision]:
    """The calls of one session judged one after the other. What came of each is given, so that
    two policies are asked about the same history."""
    artifact = compiled(policy, PLACE)
    history = artifact.new_history()
    decisions = []
    for number, call in enumerate(calls):
        asked = Call(number, call["tool"], call["args"], {}, None, 1000.0 + number)
        decisions.append(artifact.decide(asked, history))
        if call["outcome"] != "tried":
            history.outcome(number, call["outcome"])
    return decisions


def sound(policy: EffectivePolicy) -> EffectivePolicy:
    assert not policy.broken, policy.broken
    return policy


def strength(decision: Decision) -> int:
    return max((STRENGTH[f.effect] for f in decision.findings), default=0)


def own(decision: Decision, rank: Rank) -> int:
    """The strongest effect of what one rank's own items find."""
    return max(
        (STRENGTH[f.effect] for f in decision.findings if f.origin and f.origin.rank == rank),
        default=0,
    )


@settings(max_examples=examples(dev=60, ci=10_000))
@given(stack=generated.stacks(), calls=st.lists(generated.calls(), min_size=1, max_size=4))
def test_the_decision_is_the_strongest_of_what_each_rank_finds_by_itself(
    stack: Stack, calls: list[dict[str, Any]], folder: Path
) -> None:
    """The oracle: for each rank, that rank and the stronger ones alone."""
    whole = judged(sound(stack.load(folder)), calls)
    alone = {rank: judged(sound(stack.down_to(rank).load(folder)), calls) for rank in stack.ranks}
    for number, decision in enumerate(whole):
        expected = max(strength(alone[rank][number]) for rank in stack.ranks)
        assert strength(decision) == expected, (number, decision.findings)
