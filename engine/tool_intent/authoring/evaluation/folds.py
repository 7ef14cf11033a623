"""Cross-validation: options chosen on some rows, figures taken on others.

Rows that resemble each other stand in one family, and a family on one side of a fold: otherwise
what was chosen on a row would be tried on its twin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeAlias

from tool_intent.authoring.evaluation.corpus import Corpus, Item
from tool_intent.authoring.evaluation.figures import TIERS, Tier, tier_figures
from tool_intent.authoring.evaluation.judging import Judged
from tool_intent.authoring.evaluation.metrics import SEED, Counts, count
from tool_intent.runtime.wire import dump

#: Values of options, by name.
Options: TypeAlias = Mapping[str, Any]

_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Tried:
    """One setting of the options, on all rows."""

    options: Options
    counts: tuple[tuple[str, Counts], ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """One part of the rows, and the options that were chosen on the others."""

    families: int
    rows: int
    chosen: Options


@dataclass(frozen=True, slots=True)
class Validation:
    """What cross-validation came to. `tiers` count each row as judged under the options that were
    chosen without it; `tried` is every setting, so that nobody has to guess how many there were."""

    folds: tuple[Fold, ...]
    tried: tuple[Tried, ...]
    tiers: tuple[Tier, ...]


def cross_validate(
    corpus: Corpus, settings: Sequence[tuple[Options, Sequence[Judged]]], folds: int
) -> Validation:
    """The rows under each setting of the options (at least one, the first that of the policy as it
    is), validated over so many folds (at least 2).

    In each fold the setting is taken that has the greatest sum of the F1 of its tiers on the rows
    of the other folds; of equal ones the first.
    """
    parts = partition(corpus, folds)
    by_setting = [{one.item.id: one for one in judged} for _, judged in settings]
    kept: list[Judged] = []
    found: list[Fold] = []
    for part in parts:
        inside = {item.id for family in part for item in family}
        scores = [
            _score([one for row, one in judged.items() if row not in inside])
            for judged in by_setting
        ]
        best = scores.index(max(scores))
        kept += [by_setting[best][row] for row in inside]
        found.append(Fold(len(part), len(inside), settings[best][0]))
    kept.sort(key=lambda one: one.item.line)
    tried = tuple(
        Tried(options, tuple((tier, _count(judged, tier)) for tier in TIERS))
        for options, judged in settings
    )
    return Validation(tuple(found), tried, tier_figures(kept, corpus.header))


def partition(corpus: Corpus, folds: int) -> list[list[list[Item]]]:
    """The families of a corpus in so many parts of about as many rows, drawn by the seed."""
    found = families(corpus.items)
    Random(SEED).shuffle(found)  # noqa: S311 (a draw, no secret)
    parts: list[list[list[Item]]] = [[] for _ in range(folds)]
    for family in sorted(found, key=len, reverse=True):
        smallest = min(parts, key=lambda part: sum(map(len, part)))
        smallest.append(family)
    return parts


def families(items: Iterable[Item]) -> list[list[Item]]:
    """Rows that belong together: of one `family` if they name it; else those with the same call or
    with a text in common, numbers aside, and whatever these lead to."""
    leader: dict[str, str] = {}

    def find(key: str) -> str:
        while leader.setdefault(key, key) != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    held = list(items)
    for item in held:
        first, *others = _marks(item)
        for other in others:
            leader[find(other)] = find(first)
    grouped: dict[str, list[Item]] = {}
    for item in held:
        grouped.setdefault(find(next(_marks(item))), []).append(item)
    return list(grouped.values())


def _marks(item: Item) -> Iterator[str]:
    """What a row shares with those of its family."""
    if item.family is not None:
        yield f"family {item.family}"
        return
    bare = {k: v for k, v in item.args.items() if k not in ("intent", "rationale")}
    yield f"call {item.tool} {dump(_without_fields(bare))}"
    for text in item.texts:
        yield f"text {_NUMBER.sub('#', text.casefold().strip())}"


def _without_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_fields(v) for k, v in value.items() if k not in ("intent", "rationale")}
    return [_without_fields(v) for v in value] if isinstance(value, list) else value


def _score(judged: Sequence[Judged]) -> float:
    return sum(_count(judged, tier).f1 or 0.0 for tier in TIERS)


def _count(judged: Iterable[Judged], tier: str) -> Counts:
    return count((one.item.bad, one.reaches(tier)) for one in judged if one.item.bad is not None)
