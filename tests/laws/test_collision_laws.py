"""Fields that tools define themselves: nothing of a tool is lost, no weaker rank lowers what they
lead to, and both evaluators read them alike."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import compiled
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root
from tool_intent.runtime.extend import extend
from tool_intent.runtime.model import STRENGTH, Call
from tool_intent.runtime.paths import Place
from tool_intent.runtime.strip import places
from tool_intent.runtime.wire import dump, parse

from . import rule_strategies, stacks
from .conftest import examples
from .stacks import Stack
from .test_rules import Session, policy_of

PLACE = Place("/project", "/project", "/home/someone", False)
FIELDS = ["intent", "rationale", "ticket"]
NAMES = [*FIELDS, "ti_intent", "path", "edits"]
POLICY = """\
version: 1
collision: {how}
fields: {{ticket: {{}}}}
tools:
  t:
    - {{require: [intent], optional: [ticket]}}
    - {{at: "edits[]", require: [rationale], optional: [intent]}}
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture(scope="module")
def artifacts(folder: Path) -> dict[str, Artifact]:
    found = {}
    for how in ("reuse", "prefix"):
        path = folder / f"{how}.yaml"
        path.write_text(POLICY.format(how=how), encoding="utf-8")
        found[how] = compiled(load([Root(str(path), "repo", path.name)]), PLACE)
    return found


_own = st.lists(st.sampled_from(NAMES[:-1]), max_size=4, unique=True)
_spelt = st.sampled_from(["1E2", "-0.0", "0.10", '"x"', "null", '{"intent": 1}', "[1.0]"])


@st.composite
def tool_and_call(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tool's schema, and the arguments of a call that gives what the tool defines."""
    own, inner = draw(_own), draw(_own)
    items = {"type": "object", "properties": {name: {} for name in inner}}
    schema = {
        "type": "object",
        "properties": {name: {} for name in own} | {"edits": {"type": "array", "items": items}},
    }

    def said(names: list[str]) -> dict[str, Any]:
        return {name: parse(draw(_spelt)) for name in draw(st.permutations(names))}

    return schema, said(own) | {"edits": [said(inner) for _ in range(draw(st.integers(0, 2)))]}


@pytest.mark.parametrize("how", ["reuse", "prefix"])
@settings(max_examples=examples(dev=60, ci=3_000))
@given(drawn=tool_and_call())
def test_what_is_advertised_and_sent_is_stripped_and_nothing_of_the_tool_s_own(
    how: str, drawn: tuple[dict[str, Any], dict[str, Any]], artifacts: dict[str, Artifact]
) -> None:
    schema, args = drawn
    artifact = artifacts[how]
    adverts = artifact.program("t", schema).adverts
    _, refused = extend({"name": "t", "inputSchema": schema}, adverts)
    closed = {place for place, _ in refused}
    sent: dict[str, Any] = parse(dump(args))
    for advert in adverts:
        if ".".join(advert.at).replace(".[]", "[]") not in closed:
            for _, place in places(sent, advert.at):
                for key, _, _ in advert.properties:
                    assert key not in place
                    place[key] = "because"
    decision = artifact.decide(Call(1, "t", sent, schema=schema))
    assert dump(decision.args) == dump(args)
    assert bool(closed) is any(f.rule == "fields/collision" for f in decision.findings)


@settings(max_examples=examples(dev=80, ci=5_000))
@given(
    stack=stacks.stacks(),
    calls=st.lists(stacks.calls(), min_size=1, max_size=3),
    own=st.lists(st.sampled_from(FIELDS), min_size=1, max_size=2, unique=True),
    how=st.sampled_from(["reuse", "prefix"]),
    bare=st.booleans(),
)
def test_what_weaker_ranks_say_of_collisions_lowers_nothing(
    stack: Stack, calls: list[dict[str, Any]], own: list[str], how: str, bare: bool, folder: Path
) -> None:
    """With `bare`, of policies without rules, which seldom leave anything to lower."""
    first = stack.ranks[0]
    files = [
        (
            r,
            {
                key: value
                for key, value in f.items()
                if not bare or key not in ("rules", "unlisted")
            },
        )
        for r, f in stack.files
    ]
    stack = Stack(tuple(files))
    said = [(r, f if r == first else f | {"collision": how}) for r, f in files]
    schema = {"type": "object", "properties": {name: {} for name in own}}
    less, more = (
        compiled(s.load(folder), PLACE) for s in (stack.down_to(first), Stack(tuple(said)))
    )
    histories = less.new_history(), more.new_history()
    for number, call in enumerate(calls):
        args = call["args"] | dict.fromkeys((k for n in own for k in (n, f"ti_{n}")), "PAY-1")
        asked = Call(number, call["tool"], args, {}, None, 1000.0, schema)
        low, high = (
            max((STRENGTH[f.effect] for f in artifact.decide(asked, history).findings), default=0)
            for artifact, history in zip((less, more), histories, strict=True)
        )
        assert high >= low


@settings(max_examples=examples(dev=60, ci=3_000))
@given(
    text=rule_strategies.rules(),
    calls=st.lists(rule_strategies.calls(), min_size=1, max_size=4),
    how=st.sampled_from(["reuse", "prefix"]),
    at=st.sampled_from([(), ("edits", "[]")]),
)
def test_the_walker_reads_a_field_that_collides_as_the_compiled_rules_do(
    text: str, calls: list[dict[str, Any]], how: Any, at: tuple[str, ...]
) -> None:
    session = Session(policy_of(text), ((at, "intent", how),))
    for call in calls:
        args = call["args"]
        both = {"intent": args.get("rationale", 3), "ti_intent": args.get("intent", "fix it")}
        compiled_, walked = session.judge({**call, "args": both | args if at else args | both})
        assert compiled_ == walked, text
