"""Calls that were at work on one file at the same time, and may have made each other's changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from tool_intent.ledger.attribution.hops import Begun, Step


class _Ended(NamedTuple):
    """What a call left of a file. `told` says that the record tells the call's own part of it."""

    number: int
    seq: int
    post: str | None
    told: bool


def apart(all_steps: Iterable[Step], begun: Mapping[str, Begun]) -> list[Step]:
    """The steps, which stand in the order in which they ended, with what is known of how their
    calls began: which hops are sure, and which are a command's. Files in different work trees are
    different ones.

    Two calls that overlap are told apart where the later one found what the earlier one had left,
    or where the record says what a call itself put in: it then begins with another content than the
    one that was there when the call did.
    """
    found = list(all_steps)
    unsure: dict[int, set[str]] = {}
    ended: dict[tuple[str, str], list[_Ended]] = {}
    for number, step in enumerate(found):
        start = begun.get(step.call)
        if start is None:
            continue
        for path in dict.fromkeys(hop.path for hop in step.hops):
            others = ended.setdefault((start.folder, path), [])
            for one in _touch(number, path, step, start, others):
                unsure.setdefault(one, set()).add(path)
        if start.commanded:
            hops = tuple(hop._replace(commanded=True) for hop in step.hops)
            found[number] = replace(step, hops=hops)
    for number, paths in unsure.items():
        hops = tuple(hop._replace(sure=hop.path not in paths) for hop in found[number].hops)
        found[number] = replace(found[number], hops=hops)
    return found


def _touch(number: int, path: str, step: Step, start: Begun, ended: list[_Ended]) -> Iterable[int]:
    """Take note of what a step did to a file; the numbers of the steps that nobody can tell apart
    from it, its own among them."""
    began, seq = start.seq, step.seq
    if began is None or seq is None:
        return ()
    here = [hop for hop in step.hops if hop.path == path]
    first, last = here[0], here[-1]
    told = path in start.files and first.pre != start.files[path]
    mixed = list(takewhile(lambda one: one.seq > began, reversed(ended)))
    ended.append(_Ended(number, seq, last.post, told))
    if not mixed or mixed[0].post == first.pre:
        return ()
    return [one.number for one in (*mixed, ended[-1]) if not one.told]
