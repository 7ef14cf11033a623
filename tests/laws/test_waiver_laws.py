"""Laws of waivers: none lowers what is stronger than it, none outlives its time, none hides."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tool_intent.runtime.model import EFFECTS, STRENGTH

from . import stacks as generated
from .conftest import examples
from .stacks import IDS, MOMENTS, TOOLS, Stack
from .test_ranks import judged, sound, strength

BUILT_IN = [
    "fields/missing", "fields/minLength", "fields/pattern", "fields/type", "fields/misspelt",
    "fields/enum", "entries/missing", "entries/type", "tools/unlisted",
]  # fmt: skip
DATES = ["2025-01-01", "2026-06-01", "2026-09-01", "2030-01-01"]
#: Before every date above.
EARLY = 1000.0


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


#: What is found most often is waived most often.
_rules = st.sampled_from([*IDS, *IDS, *["fields/missing"] * 12, *BUILT_IN])
_effects = st.sampled_from(["note", "warn", "ask"])
_dates = st.sampled_from(DATES)
_tools = st.sampled_from([["@write"], ["@own"], TOOLS[:2], ["mcp__*"]])
_limits = st.sampled_from(
    [{}, {}, {}, {"locked": ["r/*"]}, {"locked": ["fields/*"]}, {"require": ["scope"]}]
)


@st.composite
def _waivers(draw: st.DrawFn, first: int) -> list[dict[str, Any]]:
    found = []
    for number in range(draw(st.integers(1, 5))):
        waiver: dict[str, Any] = {
            "id": f"W-{first + number}",
            "rule": draw(_rules),
            "effect": draw(_effects),
            "owner": "a",
            "reason": "b",
            "expires": draw(_dates),
        }
        scope: dict[str, Any] = {}
        if draw(st.integers(0, 3)) == 0:
            scope["paths"] = ["src/**"]
        if draw(st.integers(0, 3)) == 0:
            scope["tools"] = draw(_tools)
        if scope:
            waiver["scope"] = scope
        found.append(waiver)
    return found


@st.composite
def stacks(draw: st.DrawFn, *, permits: bool = False) -> Stack:
    """Generated stacks whose files hold waivers of their own and of stronger ranks' rules."""
    plain = draw(generated.stacks(permits=permits))
    files = []
    for number, (rank, said) in enumerate(plain.files):
        more: dict[str, Any] = {"waivers": draw(_waivers(10 * number))}
        limits = draw(_limits)
        files.append((rank, said | more | ({"waiver_policy": limits} if limits else {})))
    return Stack(tuple(files))


sessions = st.lists(generated.calls(), min_size=1, max_size=3)


@settings(max_examples=examples(dev=50, ci=10_000))
@given(stack=stacks(), calls=sessions)
def test_no_waiver_lowers_what_stronger_ranks_find(
    folder: Path, stack: Stack, calls: list[dict[str, Any]]
) -> None:
    whole = judged(sound(stack.load(folder)), calls, EARLY)
    for rank in stack.ranks:
        alone = judged(sound(stack.down_to(rank).load(folder)), calls, EARLY)
        for with_weaker, without in zip(whole, alone, strict=True):
            assert strength(with_weaker) >= strength(without), rank


@settings(max_examples=examples(dev=50, ci=10_000))
@given(stack=stacks(permits=True), calls=sessions, moments=st.lists(st.sampled_from(MOMENTS)))
def test_more_time_lowers_nothing(
    folder: Path, stack: Stack, calls: list[dict[str, Any]], moments: list[float | None]
) -> None:
    policy = sound(stack.load(folder))
    known = sorted({moment for moment in (*moments, *MOMENTS[:2]) if moment is not None})
    before = [0] * len(calls)
    for moment in known:
        now = [strength(decision) for decision in judged(policy, calls, moment)]
        assert all(new >= old for new, old in zip(now, before, strict=True))
        before = now
    unknown = [strength(decision) for decision in judged(policy, calls, None)]
    assert all(new >= old for new, old in zip(unknown, before, strict=True))


@settings(max_examples=examples(dev=50, ci=10_000))
@given(stack=stacks(), calls=sessions)
def test_a_waived_finding_stays_with_its_mark(
    folder: Path, stack: Stack, calls: list[dict[str, Any]]
) -> None:
    """All that is found without waivers is found with them, not lower than a note."""
    bare = Stack(tuple((r, {k: v for k, v in f.items() if k != "waivers"}) for r, f in stack.files))
    waived = judged(sound(stack.load(folder)), calls, EARLY)
    plain = judged(sound(bare.load(folder)), calls, EARLY)
    for with_, without in zip(waived, plain, strict=True):
        # Not by message: where ranks are kept apart each names the fields that it asks for itself.
        assert {(f.rule, f.at) for f in with_.findings} == {
            (f.rule, f.at) for f in without.findings
        }
        for finding in with_.findings:
            assert finding.effect in EFFECTS[1:]
            if finding.waived is not None:
                assert finding.was is not None
                assert STRENGTH[finding.effect] < STRENGTH[finding.was]


@pytest.mark.slow
def test_the_laws_are_about_something(folder: Path) -> None:
    """Of three hundred sessions some are waived, some only at one of two ranks."""
    marked = kept = 0

    @settings(max_examples=300, database=None, derandomize=True)
    @given(stack=stacks(), calls=sessions)
    def look(stack: Stack, calls: list[dict[str, Any]]) -> None:
        nonlocal marked, kept
        for decision in judged(sound(stack.load(folder)), calls, EARLY):
            marks = {f.rule for f in decision.findings if f.waived}
            marked += bool(marks)
            kept += any(f.rule in marks and f.waived is None for f in decision.findings)

    look()
    assert marked > 20
    assert kept > 0
