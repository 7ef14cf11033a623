"""Effects by time: what stages say, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf

from tool_intent.policy.model import Schedule
from tool_intent.runtime.model import STRENGTH, Effect


def always(effect: Effect) -> Schedule:
    """One effect at all times."""
    return ((-inf, effect),)


def staged(stages: Sequence[Schedule]) -> Schedule:
    """What several lists of stages come to: at each time the strongest, and off before the first
    of them."""
    times = sorted({since for stage in stages for since, _ in stage} | {-inf})
    return _joined((t, _strongest(at(stage, t) for stage in stages)) for t in times)


def at(schedule: Schedule, time: float) -> Effect:
    """The effect at a time; off before the first."""
    begun: list[Effect] = [effect for since, effect in schedule if since <= time]
    return begun[-1] if begun else "off"


def changed(schedule: Schedule, change: Callable[[Effect], Effect]) -> Schedule:
    """A schedule with every effect put through `change`."""
    return _joined((since, change(effect)) for since, effect in schedule)


def _joined(steps: Iterable[tuple[float, Effect]]) -> Schedule:
    joined: list[tuple[float, Effect]] = []
    for since, effect in steps:
        if not joined or joined[-1][1] != effect:
            joined.append((since, effect))
    return tuple(joined)


def _strongest(effects: Iterable[Effect]) -> Effect:
    return max(effects, key=STRENGTH.__getitem__)
