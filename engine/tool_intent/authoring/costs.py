"""What a rule may cost one call at the most, in the steps that its budget is counted in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tool_intent.authoring.examples import rules_of, with_places
from tool_intent.compiler.conditions import Sentence
from tool_intent.compiler.costing import cost
from tool_intent.compiler.lower import Lowering
from tool_intent.policy.model import EffectivePolicy, Rule
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.budget import BUDGET
from tool_intent.runtime.reading import LONGEST_LIST

__all__ = ["BUDGET", "RuleCost", "rule_costs"]

#: Tools that a rule is lowered for, besides those that catalogs know: any other, with an edit.
_ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class RuleCost:
    """A rule's worst case on one call: `steps`, and the `tool` that it is reached with."""

    rule: Rule
    tool: str
    steps: int

    @property
    def over(self) -> bool:
        """Whether a call may reach the budget, so that the rule answers unknown, and fires."""
        return self.steps > BUDGET

    def diagnostic(self) -> Diagnostic:
        """What to tell of a rule that may not be affordable."""
        span = self.rule.tree.id_span
        return Diagnostic(
            "rules/cost", "warning", self.rule.origin.file, *span,
            f"`{self.rule.id}` may take {self.steps:,} steps on one call of `{self.tool}`, and the"
            f" budget is {BUDGET:,}: past it the rule is unknown, and fires",
            "quantify over a shorter list, or nest less",
        )  # fmt: skip


def rule_costs(policy: EffectivePolicy) -> Iterator[RuleCost]:
    """The worst case of each rule, over the tools that it is about."""
    policy = with_places(policy)
    lowering = Lowering(policy)
    rules = rules_of(policy)
    targets = {name for rule in rules for name in rule.targets if not name.startswith("@")}
    worst: dict[tuple[str, str, int], tuple[int, str]] = {}
    for tool in sorted({*policy.catalog, *targets, _ANY}):
        for sentence in lowering.tool(tool).sentences:
            key = (sentence.id, sentence.origin.file, sentence.origin.line)
            worst[key] = max(worst.get(key, (0, "")), (_steps(sentence), tool), key=lambda w: w[0])
    for rule in rules:
        steps, tool = worst.get((rule.id, rule.origin.file, rule.origin.line), (0, ""))
        yield RuleCost(rule, tool, steps)


def _steps(sentence: Sentence) -> int:
    asked = [c for c in (sentence.guard, sentence.condition) if c is not None]
    once = sum(cost(condition) for condition in asked)
    if sentence.each is not None:
        once = cost(sentence.each[1]) + LONGEST_LIST * once
    per_entry = any("[]" in place for place in sentence.places)
    return once * LONGEST_LIST if per_entry else once
