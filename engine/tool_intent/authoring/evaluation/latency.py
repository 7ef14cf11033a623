"""How long a policy takes on the calls of a corpus, beside a floor timed in the same run."""

from __future__ import annotations

import gc
from math import ceil
from statistics import median
from time import thread_time_ns
from typing import Final, NamedTuple

from tool_intent.authoring.evaluation import floor
from tool_intent.authoring.evaluation.corpus import Corpus
from tool_intent.authoring.evaluation.judging import Bench

_ROUNDS: Final = 5
#: Calls of the floor a round; one alone is too short for a clock.
_FLOOR_CALLS: Final = 200


class Latency(NamedTuple):
    """Microseconds of one decision, the median and the 99th percentile, and of the floor; `ratio`
    is the mean decision's time in that of the floor, the median over the rounds; `p99_ratio` the
    99th percentile in that of the floor."""

    calls: int
    p50: float
    p99: float
    floor: float
    ratio: float
    p99_ratio: float


def measure(bench: Bench, corpus: Corpus, *, rounds: int = _ROUNDS) -> Latency:
    """Every row's decision, once a round, programs being there; earlier calls are not timed.

    The processor's time counts: what else the machine has to do is none of a policy's.

    `corpus` has at least one row.
    """
    times: list[int] = []
    floors: list[float] = []
    ratios: list[float] = []
    for _ in range(rounds):
        decides = [bench.ready(item) for item in corpus.items]
        gc.collect()
        floors.append(_floor())
        taken = [_timed(decide) for decide in decides]
        times += taken
        ratios.append(sum(taken) / len(taken) / floors[-1])
    least = median(floors)
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    return Latency(
        len(corpus.items), p50 / 1e3, p99 / 1e3, least / 1e3, median(ratios), p99 / least
    )


def percentile(values: list[int], share: float) -> int:
    """The smallest of the values that at least `share` of them do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def _timed(decide: object) -> int:
    assert callable(decide)
    start = thread_time_ns()
    decide()
    return thread_time_ns() - start


def _floor() -> float:
    start = thread_time_ns()
    for _ in range(_FLOOR_CALLS):
        floor.faults(floor.CALL)
    return (thread_time_ns() - start) / _FLOOR_CALLS
