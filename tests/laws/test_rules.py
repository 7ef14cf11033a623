"""Rules: the compiled form against the walker, and what is unknown never lowers a decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
from hypothesis import assume, given, settings

from tool_intent.compiler import emit
from tool_intent.compiler.emit_rules import atoms_image
from tool_intent.compiler.lower import Lowering
from tool_intent.compiler.walk_findings import walk_rule
from tool_intent.compiler.walk_rules import Frame
from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy, Rule, Scopes
from tool_intent.policy.sources import Root, pack_path
from tool_intent.rules import tree as t
from tool_intent.rules.check import check_text
from tool_intent.runtime.arguments import snapshot
from tool_intent.runtime.colliding import Treatment
from tool_intent.runtime.history import SessionHistory
from tool_intent.runtime.linking import atom_codes
from tool_intent.runtime.matching import Matcher
from tool_intent.runtime.model import STRENGTH, Origin
from tool_intent.runtime.paths import Place
from tool_intent.runtime.program import Program
from tool_intent.runtime.state import State

from . import rule_strategies as generated
from .conftest import examples

BASELINE = load([Root(pack_path("std/baseline"), "repo", "std/baseline")])
PLACE = Place("/project", "/project", "/home/someone", False)
MATCHER = Matcher(BASELINE.groups)


def policy_of(text: str) -> EffectivePolicy:
    """The baseline with the rules of a file."""
    tree, errors = check_text(text, "t.rules")
    # Generated rules nest too deeply now and then; nothing else may be wrong with them.
    assert {e.code for e in errors} <= {"rules/depth"}, (errors, text)
    assume(tree is not None)
    assert tree is not None
    lists = [s for s in tree.statements if isinstance(s, t.Words)]
    words = {s.name: tuple(item.value for item in s.items) for s in lists}
    defines = {s.name: s.expression for s in tree.statements if isinstance(s, t.Define)}
    rules = tuple(
        Rule(
            rule.id, rule, Scopes(words, defines), tuple(x.name for x in rule.targets),
            tuple(x.name for x in rule.excepted), rule.verdict.effect or "deny", None,
            Origin("t.rules", rule.span.line, 1, "repo"), "t",
        )
        for rule in tree.rules
    )  # fmt: skip
    return replace(BASELINE, items=BASELINE.items + rules)


class Session:
    """A session judged by the compiled rules and by the walker, side by side."""

    def __init__(self, policy: EffectivePolicy, treatment: Treatment = ()) -> None:
        self.treatment = treatment
        self.lowering = Lowering(policy)
        codes = atom_codes(atoms_image(self.lowering.atoms(), dict(policy.groups)))
        self.history = SessionHistory(codes, keep=True, hears=self.lowering.hears)
        self.now = 1_000_000.0
        self.tools: dict[str, tuple[Any, Program]] = {}

    def judge(self, call: dict[str, Any]) -> tuple[Counter[Any], Counter[Any]]:
        self.now += call["wait"]
        tool, program = self.lowered(call["tool"])
        state = self.state(program, call)
        compiled = Counter(program.rules(state) or []) if program.rules else Counter()
        walked = Counter(
            finding
            for sentence in tool.sentences
            for finding in walk_rule(sentence, self.frame(self.state(program, call)))
        )
        number = self.history.tried(state)
        self.history.hear_user("fix a.py for PAY-1")
        if call["outcome"] != "tried":
            self.history.outcome(number, call["outcome"])
        return compiled, walked

    def lowered(self, name: str) -> tuple[Any, Program]:
        if name not in self.tools:
            tool = self.lowering.tool(name, self.treatment)
            self.tools[name] = tool, Program(emit.image(tool))
        return self.tools[name]

    def state(self, program: Program, call: dict[str, Any]) -> State:
        args = snapshot(call["args"]).args
        return State(
            call["tool"], args, program.carriers, program.roles, call["context"], self.now,
            self.history, PLACE,
        )  # fmt: skip

    def frame(self, state: State) -> Frame:
        def meant(targets: tuple[str, ...], tool: str) -> bool:
            return any(MATCHER.means(x, tool) for x in targets)

        return Frame(state, state.spots(((),))[0], meant, self.history)


@settings(max_examples=examples(dev=150, ci=10_000))
@given(text=generated.rules(), calls=st.lists(generated.calls(), min_size=1, max_size=6))
def test_compiled_rules_say_what_the_walker_says_message_by_message(
    text: str, calls: list[dict[str, Any]]
) -> None:
    session = Session(policy_of(text))
    for call in calls:
        compiled, walked = session.judge(call)
        assert compiled == walked, text


UNKNOWABLE = ["path", "command", "intent", "rationale", "timeout"]


@settings(max_examples=examples(dev=100, ci=10_000))
@given(
    text=generated.rules(),
    calls=st.lists(generated.calls(), min_size=1, max_size=4),
    blank=st.sampled_from(UNKNOWABLE),
)
def test_a_value_that_becomes_unknown_never_lowers_a_decision(
    text: str, calls: list[dict[str, Any]], blank: str
) -> None:
    """The last call with one input replaced by a value of the wrong type, which is unknown."""
    *before, last = calls
    known, unknown = Session(policy_of(text)), Session(policy_of(text))
    for call in before:
        known.judge(call)
        unknown.judge(call)
    if last["args"].get(blank) is None:
        return  # null is unknown already, also to `has`, which knows that an object is there
    hidden = {**last, "args": {**last["args"], blank: {"no": "scalar"}}}
    assert _strongest(unknown.judge(hidden)[0]) >= _strongest(known.judge(last)[0]), text


def _strongest(findings: Counter[Any]) -> int:
    return max((STRENGTH[f.effect] for f in findings), default=0)
