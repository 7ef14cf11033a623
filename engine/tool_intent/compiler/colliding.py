"""What becomes of each field that a tool may define itself, by the ranks that ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from tool_intent.compiler.ir import Place
from tool_intent.policy.model import Collision, Requirement
from tool_intent.runtime.colliding import Otherwise, Treatment, prefixed
from tool_intent.runtime.model import SENIORITY, Rank
from tool_intent.runtime.strip import Carrier, Steps


def settings(said: Sequence[Collision], requirements: Iterable[Requirement]) -> Treatment:
    """What sources that may lower it say of each field, should the tool define it: those as strong
    as the strongest entry that asks for it there. Where they differ, or any source says `deny`, it
    is as if nothing was said."""
    if not said:
        return ()
    asking: dict[tuple[Steps, str], Rank] = {}
    for requirement in requirements:
        for use in requirement.uses:
            key = (requirement.at, use.name)
            asking[key] = min(
                asking.get(key, requirement.origin.rank), requirement.origin.rank,
                key=SENIORITY.__getitem__,
            )  # fmt: skip
    found = []
    for (at, name), rank in asking.items():
        hows = {
            s.how
            for s in said
            if s.how == "deny" or SENIORITY[s.origin.rank] <= SENIORITY[rank]
        }  # fmt: skip
        if len(hows) == 1 and hows != {"deny"}:
            (how,) = hows
            if how == "reuse" or (at, prefixed(name)) not in asking:
                found.append((at, name, cast("Otherwise", how)))
    return tuple(sorted(found))


def carriers_of(places: Iterable[Place]) -> tuple[Carrier, ...]:
    """What places carry, each field once."""
    return tuple(carrier_of(place.at, place) for place in places)


def carrier_of(at: Steps, place: Place) -> Carrier:
    """What a place carries, each field once."""
    keys: Mapping[str, str] = {f.key: f.name for f in place.fields if not f.own}
    plain = all(key == name for key, name in keys.items())
    own = dict.fromkeys(f.name for f in place.fields if f.own)
    return Carrier(at, tuple(keys), () if plain else tuple(keys.values()), tuple(own))


def defined_keys(places: Iterable[Place]) -> tuple[Carrier, ...]:
    """Every key that a field goes by, or would if the tool defined it."""
    return tuple(
        Carrier(p.at, tuple(dict.fromkeys(k for f in p.fields for k in (f.name, prefixed(f.name)))))
        for p in places
    )
