"""The compiler against its two oracles: the tree walker, and jsonschema."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import jsonschema
from hypothesis import given, settings

from tool_intent.compiler import emit
from tool_intent.compiler.lower import Lowering
from tool_intent.compiler.walk import walk
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root
from tool_intent.runtime.arguments import snapshot
from tool_intent.runtime.program import Program

from . import strategies
from .conftest import examples


def _lowering(folder: Path, policy: dict[str, Any]) -> Lowering:
    file = folder / "policy.yaml"
    file.write_text(strategies.policy_text(policy), encoding="utf-8")
    return Lowering(load([Root(str(file), "repo", "policy.yaml")]))


@settings(max_examples=examples(dev=100, ci=5_000))
@given(policy=strategies.policies(), calls=st.lists(strategies.arguments(), min_size=1, max_size=3))
def test_compiled_findings_equal_walked_findings(
    policy: dict[str, Any], calls: list[dict[str, Any]], tmp_path_factory: Any
) -> None:
    lowering = _lowering(tmp_path_factory.getbasetemp(), policy)
    for name in strategies.TOOLS:
        tool = lowering.tool(name)
        program = Program(emit.image(tool))
        for args in calls:
            copy = snapshot(args).args
            compiled = Counter(program.judge(copy) or [])
            assert compiled == Counter(walk(tool, copy)), emit.source(tool)


_plain = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=14)
_sure = st.one_of(
    _plain, st.sampled_from(["todo", "PAY-1", "low"]), strategies.numbers, st.booleans()
)


@settings(max_examples=examples(dev=200, ci=5_000))
@given(constraint=strategies.constraints(("string", "number", "boolean")), value=_sure)
def test_constraints_agree_with_jsonschema_on_plain_text_and_other_scalars(
    constraint: Any, value: Any, tmp_path_factory: Any
) -> None:
    schema = {"type": ["string", "number", "boolean"], "allOf": [constraint]}
    policy = {"version": 1, "fields": {"risk": schema}, "tools": {"t": {"require": ["risk"]}}}
    lowering = _lowering(tmp_path_factory.getbasetemp(), policy)
    if lowering.tool("t").always:
        # The loader refuses what cannot be meant, such as a range that holds nothing.
        return
    program = Program(emit.image(lowering.tool("t")))
    expected = jsonschema.Draft202012Validator(schema).is_valid(value)
    assert (program.judge({"risk": value}) is None) is expected or not _finite(value)


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
