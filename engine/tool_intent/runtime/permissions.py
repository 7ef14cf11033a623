"""What lowers findings: the date they count from, and the point they are enforced at.

Which permissions count is settled when a policy is loaded; here they are applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from tool_intent.runtime.model import STRENGTH, Effect, Finding, Rank

#: An effect by time, as in `policy.model`, and by point of enforcement ("" for any other).
Schedules: TypeAlias = Mapping[str, tuple[tuple[float, Effect], ...]]
#: By the rule's id and the rank it is judged at.
Permissions: TypeAlias = Mapping[tuple[str, Rank], Schedules]


def settled(
    found: Iterable[Finding], permissions: Permissions, now: float | None, point: str
) -> list[Finding]:
    """The findings as they count at a time and a point of enforcement; what is off is left out."""
    kept: list[Finding] = []
    for finding in found:
        origin = finding.origin
        schedules = None if origin is None else permissions.get((finding.rule, origin.rank))
        if schedules is None:
            kept.append(finding)
            continue
        effect = _effect(schedules.get(point, schedules[""]), now)
        if effect != "off":
            kept.append(finding._replace(effect=effect))
    return kept


def _effect(schedule: tuple[tuple[float, Effect], ...], now: float | None) -> Effect:
    """What counts at a time; where the time is not known, the strongest of all."""
    if now is None:
        return max((effect for _, effect in schedule), key=STRENGTH.__getitem__)
    return [effect for since, effect in schedule if since <= now][-1]
