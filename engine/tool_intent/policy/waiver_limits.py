"""What `waiver_policy:` of stronger and equal ranks asks of the waivers of a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tool_intent.policy import dates
from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import Waiver
from tool_intent.policy.permitting import Standings
from tool_intent.policy.positions import Report, origin, texts
from tool_intent.runtime.model import SENIORITY, Origin, Rank

_DAY = 86_400


class Base(NamedTuple):
    """A protected branch, for waivers of rules of a rank and of weaker ones."""

    ref: str
    rank: Rank


class Limits:
    """Every `waiver_policy:` there is; together they ask for the strictest."""

    def __init__(self, ranked: Iterable[tuple[PolicyFile, Rank]], report: Report) -> None:
        self._ranked = [
            (file, rank)
            for file, rank in ranked
            if isinstance(file.data.get("waiver_policy"), dict)
        ]
        self._report = report

    def against(self, waiver: Waiver, rank: Rank) -> str | None:
        """Why a waiver does not do for rules of a rank; None where it does."""
        for file, own in self._ranked:
            if SENIORITY[own] <= SENIORITY[rank]:
                said = file.data["waiver_policy"]
                where = _origin(file, own)
                why = next(_against(waiver, said, where), None)
                if why is not None:
                    return why
        return None

    def base(self, standing: Standings) -> Base | None:
        """The protected branch that the strongest source whose word counts names; none where
        several as strong name several."""
        named: list[tuple[Base, PolicyFile]] = []
        for file, rank in self._ranked:
            ref = file.data["waiver_policy"].get("base")
            if not isinstance(ref, str):
                continue
            why = standing(file, rank)
            if why is not None:
                self._told(file, f"`base: {ref}` does not count: {why}")
            else:
                named.append((Base(ref, rank), file))
        if not named:
            return None
        strongest = min(SENIORITY[base.rank] for base, _ in named)
        found = [(b, file) for b, file in named if SENIORITY[b.rank] == strongest]
        if len({base.ref for base, _ in found}) > 1:
            for base, file in found:
                self._told(file, f"`base: {base.ref}` does not count: others as strong say another")
            return None
        return found[0][0]

    def _told(self, file: PolicyFile, message: str) -> None:
        node = file.document.value(["waiver_policy", "base"])
        self._report.warning(
            "waivers/base", file.shown, file.document.span(node), message,
            "name one branch, where the agent's user cannot write it",
        )  # fmt: skip


def _origin(file: PolicyFile, rank: Rank) -> Origin:
    return origin(file.document.key(["waiver_policy"]), file.shown, rank)


def _against(waiver: Waiver, said: dict[str, Any], where: Origin) -> Iterator[str]:
    for glob in texts(said.get("locked")):
        if fnmatchcase(waiver.rule, glob):
            yield f"`{waiver.rule}` is locked ({where})"
    for key in texts(said.get("require")):
        if not _has(waiver, key):
            yield f"it has no `{key}`, which {where} requires"
    approvers = texts(said.get("approvers"))
    if approvers and not {*approvers} & {*waiver.approved_by}:
        yield f"`approved_by` names none of {', '.join(approvers)} ({where})"
    if isinstance(said.get("max_days"), int):
        yield from _too_long(waiver, said["max_days"], where)


def _has(waiver: Waiver, key: str) -> bool:
    return waiver.scope.limits if key == "scope" else bool(getattr(waiver, key, None))


def _too_long(waiver: Waiver, most: int, where: Origin) -> Iterator[str]:
    if waiver.created is None:
        yield f"it has no `created`, so that it may be older than {most} days ({where})"
        return
    days = (dates.begins(waiver.expires) - dates.begins(waiver.created)) / _DAY
    if days > most:
        yield f"it is for {days:g} days, of which at most {most} are allowed ({where})"
