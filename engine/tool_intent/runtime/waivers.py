"""Waivers applied to what was found in one call.

Which waivers count, and for rules of which ranks, is settled when a policy is loaded. Here it is
asked whether the call lies in a waiver's scope and the time before its end. A waiver that is for so
many calls has a use taken only where calls are enforced, and only if the call then passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tool_intent.runtime import uses
from tool_intent.runtime.model import STRENGTH, Effect, Finding, Rank
from tool_intent.runtime.paths import like

if TYPE_CHECKING:
    from tool_intent.runtime.paths import Place, Resolved
    from tool_intent.runtime.state import State

#: The weakest effect that does not let a call pass.
_STOPS: Final = STRENGTH["ask"]


class Waiver(NamedTuple):
    """A waiver for calls of one tool.

    `ranks` are those of the rules it counts for, each with the number of the rank's view of a call
    and the time (seconds since the epoch) when it is over. `paths` and `agents` are its scope, ()
    for any. `uses` is how many calls it is for, None for any number; `digest` is what they are
    counted by.
    """

    id: str
    rule: str
    ranks: Mapping[Rank, tuple[int, float]]
    effect: Effect
    paths: tuple[str, ...]
    agents: tuple[str, ...]
    uses: int | None
    digest: str


def waived(
    found: list[Finding],
    waivers: Sequence[tuple[Any, ...]],
    state: State,
    now: float | None,
    *,
    spends: bool,
) -> list[Finding]:
    """The findings with the effects that waivers leave them; `waivers` are `Waiver`s as tuples.

    Where the time is not known no waiver is before its end. With `spends` this call uses up what is
    waived for so many, if it passes.
    """
    names = {finding.rule for finding in found}
    known = [Waiver(*waiver) for waiver in waivers if waiver[1] in names]
    if not known or now is None:
        return found
    fitting = _Fitting([w for w in known if w.uses is None], state, now)
    found = [_lowered(finding, fitting.best(finding)) for finding in found]
    limited = [w for w in known if w.uses is not None]
    return _by_limited(found, _Fitting(limited, state, now), now, spends) if limited else found


def _by_limited(found: list[Finding], fitting: _Fitting, now: float, spends: bool) -> list[Finding]:
    """Waivers that are for so many calls: all that it needs for the call to pass, or none."""
    stopping = {n: f for n, f in enumerate(found) if STRENGTH[f.effect] >= _STOPS}
    chosen: dict[int, Waiver] = {}
    for number, finding in stopping.items():
        best = fitting.best(finding)
        if best is None:  # it stops the call whatever else is waived
            return found
        chosen[number] = best
    wanted = {w.digest: w.uses for w in chosen.values() if w.uses is not None}
    if not wanted or (spends and not uses.take(wanted, now)):
        return found
    return [_lowered(finding, chosen.get(number)) for number, finding in enumerate(found)]


class _Fitting:
    """Which of some waivers a call lies in the scope of."""

    def __init__(self, waivers: Sequence[Waiver], state: State, now: float) -> None:
        self._waivers = waivers
        self._state = state
        self._now = now
        self._within: dict[tuple[tuple[str, ...], int], bool] = {}
        self._left: dict[str, bool] = {}

    def best(self, finding: Finding) -> Waiver | None:
        """The one that lowers a finding most."""
        fitting = [w for w in self._waivers if self._fits(w, finding)]
        return min(fitting, key=lambda w: (STRENGTH[w.effect], w.id, w.digest), default=None)

    def _fits(self, waiver: Waiver, finding: Finding) -> bool:
        origin = finding.origin
        if origin is None or waiver.rule != finding.rule or origin.rank not in waiver.ranks:
            return False
        view, until = waiver.ranks[origin.rank]
        return (
            self._now < until
            and STRENGTH[waiver.effect] < STRENGTH[finding.effect]
            and (not waiver.agents or self._state.context.get("agent") in waiver.agents)
            and (not waiver.paths or self._touches_only(waiver.paths, view))
            and self._has_uses(waiver)
        )

    def _touches_only(self, paths: tuple[str, ...], view: int) -> bool:
        key = (paths, view)
        if key not in self._within:
            self._within[key] = _touches_only(self._state.seen(view), paths)
        return self._within[key]

    def _has_uses(self, waiver: Waiver) -> bool:
        if waiver.uses is None:
            return True
        if waiver.digest not in self._left:
            try:
                self._left[waiver.digest] = uses.left(waiver.digest, waiver.uses) > 0
            except (uses.Unusable, OSError):
                self._left[waiver.digest] = False
        return self._left[waiver.digest]


def _touches_only(state: State, globs: tuple[str, ...]) -> bool:
    """Whether the call surely touches paths, and none that is not like one of the globs."""
    touched = state.call_list("paths")
    if not touched.items or not touched.complete:
        return False
    place = state.looking()
    return all(_is_like(state.resolved(path), globs, place) for path in touched.items)


def _is_like(here: Resolved, globs: tuple[str, ...], place: Place) -> bool:
    """Whether a path is like a glob wherever it may lead: `like` asks of the likeliest places."""
    everywhere = here._replace(others=(*here.others, *here.readings), readings=())
    return here.known and like(everywhere, globs, place) is True


def _lowered(finding: Finding, waiver: Waiver | None) -> Finding:
    if waiver is None:
        return finding
    before = finding.was or finding.effect
    return finding._replace(effect=waiver.effect, waived=waiver.id, was=before)
