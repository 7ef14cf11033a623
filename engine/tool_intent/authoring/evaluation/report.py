"""One evaluation, whole, and as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tool_intent.authoring.evaluation.baselines import Baseline, baselines
from tool_intent.authoring.evaluation.corpus import Corpus
from tool_intent.authoring.evaluation.figures import (
    Figures,
    Gate,
    Group,
    RuleFigures,
    Tier,
    by_kind,
    by_language,
    by_note,
    by_tool,
    confusion,
    gates,
    rule_figures,
    tier_figures,
)
from tool_intent.authoring.evaluation.folds import Validation
from tool_intent.authoring.evaluation.judging import Bench, Judged
from tool_intent.authoring.evaluation.latency import Latency, measure
from tool_intent.authoring.evaluation.metrics import Counts, Interval, intervals
from tool_intent.authoring.examples import rules_of
from tool_intent.policy.model import EffectivePolicy


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A policy on a corpus: every row judged, and what that comes to. `unknown_rules` are rules
    that the corpus speaks of and the policy does not have."""

    pack: str
    policy: str
    corpus: Corpus
    judged: tuple[Judged, ...]
    tiers: tuple[Tier, ...]
    rules: tuple[RuleFigures, ...]
    gates: tuple[Gate, ...]
    unknown_rules: tuple[str, ...]
    latency: Latency | None = None
    baselines: tuple[Baseline, ...] = ()
    validation: Validation | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Its tiers, strongest first."""
        return tuple(tier.tier for tier in self.tiers)

    def groups(self) -> dict[str, tuple[Group, ...]]:
        """The rows by what they have in common."""
        return {
            "kinds": by_kind(self.judged, self.names),
            "languages": by_language(self.judged, self.names),
            "tools": by_tool(self.judged, self.names),
            "notes": by_note(self.judged, self.names),
        }


def evaluate(pack: str, policy: EffectivePolicy, corpus: Corpus) -> Evaluation:
    """The figures of a policy (called `pack`) on a corpus: equal policies and corpora give equal
    figures."""
    return _evaluated(pack, policy, corpus, Bench(policy))


def evaluate_and_time(pack: str, policy: EffectivePolicy, corpus: Corpus) -> Evaluation:
    """`evaluate` with latency and baselines, which depend on the machine."""
    from dataclasses import replace

    bench = Bench(policy)
    evaluation = _evaluated(pack, policy, corpus, bench)
    return replace(evaluation, latency=measure(bench, corpus), baselines=baselines(corpus))


def _evaluated(pack: str, policy: EffectivePolicy, corpus: Corpus, bench: Bench) -> Evaluation:
    judged = bench.judge(corpus.items)
    rules = rules_of(policy)
    tiers = tier_figures(judged, corpus.header)
    known = {rule.id for rule in rules}
    by_rule = rule_figures(judged, rules, corpus.header)
    return Evaluation(
        pack, policy.digest, corpus, judged, tiers,
        by_rule,
        gates(tiers, by_rule, corpus.header),
        tuple(rule for rule in corpus.header.rules if rule not in known),
    )  # fmt: skip


def data(evaluation: Evaluation, against: Evaluation | None = None) -> dict[str, Any]:
    """All of it as JSON holds it; shares are fractions, times microseconds."""
    corpus = evaluation.corpus
    labels = [item.bad for item in corpus.items]
    return {
        "pack": evaluation.pack,
        "policy": evaluation.policy,
        "corpus": {
            "name": corpus.name, "file": corpus.file, "digest": f"sha256:{corpus.digest}",
            "rows": len(labels), "good": labels.count(False), "bad": labels.count(True),
            "borderline": labels.count(None),
        },
        "tiers": {tier.tier: _tier(tier) for tier in evaluation.tiers},
        "rules": [_rule(rule) for rule in evaluation.rules],
        **{name: _groups(groups) for name, groups in evaluation.groups().items()},
        "confusion": {name: _confusion(evaluation, name) for name in evaluation.names},
        "faults": [one.item.id for one in evaluation.judged if one.is_fault],
        "unknown_rules": list(evaluation.unknown_rules),
        "thresholds": [_gate(gate) for gate in evaluation.gates],
        "latency": None if evaluation.latency is None else evaluation.latency._asdict(),
        "baselines": [_baseline(one) for one in evaluation.baselines],
        "validation": None if evaluation.validation is None else _validation(evaluation.validation),
        "compare": None if against is None else _compared(evaluation, against),
    }  # fmt: skip


def changed(evaluation: Evaluation, against: Evaluation) -> list[tuple[Judged, Judged]]:
    """The rows on which two policies differ in their strongest effect: the other's, then ours."""
    pairs = zip(against.judged, evaluation.judged, strict=True)
    return [(before, after) for before, after in pairs if before.strongest != after.strongest]


def _tier(tier: Tier) -> dict[str, Any]:
    return {
        **_counts(tier.counts),
        **_figures(tier.figures),
        "recall_of_kinds": tier.value("recall_of_kinds"),
        "false_positives_of_hard": tier.value("false_positives_of_hard"),
    }


def _rule(rule: RuleFigures) -> dict[str, Any]:
    return {
        "rule": rule.rule, "effect": rule.effect, "kinds": list(rule.kinds),
        **_counts(rule.counts),
        "precision": _interval(rule.figures["precision"]),
        "recall": _interval(rule.recall),
        "false_positives": _interval(rule.figures["false_positives"]),
    }  # fmt: skip


def _groups(groups: Iterable[Group]) -> list[dict[str, Any]]:
    return [
        {
            "name": group.name, "rows": group.rows,
            **{tier: {**_counts(c), **_figures(intervals(c))} for tier, c in group.counts.items()},
        }
        for group in groups
    ]  # fmt: skip


def _confusion(evaluation: Evaluation, tier: str) -> dict[str, Any]:
    wrongly, missed = confusion(evaluation.judged, tier, evaluation.corpus.header)
    return {
        "false_positives": [_row(one) for one in wrongly],
        "misses": [_row(one) for one in missed],
    }


def _row(one: Judged) -> dict[str, Any]:
    rules = list(dict.fromkeys(found.rule for found in one.found))
    return {
        "id": one.item.id, "line": one.item.line, "kinds": list(one.item.kinds),
        "strongest": one.strongest, "rules": rules,
    }  # fmt: skip


def _gate(gate: Gate) -> dict[str, Any]:
    return {
        "tier": gate.tier,
        "rule": gate.rule or None, "figure": gate.figure, "value": gate.value, "met": gate.met,
        "most" if gate.is_most else "least": gate.demand,
    }  # fmt: skip


def _baseline(one: Baseline) -> dict[str, Any]:
    if one.counts is None:
        return {"name": one.name, "absent": one.absent}
    return {"name": one.name, **_counts(one.counts), **_values(one.counts)}


def _validation(found: Validation) -> dict[str, Any]:
    return {
        "folds": [
            {"families": fold.families, "rows": fold.rows, "options": dict(fold.chosen)}
            for fold in found.folds
        ],
        "tried": [
            {"options": dict(one.options)} | {t: _counts(c) | _values(c) for t, c in one.counts}
            for one in found.tried
        ],
        "tiers": {
            tier.tier: _tier(tier) for tier in found.tiers
        },
    }  # fmt: skip


def _compared(evaluation: Evaluation, against: Evaluation) -> dict[str, Any]:
    return {
        "pack": against.pack,
        "policy": against.policy,
        "tiers": {tier.tier: _tier(tier) for tier in against.tiers},
        "changed": [
            {
                "id": after.item.id, "line": after.item.line,
                "bad": after.item.bad, "before": before.strongest, "after": after.strongest,
            }
            for before, after in changed(evaluation, against)
        ],
    }  # fmt: skip


def _counts(counts: Counts) -> dict[str, int]:
    return dict(zip(("found_bad", "found_good", "missed_bad", "passed_good"), counts, strict=True))


def _values(counts: Counts) -> dict[str, float | None]:
    return {
        "precision": counts.precision, "recall": counts.recall, "f1": counts.f1,
        "false_positives": counts.false_positive_rate,
    }  # fmt: skip


def _figures(figures: Figures) -> Mapping[str, Any]:
    return {name: _interval(figure) for name, figure in figures.items()}


def _interval(figure: Interval | None) -> dict[str, float] | None:
    return None if figure is None else figure._asdict()
