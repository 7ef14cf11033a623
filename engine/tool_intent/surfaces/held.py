"""Policies in force, each with what it remembers of the calls before."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from tool_intent.compiler.artifact import Artifact
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.extend import Advert, collisions
from tool_intent.runtime.judge import not_judged
from tool_intent.runtime.model import Call
from tool_intent.runtime.program import Program
from tool_intent.runtime.sessions import Sessions
from tool_intent.runtime.strip import Carrier, Steps

if TYPE_CHECKING:
    from tool_intent.guard.recalling import Recall


class Held(NamedTuple):
    """A policy in force, with the histories of its sessions where rules look back."""

    artifact: Artifact
    sessions: Sessions | None


def held_by(artifact: Artifact, recall: Recall | None = None) -> Held:
    """A policy that begins to be in force; `recall` tells what its sessions did before."""
    if not artifact.reads_history:
        return Held(artifact, None)
    if recall is None:
        return Held(artifact, Sessions(artifact.new_history))
    known = partial(recall, artifact)
    return Held(artifact, Sessions(artifact.new_history, known, recall.root_of))


def judged_by(held: Held, call: Call, *, spends: bool) -> Decision:
    """What a policy decides on a call; a denial where it fails inside."""
    decide = partial(held.artifact.decide, spends=spends)
    try:
        if held.sessions is None:
            return decide(call)
        return held.sessions.judge(call, decide, will_tell=True)[0]
    except Exception as error:
        return not_judged(call.tool, call.id, held.artifact.digest, error)


def own_fields(schema: Any, carriers: tuple[Carrier, ...]) -> frozenset[tuple[Steps, str]]:
    """The fields among those of the carriers that a tool's schema defines itself."""
    return frozenset(collisions(schema, carriers))


def merged(programs: Sequence[Program]) -> tuple[Advert, ...]:
    """The adverts of all programs: what one requires is required, in the newest one's words."""
    if len(programs) == 1:
        return programs[0].adverts
    found: dict[Steps, dict[str, tuple[dict[str, Any], bool]]] = {}
    own: dict[Steps, dict[str, None]] = {}
    for program in programs:
        for advert in program.adverts:
            there = found.setdefault(advert.at, {})
            own.setdefault(advert.at, {}).update(dict.fromkeys(advert.own))
            for name, schema, required in advert.properties:
                before = there.get(name, (schema, False))
                there[name] = (schema, required or before[1])
    return tuple(
        Advert(
            at,
            tuple((name, schema, needed) for name, (schema, needed) in there.items()),
            tuple(own[at]),
        )
        for at, there in found.items()
    )
