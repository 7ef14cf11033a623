"""What the judged rows of a corpus come to: by tier, rule, kind, language, tool and note."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tool_intent.authoring.evaluation.corpus import Header, Item
from tool_intent.authoring.evaluation.judging import Judged
from tool_intent.authoring.evaluation.metrics import FIGURES, Counts, Interval, count, intervals
from tool_intent.policy.model import Rule
from tool_intent.runtime.model import STRENGTH, Effect

#: Tiers that every report shows, strongest first.
TIERS: Final = ("deny", "warn")

Figures: TypeAlias = Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Tier:
    """The figures of one tier. `of_kinds` counts the bad rows of kinds that the tier is for, with
    all good ones; `hard` only good rows that are easily taken for bad ones."""

    tier: str
    counts: Counts
    figures: Figures
    of_kinds: Counts
    hard: Counts

    def value(self, name: str) -> float | None:
        """A figure by its name in thresholds; None where it is undefined."""
        if name == "recall_of_kinds":
            return self.of_kinds.recall
        if name == "false_positives_of_hard":
            return self.hard.false_positive_rate
        figure = self.figures[name]
        return None if figure is None else figure.value


@dataclass(frozen=True, slots=True)
class RuleFigures:
    """The figures of one rule, whatever its effect came to. Its recall is of the `kinds` it is for,
    of all bad rows where the corpus does not say; its precision counts every bad row as right."""

    rule: str
    effect: Effect
    kinds: tuple[str, ...]
    counts: Counts
    of_kinds: Counts
    figures: Figures
    recall: Interval | None


@dataclass(frozen=True, slots=True)
class Group:
    """The rows that have something in common, counted for each tier."""

    name: str
    rows: int
    counts: Mapping[str, Counts]


def tier_figures(judged: Sequence[Judged], header: Header) -> tuple[Tier, ...]:
    """Those of `deny`, `warn`, and each tier that the header has thresholds for."""
    names = sorted({*TIERS, *header.thresholds}, key=lambda t: -STRENGTH[t])
    return tuple(_tier(name, judged, header) for name in names)


def _tier(name: str, judged: Sequence[Judged], header: Header) -> Tier:
    kinds = _kinds_of(name, header)
    counts = _count(judged, lambda one: one.reaches(name))
    meant = [one for one in judged if not one.item.bad or kinds.intersection(one.item.kinds)]
    hard = [one for one in judged if one.item.is_hard]
    return Tier(
        name, counts, intervals(counts),
        _count(meant, lambda one: one.reaches(name)), _count(hard, lambda one: one.reaches(name)),
    )  # fmt: skip


def rule_figures(
    judged: Sequence[Judged], rules: Iterable[Rule], header: Header
) -> tuple[RuleFigures, ...]:
    """Those of each rule of a policy, as its files have them, and then of what else was found."""
    order = sorted(rules, key=lambda rule: (rule.origin.file, rule.origin.line))
    others = sorted({(found.rule, found.effect) for one in judged for found in one.found})
    effects = {rule.id: rule.effect for rule in order}
    effects |= {rule: effect for rule, effect in others if rule not in effects}
    return tuple(_rule(rule, effect, judged, header) for rule, effect in effects.items())


def _rule(rule: str, effect: Effect, judged: Sequence[Judged], header: Header) -> RuleFigures:
    def fires(one: Judged) -> bool:
        return any(found.rule == rule for found in one.found)

    kinds = header.rules.get(rule, ())
    meant = [one for one in judged if not one.item.bad or not kinds or {*kinds} & {*one.item.kinds}]
    counts, of_kinds = _count(judged, fires), _count(meant, fires)
    return RuleFigures(
        rule, effect, kinds, counts, of_kinds, intervals(counts), intervals(of_kinds)["recall"]
    )


def by_kind(judged: Sequence[Judged], tiers: Sequence[str]) -> tuple[Group, ...]:
    """The bad rows of each kind."""
    return _groups(judged, tiers, lambda item: item.kinds if item.bad else ())


def by_language(judged: Sequence[Judged], tiers: Sequence[str]) -> tuple[Group, ...]:
    """The rows of each language that rows name."""
    return _groups(judged, tiers, lambda item: (item.lang,) if item.lang else ())


def by_tool(judged: Sequence[Judged], tiers: Sequence[str]) -> tuple[Group, ...]:
    """The rows of each tool."""
    return _groups(judged, tiers, lambda item: (item.tool,))


def by_note(judged: Sequence[Judged], tiers: Sequence[str]) -> tuple[Group, ...]:
    """The rows of each note."""
    return _groups(judged, tiers, lambda item: item.notes)


def _groups(
    judged: Sequence[Judged], tiers: Sequence[str], names: Callable[[Item], Iterable[str]]
) -> tuple[Group, ...]:
    held: dict[str, list[Judged]] = {}
    for one in judged:
        if one.item.bad is not None:
            for name in dict.fromkeys(names(one.item)):
                held.setdefault(name, []).append(one)
    order = sorted(held, key=lambda name: (-len(held[name]), name))
    return tuple(Group(name, len(held[name]), _counts(held[name], tiers)) for name in order)


def _counts(judged: Sequence[Judged], tiers: Sequence[str]) -> dict[str, Counts]:
    return {tier: _count(judged, lambda one, tier=tier: one.reaches(tier)) for tier in tiers}  # type: ignore[misc]


def confusion(
    judged: Sequence[Judged], tier: str, header: Header
) -> tuple[tuple[Judged, ...], tuple[Judged, ...]]:
    """The good rows that a tier finds, and the bad ones that it is for and misses."""
    kinds = _kinds_of(tier, header)
    found = tuple(one for one in judged if one.item.bad is False and one.reaches(tier))
    missed = tuple(
        one
        for one in judged
        if one.item.bad and not one.reaches(tier)
        if not header.kinds or not one.item.kinds or kinds.intersection(one.item.kinds)
    )
    return found, missed


def _kinds_of(tier: str, header: Header) -> set[str]:
    """The kinds that have to be found in a tier or in a stronger one."""
    return {k for k, of in header.kinds.items() if STRENGTH[of] >= STRENGTH[tier]}


@dataclass(frozen=True, slots=True)
class Gate:
    """A threshold of the corpus, of a tier or of one `rule` in it: `value` is the figure reached,
    None where it is undefined, which meets nothing."""

    tier: str
    figure: str
    demand: float
    value: float | None
    rule: str = ""

    @property
    def is_most(self) -> bool:
        """Whether the demand is the most that is allowed, not the least."""
        return self.figure.startswith("false_positives")

    @property
    def met(self) -> bool:
        """Whether the demand is met."""
        if self.value is None:
            return False
        return self.value <= self.demand if self.is_most else self.value >= self.demand


def gates(tiers: Iterable[Tier], rules: Iterable[RuleFigures], header: Header) -> tuple[Gate, ...]:
    """Every threshold of the corpus, held against the figures.

    Each rule that the corpus speaks of has to be as precise as its tier: one that is not lives on
    what the others find.
    """
    of_tiers = [
        Gate(tier.tier, figure, demand, tier.value(figure))
        for tier in tiers
        for figure, demand in header.thresholds.get(tier.tier, {}).items()
    ]
    return tuple(of_tiers) + tuple(
        Gate(tier, figure, demand, _OF_RULES[figure](rule.counts), rule.rule)
        for rule in rules
        if rule.rule in header.rules
        for tier in [_tier_of(rule.effect, header)]
        for figure, demand in header.thresholds.get(tier, {}).items()
        if figure in _OF_RULES
    )


#: What is asked of each rule of a tier, as of the tier.
_OF_RULES: Final[Mapping[str, Callable[[Counts], float | None]]] = {
    figure: FIGURES[figure] for figure in ("precision", "false_positives")
}


def _tier_of(effect: Effect, header: Header) -> str:
    """The strongest tier with thresholds that an effect counts in; itself, if there is none."""
    within = [tier for tier in header.thresholds if STRENGTH[tier] <= STRENGTH[effect]]
    return max(within, key=STRENGTH.__getitem__, default=effect)


def _count(judged: Iterable[Judged], found: Callable[[Judged], bool]) -> Counts:
    return count(_pairs(judged, found))


def _pairs(
    judged: Iterable[Judged], found: Callable[[Judged], bool]
) -> Iterator[tuple[bool, bool]]:
    for one in judged:
        if one.item.bad is not None:
            yield one.item.bad, found(one)
