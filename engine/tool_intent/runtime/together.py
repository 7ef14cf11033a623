"""Decisions of several policies on one call as one: the strongest stands, all fields come off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from tool_intent.runtime.decision import Decision, decided
from tool_intent.runtime.extend import Advert
from tool_intent.runtime.judge import in_order, once_each
from tool_intent.runtime.model import Finding
from tool_intent.runtime.strip import Carrier


def together(
    decisions: Sequence[Decision],
    findings: Iterable[Finding],
    stripped: Iterable[Carrier],
    policy: str,
) -> Decision:
    """One decision with `findings`, equal ones once, and the arguments without the fields of all
    `decisions` and those of `stripped`. `decisions` are of one call, at least one."""
    first = decisions[0]
    args = next((d._args for d in decisions if d._args is not None), None)
    carriers = dict.fromkeys([*(c for d in decisions for c in d._carriers), *stripped])
    found = in_order(once_each(list(findings)), args or {})
    return decided(first.id, first.tool, found, args, tuple(carriers), policy)


def digest_of(policies: Iterable[str]) -> str:
    """The digest that names several policies together: over their own, each once, a line each."""
    digests = list(dict.fromkeys(policies))
    if len(digests) == 1:
        return digests[0]
    return "sha256:" + sha256("\n".join(digests).encode()).hexdigest()


def adverts_of(programs: Iterable[tuple[Advert, ...]]) -> tuple[Advert, ...]:
    """What several policies advertise of one tool: each field once, required if any requires it."""
    found: dict[tuple[str, ...], dict[str, tuple[str, dict[str, object], bool]]] = {}
    own: dict[tuple[str, ...], dict[str, None]] = {}
    for adverts in programs:
        for advert in adverts:
            at = found.setdefault(advert.at, {})
            own.setdefault(advert.at, {}).update(dict.fromkeys(advert.own))
            for name, schema, required in advert.properties:
                before = at.get(name)
                kept = schema if before is None else before[1]
                at[name] = (name, kept, required or (before is not None and before[2]))
    return tuple(Advert(at, tuple(fields.values()), tuple(own[at])) for at, fields in found.items())
