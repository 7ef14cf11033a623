"""What stronger ranks demand of weaker ones: `must_extend`, and `on_broken` for files that cannot
be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import Absent
from tool_intent.policy.permitting import Standings
from tool_intent.policy.positions import Report, origin, text_nodes
from tool_intent.runtime.model import SENIORITY, Effect, Rank

_Ranked: TypeAlias = Sequence[tuple[PolicyFile, Rank]]


def absent(ranked: _Ranked) -> Iterator[Absent]:
    """What a policy says must be extended, and no file of a weaker rank extends or is."""
    for file, rank in ranked:
        if "must_extend" not in file.data:
            continue
        weaker = {
            name
            for f, r in ranked
            if SENIORITY[r] > SENIORITY[rank]
            for name in (f.shown, f.policy)
        }
        for name, node in text_nodes(
            file.data["must_extend"], file.document.value(["must_extend"])
        ):
            if name not in weaker:
                yield Absent(name, origin(node, file.shown, rank))


def on_broken(
    ranked: _Ranked, broken: Iterable[tuple[str, Rank]], standing: Standings, report: Report
) -> Mapping[str, Effect]:
    """What a broken file leads to where that is not `deny`: `ask`, if a sound source as strong as
    the file says so, none as strong says otherwise, and for an org file it is admitted."""
    lost = set(broken)
    files = {shown for shown, _ in lost}
    said: list[tuple[Rank, str]] = []
    for file, rank in ranked:
        effect = file.data.get("on_broken")
        if effect not in ("ask", "deny") or file.shown in files:
            continue
        why = standing(file, rank) if effect == "ask" else None
        if why is None:
            said.append((rank, effect))
        else:
            node = file.document.key(["on_broken"])
            report.warning(
                "policy/not-permitted", file.shown, file.document.span(node),
                f"`on_broken: ask` does not count: {why}", "it changes nothing: remove it",
            )  # fmt: skip
    lowered: dict[str, Effect] = {}
    for shown, rank in lost:
        as_strong = {effect for r, effect in said if SENIORITY[r] <= SENIORITY[rank]}
        if as_strong == {"ask"}:
            lowered[shown] = "ask"
    return lowered
