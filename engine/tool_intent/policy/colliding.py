"""What `collision:` says of fields that a tool's own schema defines, as far as it counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import Collision
from tool_intent.policy.permitting import Standings
from tool_intent.policy.positions import Report, origin
from tool_intent.runtime.model import Rank

_Ranked: TypeAlias = Sequence[tuple[PolicyFile, Rank]]
_HOWS = ("deny", "reuse", "prefix")


def collisions_said(
    ranked: _Ranked, broken: Collection[str], standing: Standings, report: Report
) -> Iterator[Collision]:
    """What each sound file says, less what would lower a decision and may not: `reuse` and `prefix`
    of an org file that the agent's user can write, or of one that the environment names."""
    for file, rank in ranked:
        how = file.data.get("collision")
        if how not in _HOWS or file.shown in broken:
            continue
        why = None if how == "deny" else standing(file, rank)
        if why is None:
            yield Collision(how, origin(file.document.key(["collision"]), file.shown, rank))
        else:
            report.warning(
                "policy/not-permitted", file.shown,
                file.document.span(file.document.key(["collision"])),
                f"`collision: {how}` does not count: {why}", "it changes nothing: remove it",
            )  # fmt: skip
