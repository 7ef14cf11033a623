"""Runs the examples that rules carry: a `bad` call breaks its rule, an `ok` one does not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from tool_intent.authoring.explain import Explainer, RuleExplained, alone
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import compiled
from tool_intent.policy.model import EffectivePolicy, FieldDefinition, FieldUse, Requirement, Rule
from tool_intent.policy.sources import shipped
from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.types import ROLES
from tool_intent.runtime.model import Call
from tool_intent.runtime.paths import Place

Outcome: TypeAlias = Literal["fired", "quiet", "did not apply", "error"]

#: Examples are judged at one time, a Monday noon (UTC): nothing passes between their calls.
NOW: Final = 1_796_040_000.0
#: … and at one place, so that they show the same on every machine and in every folder.
PLACE: Final = Place("/workspace", "/workspace", "/home/user", case_insensitive=False)


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one example. `told` is what the rule said or what went wrong; `explained` is
    the rule on the example's call, where it applied."""

    rule: Rule
    example: t.Example
    outcome: Outcome
    told: str
    explained: RuleExplained | None

    @property
    def passed(self) -> bool:
        """Whether the example shows what it says."""
        return self.outcome == ("fired" if self.example.label == "bad" else "quiet")

    def diagnostic(self) -> Diagnostic:
        """What to tell of an example that does not show what it says."""
        bad = self.example.label == "bad"
        expected = "fires on" if bad else "is quiet about"
        found = {
            "fired": f"it fires: {self.told}",
            "quiet": "it is quiet",
            "did not apply": f"it is not about the tool `{self.example.tool}`",
            "error": f"judging it failed: {self.told}",
        }[self.outcome]
        return _at(
            self.example.span, self.rule, "rules/example", "error",
            f"`{self.rule.id}` should be a rule that {expected} this call, and {found}",
            "change the rule or the example",
        )  # fmt: skip


def run_examples(policy: EffectivePolicy, rules: Sequence[Rule] | None = None) -> Iterator[Result]:
    """Each example of the given rules of a policy (all, if not said), in order.

    An example's earlier calls come first in a session of their own, with the outcome that is
    written, `tried` if none is; then its call is judged by its rule alone.
    """
    policy = with_places(policy)
    for rule in rules_of(policy) if rules is None else rules:
        if rule.tree.examples:
            yield from _run(policy, rule)


def rules_of(policy: EffectivePolicy) -> tuple[Rule, ...]:
    """The rules of a policy, each once: a file that is found at two ranks gives them twice."""
    found = {(i.id, i.origin.file, i.origin.line): i for i in policy.items if isinstance(i, Rule)}
    return tuple(found.values())


def without_examples(policy: EffectivePolicy, rules: Iterable[Rule]) -> Iterator[Diagnostic]:
    """What to tell of rules that lack a `bad` or an `ok` example: of shipped ones an error."""
    ours = shipped_files(policy)
    for rule in rules:
        labels = {example.label for example in rule.tree.examples}
        missing = [f"`{label}`" for label in ("bad", "ok") if label not in labels]
        if missing:
            yield _at(
                rule.tree.id_span, rule, "rules/no-example",
                "error" if rule.origin.file in ours else "warning",
                f"`{rule.id}` has no {' and no '.join(missing)} example",
                'write `bad TOOL {…}` for a call that it fires on, `ok TOOL {…}` for one that it'
                " lets pass",
            )  # fmt: skip


def shipped_files(policy: EffectivePolicy) -> frozenset[str]:
    """The files of a policy that ship with the engine, by the name that origins give."""
    folder = shipped() + os.sep
    return frozenset(s.shown for s in policy.sources if s.path.startswith(folder))


def with_places(policy: EffectivePolicy) -> EffectivePolicy:
    """A policy whose rules can be asked for fields.

    A rule file by itself has no entry that says where fields stand: then they stand on the call
    and in each of its edits, as in the packs.
    """
    if any(isinstance(item, Requirement) for item in policy.items):
        return policy
    fields = dict(policy.fields)
    for rule in rules_of(policy):
        for name in _asked_for(rule):
            fields.setdefault(name, (_definition(rule, name),))
    rules = rules_of(policy)
    if not rules:
        return policy
    origin = rules[0].origin
    uses = tuple(FieldUse(name, False, {}, origin, {}) for name in fields)
    places = [("*", ()), ("@edit", ("edits", "[]"))]
    entries = tuple(
        Requirement(key, at, uses, (), "off", origin, rules[0].policy) for key, at in places
    )
    return replace(policy, items=entries + policy.items, fields=fields)


def _asked_for(rule: Rule) -> Iterator[str]:
    """Bare names under `has` that nothing else gives a meaning: fields of a policy to come."""
    scopes = rule.scopes
    roots = [*t.conditions(rule.tree), *scopes.defines.values()]
    for node in (n for root in roots for n in t.walk(root)):
        if isinstance(node, t.Has) and not node.path.steps:
            name = node.path.root
            if name not in ROLES and not any(
                name in known for known in (scopes.words, scopes.defines, scopes.options)
            ):
                yield name


def _definition(rule: Rule, name: str) -> FieldDefinition:
    return FieldDefinition(name, {}, rule.origin, {}, rule.policy)


def _run(policy: EffectivePolicy, rule: Rule) -> Iterator[Result]:
    by_itself = compiled(alone(policy, rule), PLACE)
    explainer = Explainer(by_itself)
    for example in rule.tree.examples:
        try:
            yield _result(by_itself, explainer, rule, example)
        except Exception as error:
            yield Result(rule, example, "error", f"{type(error).__name__}: {error}", None)


def _result(artifact: Artifact, explainer: Explainer, rule: Rule, example: t.Example) -> Result:
    history = artifact.new_history(keep=True)
    for number, earlier in enumerate(example.after):
        artifact.decide(Call(number, earlier.tool, dict(earlier.args), {}, None, NOW), history)
        if earlier.outcome in ("passed", "failed"):
            history.outcome(number, earlier.outcome)
    call = Call("judged", example.tool, dict(example.args), dict(example.context or {}), None, NOW)
    explanation = explainer.explain(call, history)
    faults = [f for f in explanation.decision.findings if f.rule in _FAULTS]
    if faults:
        return Result(rule, example, "error", faults[0].message, None)
    if not explanation.rules:
        return Result(rule, example, "did not apply", "", None)
    found = [f for f in explanation.decision.findings if f.rule == rule.id]
    told = found[0].message if found else ""
    return Result(rule, example, "fired" if found else "quiet", told, explanation.rules[0])


#: Findings that say nothing of a rule: the example's arguments were not judged by it.
_FAULTS: Final = frozenset({"args/ambiguous", "args/not-an-object", "engine/rule-error"})


def _at(
    span: t.Span,
    rule: Rule,
    code: str,
    severity: Literal["error", "warning"],
    message: str,
    help_: str,
) -> Diagnostic:
    return Diagnostic(code, severity, rule.origin.file, *span, message, help_)
