"""Why a call is judged as it is: every field and rule that applies to it, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tool_intent.authoring.fields import FieldCheck, field_checks
from tool_intent.authoring.shown import shown
from tool_intent.authoring.tracing import Step, Tracer
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.ir import Place, Tool
from tool_intent.compiler.lower import Lowering
from tool_intent.compiler.sources import Sources
from tool_intent.compiler.walk_findings import finding
from tool_intent.compiler.walk_rules import Frame, Verdict, holds, verdicts
from tool_intent.policy.model import EffectivePolicy, Rule
from tool_intent.rules import tree as t
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.history import SessionHistory
from tool_intent.runtime.matching import Matcher
from tool_intent.runtime.model import Call, Effect, Finding, Origin
from tool_intent.runtime.session import Earlier
from tool_intent.runtime.state import State


@dataclass(frozen=True, slots=True)
class Part:
    """A clause of a rule, `when`, `unless`, `require`, `forbid` or `each`, and its steps."""

    clause: str
    step: Step


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule at one place: `fired` is True, False, or None where it fires for something unknown.
    `element` is what an `each` was at; `finding` is None where the rule is quiet."""

    at: str
    element: str | None
    fired: bool | None
    finding: Finding | None
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class RuleExplained:
    """A rule that applies to the call, at each of its places."""

    id: str
    effect: Effect
    origin: Origin
    judgements: tuple[Judgement, ...]

    @property
    def fires(self) -> bool:
        """Whether it fires anywhere in the call."""
        return any(j.fired is not False for j in self.judgements)


@dataclass(frozen=True, slots=True)
class Condition:
    """The `when:` of an entry of `tools:` at one place, and what it came to."""

    at: str
    origin: Origin | None
    step: Step


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with all that led to it. `before` are the earlier calls of the session."""

    decision: Decision
    fields: tuple[FieldCheck, ...]
    conditions: tuple[Condition, ...]
    rules: tuple[RuleExplained, ...]
    before: tuple[Earlier, ...]


class Explainer:
    """Explains calls by one policy."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        policy = artifact.policy
        self._sources = Sources()
        self._lowering = Lowering(policy, self._sources)
        self._rules = {(i.id, i.origin): i for i in policy.items if isinstance(i, Rule)}
        self._matcher = Matcher(policy.groups)

    def explain(self, call: Call, history: SessionHistory) -> Explanation:
        """The explanation of the next call of a session, whose history keeps whole calls. It is
        not added to the history; `Artifact.decide` does that."""
        # What is judged is what is explained: the state that the engine itself made of the call.
        apart = self._artifact.new_history(keep=True)
        self._artifact.decide(call, apart)
        state = apart.records[-1].state if apart.records else None
        decision = self._artifact.decide(call, _Unchanged(history))
        treated = self._artifact.treatment(call.tool, call.schema)
        tool = self._lowering.tool(call.tool, treated)
        before = tuple(reversed(list(history.recent(len(history.records)))))
        if state is None:
            return Explanation(decision, field_checks(tool, call.args, decision), (), (), before)
        tracer = Tracer(self._sources)
        frame = Frame(state, state.spots(((),))[0], self._means, history, observer=tracer)
        return Explanation(
            decision,
            field_checks(tool, state.args, decision),
            tuple(self._conditions(tool, frame, tracer)),
            tuple(self._explained(tool, frame, tracer)),
            before,
        )

    def _means(self, targets: tuple[str, ...], tool: str) -> bool:
        return any(self._matcher.means(target, tool) for target in targets)

    def _conditions(self, tool: Tool, frame: Frame, tracer: Tracer) -> Iterator[Condition]:
        for place in tool.conditional:
            assert place.when is not None
            state = frame.state.seen(place.view)
            for spot in state.spots((place.at,)):
                holds(place.when, replace(frame, state=state, spot=spot))
                yield from (Condition(spot.at, _origin(place), step) for step in tracer.take())

    def _explained(self, tool: Tool, frame: Frame, tracer: Tracer) -> Iterator[RuleExplained]:
        for sentence in tool.sentences:
            rule = self._rules[sentence.id, sentence.origin]
            judgements: list[Judgement] = []
            for verdict in verdicts(sentence, frame):
                fired = verdict.fired is not False
                judgements.append(
                    Judgement(
                        verdict.at,
                        None if verdict.element is None else _element(rule, verdict),
                        verdict.fired,
                        finding(sentence, verdict) if fired else None,
                        tuple(_clauses(rule, tracer.take(verdict.fired))),
                    )
                )
            yield RuleExplained(rule.id, rule.effect, rule.origin, tuple(judgements))


class _Unchanged:
    """A history that is looked at, and not added to."""

    def __init__(self, history: SessionHistory) -> None:
        self.earlier = history.earlier
        self.count = history.count
        self.recent = history.recent
        self.seen = history.seen
        self.hear_user, self.hear_result = history.hear_user, history.hear_result

    def tried(self, state: State) -> int:  # noqa: ARG002 (the protocol's)
        return -1

    def outcome(self, number: int, outcome: Any) -> bool:  # noqa: ARG002 (the protocol's)
        return False


def _origin(place: Place) -> Origin | None:
    reports = [f.missing or f.wrong_type for f in place.fields]
    return reports[0].origin if reports else None


def _element(rule: Rule, verdict: Verdict) -> str:
    each = rule.tree.each
    assert each is not None
    return f"{each.variable} = {shown(verdict.element)}"


def _clauses(rule: Rule, steps: Iterable[Step]) -> Iterator[Part]:
    clauses = _named(rule.tree)
    for step in steps:
        names = [name for text, name in clauses if any(text is t for t in step.texts)]
        yield Part(names[0] if names else "", step)


def _named(tree: t.Rule) -> list[tuple[t.Condition, str]]:
    each = None if tree.each is None else tree.each.source
    clauses: Mapping[str, t.Condition | None] = {
        "each": each,
        "when": tree.when,
        "unless": tree.unless,
        tree.verdict.kind: tree.verdict.condition,
    }
    found = [(text, name) for name, text in clauses.items() if text is not None]
    if tree.verdict.unless is not None:
        found.append((tree.verdict.unless, "unless"))
    return found


def alone(policy: EffectivePolicy, rule: Rule) -> EffectivePolicy:
    """The policy with one rule of its rules, and all its entries."""
    others = tuple(i for i in policy.items if not isinstance(i, Rule))
    return replace(policy, items=(*others, rule))
