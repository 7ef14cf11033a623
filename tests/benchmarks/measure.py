"""Timing side by side: every subject once a round, in a new order each round.

Ratios are taken within a round, so that whatever slows the machine down slows both sides of them.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Sequence
from math import ceil
from statistics import median
from time import perf_counter, perf_counter_ns, thread_time
from typing import Any, NamedTuple

#: Every so many rounds the calls of a subject are timed one by one.
_EACH_CALL = 4


class Subject(NamedTuple):
    """Something to time. `run` does the whole work once; it is repeated `times` times in a row.

    `calls`, where the work is many calls of one function, are the function and its arguments.
    What takes long is run in one of `every` so many rounds.
    """

    run: Callable[[], object]
    times: int = 1
    calls: tuple[Callable[[Any], object], Sequence[Any]] | None = None
    every: int = 1


class Timings(NamedTuple):
    """Seconds of one run, by round, and nanoseconds of single calls, clock reading included."""

    rounds: dict[int, float]
    calls: list[int]


def over(function: Callable[[Any], object], inputs: Sequence[Any], times: int = 1) -> Subject:
    """One call of `function` with each of the inputs."""

    def run() -> None:
        for one in inputs:
            function(one)

    return Subject(run, times, (function, inputs))


def interleaved(subjects: dict[str, Subject], rounds: int, seed: int = 0) -> dict[str, Timings]:
    """The timings of every subject over so many rounds, after one round that does not count."""
    shuffle = random.Random(seed).shuffle
    found = {name: Timings({}, []) for name in subjects}
    order = list(subjects)
    for number in range(-1, rounds):
        shuffle(order)
        gc.collect()
        for name in order:
            subject = subjects[name]
            if max(number, 0) % subject.every:
                continue
            seconds = _seconds(subject)
            if number >= 0:
                found[name].rounds[number] = seconds
                if subject.calls is not None and number % _EACH_CALL == 0:
                    found[name].calls.extend(_each(*subject.calls))
    return found


def ratio(subject: Timings, floor: Sequence[Timings]) -> float:
    """The median over the rounds of a subject's time in that of all of `floor` together."""
    shared = set(subject.rounds).intersection(*(f.rounds for f in floor))
    return median(subject.rounds[n] / sum(f.rounds[n] for f in floor) for n in shared)


def percentile(values: Sequence[int], share: float) -> int:
    """The smallest value that at least `share` of all values do not exceed."""
    return sorted(values)[ceil(share * len(values)) - 1]


def _seconds(subject: Subject) -> float:
    # Of calls, the processor's time counts: what else the machine has to do is none of theirs, and
    # it interrupts long work more often than short.
    run, clock = subject.run, perf_counter if subject.calls is None else thread_time
    start = clock()
    for _ in range(subject.times):
        run()
    return (clock() - start) / subject.times


def _each(function: Callable[[Any], object], inputs: Sequence[Any]) -> list[int]:
    times = []
    for one in inputs:
        start = perf_counter_ns()
        function(one)
        times.append(perf_counter_ns() - start)
    return times
