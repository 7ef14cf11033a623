"""Precision, recall, F1 and the rate of false positives, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import ceil, floor
from random import Random
from types import MappingProxyType
from typing import Final, NamedTuple

#: The share of resamples that an interval covers, and how many there are.
LEVEL: Final = 0.95
RESAMPLES: Final = 1_000
#: Where the resampling starts: equal counts have equal intervals, everywhere.
SEED: Final = 20_261_130


class Counts(NamedTuple):
    """What was found: bad calls found, good calls found, bad calls missed, good calls passed."""

    true_positives: int = 0
    false_positives: int = 0
    misses: int = 0
    true_negatives: int = 0

    @property
    def total(self) -> int:
        """How many calls were counted."""
        return sum(self)

    @property
    def precision(self) -> float | None:
        """Of the calls found, the share that is bad; None where none was found."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """Of the bad calls, the share that was found; None where none is bad."""
        return _share(self.true_positives, self.true_positives + self.misses)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall; None where nothing is bad or found."""
        twice = 2 * self.true_positives
        return _share(twice, twice + self.false_positives + self.misses)

    @property
    def false_positive_rate(self) -> float | None:
        """Of the good calls, the share that was found; None where none is good."""
        return _share(self.false_positives, self.false_positives + self.true_negatives)


#: The four figures, by their names in reports and thresholds.
FIGURES: Final[Mapping[str, Callable[[Counts], float | None]]] = {
    "precision": lambda c: c.precision,
    "recall": lambda c: c.recall,
    "f1": lambda c: c.f1,
    "false_positives": lambda c: c.false_positive_rate,
}


class Interval(NamedTuple):
    """A figure (a share) and the bounds of its interval."""

    value: float
    low: float
    high: float


def count(pairs: Iterable[tuple[bool, bool]]) -> Counts:
    """The counts of pairs `(bad, found)`."""
    cells = [0, 0, 0, 0]
    for bad, found in pairs:
        cells[(0 if found else 2) if bad else (1 if found else 3)] += 1
    return Counts(*cells)


@lru_cache(maxsize=1_000)
def intervals(
    counts: Counts, *, seed: int = SEED, resamples: int = RESAMPLES
) -> Mapping[str, Interval | None]:
    """Each figure with its 95 % percentile bootstrap interval; None where the figure is.

    Calls are drawn with replacement, as many as there are; draws in which a figure is undefined do
    not count for it. An interval is widened to hold the figure itself, which the percentiles of a
    skewed figure may leave out.
    """
    draws = list(_draws(counts, seed, resamples))
    return MappingProxyType({
        name: _interval(figure, counts, draws) for name, figure in FIGURES.items()
    })  # fmt: skip


def _draws(counts: Counts, seed: int, resamples: int) -> Iterable[Counts]:
    random, total = Random(seed), counts.total  # noqa: S311 (a draw, no secret)
    if not total:
        return
    cells = range(len(counts))
    for _ in range(resamples):
        drawn = random.choices(cells, counts, k=total)
        yield Counts(*(drawn.count(cell) for cell in cells))


def _interval(
    figure: Callable[[Counts], float | None], counts: Counts, draws: list[Counts]
) -> Interval | None:
    value = figure(counts)
    if value is None:
        return None
    drawn = sorted(found for found in map(figure, draws) if found is not None) or [value]
    tail = (1 - LEVEL) / 2 * (len(drawn) - 1)
    low, high = drawn[floor(tail)], drawn[ceil(len(drawn) - 1 - tail)]
    return Interval(value, min(low, value), max(high, value))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
