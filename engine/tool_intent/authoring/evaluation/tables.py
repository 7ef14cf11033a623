"""The tables of an evaluation, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from tool_intent.authoring.evaluation.figures import Group, Tier, confusion
from tool_intent.authoring.evaluation.judging import Judged
from tool_intent.authoring.evaluation.metrics import FIGURES, Counts, Interval, intervals
from tool_intent.authoring.evaluation.report import Evaluation, changed

_NONE: Final = "–"
_FIGURES: Final = [name.replace("_", " ") for name in FIGURES]
_TIER_HEAD: Final = ["tier", *_FIGURES, "recall of its kinds", "false positives of hard"]


def tiers(evaluation: Evaluation) -> str:
    """The figures of each tier, with their intervals."""
    return _table(_TIER_HEAD, [[t.tier, *_tier_cells(t)] for t in evaluation.tiers])


def rules(evaluation: Evaluation) -> str:
    """The figures of each rule."""
    head = ["rule", "effect", "fires", "precision", "recall", "of kinds", "false positives"]
    rows = [
        [
            f"`{r.rule}`", r.effect, str(r.counts.true_positives + r.counts.false_positives),
            _figure(r.figures["precision"]), _figure(r.recall),
            ", ".join(r.kinds) or "all bad rows",
            f"{_share(r.counts.false_positive_rate)} ({r.counts.false_positives})",
        ]
        for r in evaluation.rules
    ]  # fmt: skip
    return _table(head, rows)


def kinds(evaluation: Evaluation) -> str:
    """How many of the bad rows of each kind each tier finds."""
    groups = evaluation.groups()["kinds"]
    said = evaluation.corpus.header.kinds
    head = ["kind", "tier", "rows", *(f"found by {tier}" for tier in evaluation.names)]
    rows = [
        [
            g.name,
            said.get(g.name, _NONE),
            str(g.rows),
            *(_figure(intervals(c)["recall"]) for c in g.counts.values()),
        ]
        for g in groups
    ]
    return _table(head, rows)


def languages(evaluation: Evaluation) -> str:
    """The figures of each language."""
    return _grouped("language", evaluation.groups()["languages"], evaluation.names)


def tools(evaluation: Evaluation) -> str:
    """The figures of each tool."""
    return _grouped("tool", evaluation.groups()["tools"], evaluation.names)


def notes(evaluation: Evaluation) -> str:
    """The figures of the rows of each note."""
    return _grouped("note", evaluation.groups()["notes"], evaluation.names)


def baselines(evaluation: Evaluation) -> str:
    """What else could be done, beside the tiers."""
    head = ["", *_FIGURES]
    rows = [[f"{evaluation.pack}, {t.tier}", *_plain(t.counts)] for t in evaluation.tiers]
    for one in evaluation.baselines:
        cells = [_NONE] * len(FIGURES) if one.counts is None else _plain(one.counts)
        rows.append([one.name + (f" ({one.absent})" if one.absent else ""), *cells])
    return _table(head, rows)


def latency(evaluation: Evaluation) -> str:
    """The time of one decision."""
    took = evaluation.latency
    if took is None:
        return _NONE
    head = ["decisions", "median", "p99", "floor", "mean in floors", "p99 in floors"]
    cells = [
        str(took.calls), f"{took.p50:.0f} µs", f"{took.p99:.0f} µs", f"{took.floor:.1f} µs",
        f"{took.ratio:.1f}", f"{took.p99_ratio:.1f}",
    ]  # fmt: skip
    return _table(head, [cells])


def thresholds(evaluation: Evaluation) -> str:
    """What the corpus demands, and whether it is met."""
    rows = [
        [
            f"{gate.tier}, `{gate.rule}`" if gate.rule else gate.tier,
            gate.figure.replace("_", " "),
            f"{'at most' if gate.is_most else 'at least'} {_share(gate.demand)}",
            _share(gate.value), "yes" if gate.met else "**no**",
        ]
        for gate in evaluation.gates
    ]  # fmt: skip
    return _table(["tier", "figure", "demanded", "reached", "met"], rows)


def validated(evaluation: Evaluation) -> str:
    """Cross-validated figures, the options chosen in each fold, and every setting tried."""
    found = evaluation.validation
    if found is None:
        return _NONE
    chosen = [
        [str(n), str(f.families), str(f.rows), _options(f.chosen)]
        for n, f in enumerate(found.folds, 1)
    ]
    tried = [[_options(one.options), *(_share(c.f1) for _, c in one.counts)] for one in found.tried]
    return "\n\n".join([
        _table(_TIER_HEAD, [[t.tier, *_tier_cells(t)] for t in found.tiers]),
        _table(["fold", "families", "rows", "options chosen on the others"], chosen),
        _table(["options tried", *(f"F1 {tier}" for tier, _ in found.tried[0].counts)], tried),
    ])  # fmt: skip


def wrong(evaluation: Evaluation) -> str:
    """The rows that each tier gets wrong."""
    parts = []
    for tier in evaluation.names:
        found, missed = confusion(evaluation.judged, tier, evaluation.corpus.header)
        parts.append(_wrong_rows(f"Good calls found by {tier}", found))
        parts.append(_wrong_rows(f"Bad calls missed by {tier}", missed))
    return "\n\n".join(part for part in parts if part)


def compared(evaluation: Evaluation, against: Evaluation) -> str:
    """Both policies' tiers, and the rows on which they differ."""
    rows = [
        [f"{one.pack}, {tier.tier}", *_plain(tier.counts)]
        for one in (against, evaluation)
        for tier in one.tiers
    ]
    moved = [
        [after.item.id, _label(after), before.strongest, after.strongest]
        for before, after in changed(evaluation, against)
    ]
    differ = _table(["row", "label", against.pack, evaluation.pack], moved)
    return (
        f"{_table(['', *_FIGURES], rows)}\n\n{differ if moved else 'No row is judged otherwise.'}"
    )


#: Tables that a page may hold, by name.
TABLES: Final[Mapping[str, Callable[[Evaluation], str]]] = {
    "tiers": tiers,
    "rules": rules,
    "kinds": kinds,
    "languages": languages,
    "tools": tools,
    "notes": notes,
    "thresholds": thresholds,
}


def _tier_cells(tier: Tier) -> list[str]:
    return [
        *(_figure(tier.figures[name]) for name in FIGURES),
        _share(tier.value("recall_of_kinds")),
        _share(tier.value("false_positives_of_hard")),
    ]


def _grouped(what: str, groups: Sequence[Group], names: Iterable[str]) -> str:
    head = [what, "rows", "bad"]
    head += [f"{figure} {tier}" for tier in names for figure in _FIGURES]
    rows = []
    for group in groups:
        counts = list(group.counts.values())
        bad = counts[0].true_positives + counts[0].misses
        shares = [_figure(intervals(c)[figure]) for c in counts for figure in FIGURES]
        rows.append([group.name, str(group.rows), str(bad), *shares])
    return _table(head, rows)


def _wrong_rows(title: str, rows: Sequence[Judged]) -> str:
    if not rows:
        return ""
    cells = [
        [str(one.item.line), one.item.id, ", ".join(one.item.kinds), _rules(one)] for one in rows
    ]
    return f"{title} ({len(rows)}):\n\n{_table(['line', 'row', 'kinds', 'found'], cells)}"


def _rules(one: Judged) -> str:
    return ", ".join(dict.fromkeys(f"{found.rule} {found.effect}" for found in one.found))


def _label(one: Judged) -> str:
    return {True: "bad", False: "good", None: "borderline"}[one.item.bad]


def _options(options: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items()) or "as they are"


def _plain(counts: Counts) -> list[str]:
    return [_share(figure(counts)) for figure in FIGURES.values()]


def _figure(figure: Interval | None) -> str:
    if figure is None:
        return _NONE
    if figure.low == figure.high:
        # All that was drawn is alike: that says how few there are, not how sure the figure is.
        return _share(figure.value)
    return f"{_share(figure.value)} ({_share(figure.low)} to {_share(figure.high)})"


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.3f}".rstrip("0").rstrip(".")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_") if "`" not in text else text
