"""Figures by hand-computed cases, and what holds of them whatever was counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.authoring.evaluation.metrics import (
    FIGURES,
    Counts,
    count,
    intervals,
)

COUNTS = st.builds(Counts, *[st.integers(0, 60)] * 4)


@pytest.mark.parametrize(
    ("counts", "precision", "recall", "f1", "false_positives"),
    [
        (Counts(8, 2, 4, 6), 0.8, 2 / 3, 8 / 11, 0.25),
        (Counts(3, 1, 0, 0), 0.75, 1.0, 6 / 7, 1.0),
        (Counts(0, 0, 5, 5), None, 0.0, 0.0, 0.0),
        (Counts(0, 3, 0, 1), 0.0, None, 0.0, 0.75),
        (Counts(4, 0, 0, 0), 1.0, 1.0, 1.0, None),
        (Counts(), None, None, None, None),
    ],
)
def test_figures_are_as_computed_by_hand(
    counts: Counts,
    precision: float | None,
    recall: float | None,
    f1: float | None,
    false_positives: float | None,
) -> None:
    found = (counts.precision, counts.recall, counts.f1, counts.false_positive_rate)
    assert found == pytest.approx((precision, recall, f1, false_positives))


def test_pairs_are_counted_in_their_four_cells() -> None:
    pairs = [(True, True)] * 4 + [(False, True)] * 3 + [(True, False)] * 2 + [(False, False)]
    assert count(pairs) == Counts(4, 3, 2, 1)


def test_an_interval_is_that_of_the_binomial_distribution() -> None:
    """Recall of 80 in 100 draws: the exact central 95 % of Binomial(100, 0.8) / 100."""
    found = intervals(Counts(80, 0, 20, 0))["recall"]
    assert found is not None
    assert found.value == 0.8
    assert found.low == pytest.approx(0.72, abs=0.015)
    assert found.high == pytest.approx(0.87, abs=0.015)


def test_equal_counts_have_equal_intervals_and_another_seed_others() -> None:
    counts = Counts(30, 4, 9, 40)
    assert intervals(counts) == intervals(counts)
    assert intervals(counts, seed=1) != intervals(counts, seed=2)


@given(COUNTS)
@settings(max_examples=60)
def test_every_figure_is_a_share_and_f1_lies_between_precision_and_recall(counts: Counts) -> None:
    for figure in FIGURES.values():
        value = figure(counts)
        assert value is None or 0 <= value <= 1
    if counts.precision is not None and counts.recall is not None:
        assert counts.f1 is not None
        low, high = sorted((counts.precision, counts.recall))
        assert low - 1e-12 <= counts.f1 <= high + 1e-12


@given(COUNTS)
@settings(max_examples=60)
def test_an_interval_holds_its_figure_and_stays_within_shares(counts: Counts) -> None:
    for name, interval in intervals(counts, resamples=2).items():
        value = FIGURES[name](counts)
        if value is None:
            assert interval is None
        else:
            assert interval is not None
            assert interval.value == value
            assert 0 <= interval.low <= value <= interval.high <= 1


@given(COUNTS, st.integers(1, 20))
@settings(max_examples=60)
def test_one_more_false_positive_raises_no_figure_but_its_own(counts: Counts, more: int) -> None:
    worse = counts._replace(false_positives=counts.false_positives + more)
    assert (worse.precision or 0) <= (counts.precision or 1)
    assert worse.recall == counts.recall
    assert (worse.false_positive_rate or 0) >= (counts.false_positive_rate or 0)
