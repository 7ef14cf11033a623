"""What `adjust:` and `stages:` make of rules, as far as the rank of who says it allows.

A source as strong as a rule adjusts it freely; a weaker one raises it, or lowers it down to the
rule's floor. What lowers an org rule counts only from a source that the agent's user cannot write.
What does not count is told as a warning and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tool_intent.policy.adjustments import Adjustment, adjustments
from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import Rule, Schedule
from tool_intent.policy.permitting import Standings
from tool_intent.policy.positions import Report
from tool_intent.policy.schedules import always, changed, staged
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import SENIORITY, STRENGTH, Effect, Origin, Rank

Ranked = Sequence[tuple[PolicyFile, Rank]]


class Adjusting:
    """Every adjustment of a policy, by the rule it is of."""

    def __init__(self, ranked: Ranked, standing: Standings, report: Report) -> None:
        self._standing = standing
        self._report = report
        self._said: dict[str, list[Adjustment]] = {}
        known = _rule_ids(ranked)
        for file, rank in ranked:
            seen = [id_ for id_, seniority in known.items() if seniority <= SENIORITY[rank]]
            for one in adjustments(file, rank, report):
                if one.rule not in seen:
                    self._unknown(one, seen)
                self._said.setdefault(one.rule, []).append(one)

    def settled(self, rule: Rule, file: PolicyFile) -> Rule:
        """The rule, found in `file`, as everything that adjusts it leaves it."""
        floor = self._floor(rule, file)
        said = self._said.get(rule.id, ())
        rank = rule.origin.rank
        own = [a for a in said if a.rank == rank]
        weaker = [a for a in said if SENIORITY[a.rank] > SENIORITY[rank]]
        schedule, counted = self._by_own(rule, own)
        if weaker:
            counted += self._by_weaker(rule, schedule, weaker, floor)
        effect = schedule[""][-1][1]
        plain = len(schedule) == 1 and len(schedule[""]) == 1
        return replace(
            rule,
            effect=effect,
            lowest=effect if floor[0] is None else _at_most(floor[0])(effect),
            schedule={} if plain else schedule,
            adjusted=tuple(dict.fromkeys(counted)),
        )

    def _by_own(
        self, rule: Rule, own: Sequence[Adjustment]
    ) -> tuple[dict[str, Schedule], list[Origin]]:
        """What sources as strong as the rule make of it: the strongest of what they say."""
        counted = [counts for a in own if (counts := self._counted(a, rule)) is not None]
        stages = [a.stages for a in counted if a.stages]
        by_time = staged(stages) if stages else None
        schedule: dict[str, Schedule] = {}
        for point in _points(counted):
            effect = _wished(counted, point) or rule.effect
            schedule[point] = (
                always(effect) if by_time is None else changed(by_time, _at_most(effect))
            )
        return schedule, [a.origin for a in counted]

    def _counted(self, one: Adjustment, rule: Rule) -> Adjustment | None:
        """As much of an adjustment by a source as strong as the rule as counts."""
        why = self._standing(one.file, one.rank)
        if why is None:
            return one
        raising = one.raising(rule.effect)
        if raising != one:
            self._ignored(one, f"it cannot lower `{rule.id}`: {why}")
        return raising if raising.says_anything else None

    def _floor(self, rule: Rule, file: PolicyFile) -> tuple[Effect | None, str]:
        """How far weaker sources may lower a rule, and why no further."""
        if rule.floor is None:
            return None, f"it has no floor ({rule.origin})"
        why = self._standing(file, rule.origin.rank)
        if why is not None:
            return None, f"its floor does not count: {why}"
        return rule.floor, f"its floor is {rule.floor} ({rule.origin})"

    def _by_weaker(
        self,
        rule: Rule,
        schedule: dict[str, Schedule],
        weaker: Sequence[Adjustment],
        floor: tuple[Effect | None, str],
    ) -> list[Origin]:
        """Change `schedule` as weaker sources may; the places of what counted."""
        lowest, why = floor
        weaker = [self._of_weaker(one, rule) for one in weaker]
        for one in weaker:
            if one.stages:
                self._ignored(one, f"only a source as strong as `{rule.id}` gives it stages")
            if one.lowers_below(rule.effect, lowest):
                self._ignored(one, f"it cannot lower `{rule.id}` that far: {why}")
        for point in {*schedule, *_points(weaker)}:
            wish = _wished(weaker, point)
            if wish is not None:
                before = schedule.get(point, schedule[""])
                schedule[point] = changed(before, _within(wish, lowest))
        return [a.origin for a in weaker if a.effect is not None or a.points]

    def _of_weaker(self, one: Adjustment, rule: Rule) -> Adjustment:
        """As much of an adjustment by a weaker source as its place lets count."""
        why = self._standing.of_others(one.file, one.rank)
        raising = one if why is None else replace(one.raising(rule.effect), stages=one.stages)
        if raising != one:
            self._ignored(one, f"it cannot lower `{rule.id}`: {why}")
        return raising

    def _unknown(self, one: Adjustment, known: Iterable[str]) -> None:
        near = nearest(one.rule, known)
        self._report.error(
            "policy/unknown-rule", one.file.shown, one.file.document.span(one.key),
            f"no rule of this or a stronger rank is called `{one.rule}`",
            f"did you mean `{near}`?" if near else "see `tool-intent show --effective`",
        )  # fmt: skip

    def _ignored(self, one: Adjustment, why: str) -> None:
        self._report.warning(
            "policy/not-permitted", one.file.shown, one.file.document.span(one.key), why,
            "it changes nothing: remove it, or ask whoever keeps the rule",
        )  # fmt: skip


def _rule_ids(ranked: Ranked) -> dict[str, int]:
    """Every rule id with the seniority of the strongest rank that gives it."""
    found: dict[str, int] = {}
    for file, rank in ranked:
        for rule in file.rules.tree.rules if file.rules is not None else ():
            found[rule.id] = min(found.get(rule.id, SENIORITY[rank]), SENIORITY[rank])
    return found


def _points(said: Iterable[Adjustment]) -> list[str]:
    return ["", *dict.fromkeys(point for one in said for point in one.points)]


def _wished(said: Iterable[Adjustment], point: str) -> Effect | None:
    """The strongest effect that is asked for at a point."""
    effects = [one.points.get(point, one.effect) for one in said]
    return max((e for e in effects if e is not None), key=STRENGTH.__getitem__, default=None)


def _at_most(most: Effect) -> Callable[[Effect], Effect]:
    return lambda effect: min(effect, most, key=STRENGTH.__getitem__)


def _within(wish: Effect, lowest: Effect | None) -> Callable[[Effect], Effect]:
    """What a weaker source's wish makes of an effect: it raises it, or lowers it to `lowest`."""

    def change(effect: Effect) -> Effect:
        if STRENGTH[wish] >= STRENGTH[effect]:
            return wish
        if lowest is None or STRENGTH[lowest] >= STRENGTH[effect]:
            return effect
        return max(wish, lowest, key=STRENGTH.__getitem__)

    return change
