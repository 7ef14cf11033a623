"""Which waivers count, for rules of which ranks, and why others do not.

A waiver counts for rules of its own and weaker ranks; at org rank only where the agent's user
cannot write it. One that a pinned key signed, or that stands on a protected branch, counts whatever
its place. Nothing here breaks a policy: what does not count is told, and lowers nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from tool_intent.policy import sources, vouching
from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import (
    Counted,
    FieldDefinition,
    Requirement,
    Rule,
    Unlisted,
    Waiver,
)
from tool_intent.policy.opening import FOLDER, WAIVERS, held_by, is_waivers
from tool_intent.policy.permitting import Doubting, Standings
from tool_intent.policy.positions import START, Document, Report, Span
from tool_intent.policy.sources import Candidate, Root, Unreadable
from tool_intent.policy.targets import Declared, members_of, seen_from
from tool_intent.policy.vouching import Signers, Vouched
from tool_intent.policy.waiver_limits import Base, Limits
from tool_intent.policy.waivers import WAIVABLE, WaiversFile, waivers
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.model import RANKS, SENIORITY, Rank

Ranked: TypeAlias = Sequence[tuple[PolicyFile, Rank]]


class Waived(NamedTuple):
    """The sound waivers, what is wrong with those and others, the files that hold nothing else, and
    whether all this may change while the files do not."""

    waivers: tuple[Waiver, ...]
    findings: tuple[Diagnostic, ...]
    files: tuple[tuple[WaiversFile, Rank], ...]
    volatile: bool


class _Source(NamedTuple):
    """A document that holds waivers, and why its place does not vouch for it, if it does not."""

    document: Document
    schema: Literal["policy", "waivers"]
    path: str
    data: bytes
    rank: Rank
    doubt: str | None
    base: Base | None
    found: list[Waiver]


class Waiving:
    """Reads waivers for one load of policies. What is wrong with them is kept apart."""

    def __init__(
        self,
        roots: Sequence[Root],
        refused: Iterable[Candidate],
        doubts: Doubting,
        signers: Signers | None,
        now: float,
    ) -> None:
        """`roots` are all there are; `refused` places of waivers files."""
        self._roots = roots
        self._doubts = doubts
        self._signers = signers or vouching.signers_here(now)
        self._now = now
        self._report = Report()
        self._files: list[tuple[WaiversFile, Rank]] = []
        for place in refused:
            self._unread(place.shown, place.reason)

    def found(
        self,
        ranked: Ranked,
        standing: Standings,
        broken: Collection[str],
        declared: Declared,
        rules: Mapping[str, Collection[Rank]],
    ) -> Waived:
        """Every waiver, given the policy it is of: what files are `broken`, the groups `declared`,
        and the ranks at which there are findings of each id."""
        limits = Limits([(f, r) for f, r in ranked if f.shown not in broken], self._report)
        base = limits.base(standing)
        groups = {rank: seen_from(rank, declared) for rank in RANKS}
        known = [*self._policies(ranked, standing, broken), *self._own_files(base)]
        for source in known:
            source.found.extend(
                waivers(
                    source.document, source.schema, source.rank, groups[source.rank], self._now,
                    self._report,
                )
            )  # fmt: skip
        twice = self._twice(known)
        ranks = {rank for of in rules.values() for rank in of}
        counted = [
            self._counted(waiver, source, limits, groups, ranks, rules.get(waiver.rule, ()))
            for source in known
            for waiver in source.found
            if (waiver.id, source.rank) not in twice
        ]
        findings = (*self._report.of("error"), *self._report.of("warning"))
        not_yet = any(d.code == "waivers/created" for d in findings)
        return Waived(tuple(counted), findings, tuple(self._files), base is not None or not_yet)

    def _policies(
        self, ranked: Ranked, standing: Standings, broken: Collection[str]
    ) -> Iterator[_Source]:
        for file, rank in ranked:
            if "waivers" in file.data and file.shown not in broken:
                why = standing(file, rank)
                yield _Source(
                    file.document, "policy", file.path, file.source, rank, why, None, []
                )  # fmt: skip

    def _own_files(self, base: Base | None) -> Iterator[_Source]:
        for root in self._roots:
            if not is_waivers(root.path) or (base is not None and root.rank == "repo"):
                continue
            try:
                held = held_by(root.path)
                data = sources.read(root.path, root.rank, held)
            except Unreadable as error:
                self._unread(root.shown, error.reason)
                continue
            why = self._doubts(root.path, data) if root.rank == "org" else None
            if not root.grants:
                why = "the environment names it, and that grants nothing"
            yield from self._read(root.path, root.shown, data, root.rank, why, None, held)
        if base is not None:
            yield from self._on_branch(base)

    def _on_branch(self, base: Base) -> Iterator[_Source]:
        folders = [os.path.dirname(r.path) for r in self._roots if r.rank == "repo"]
        if not folders:
            return
        shown = f"{base.ref}:{FOLDER}/{WAIVERS}"
        try:
            data = vouching.on_branch(os.path.dirname(folders[0]), base.ref)
        except ValueError as error:
            self._unread(shown, str(error))
            return
        if data is not None:
            yield from self._read("", shown, data, "repo", None, base)

    def _read(
        self,
        path: str,
        shown: str,
        data: bytes,
        rank: Rank,
        doubt: str | None,
        base: Base | None,
        held: tuple[str, ...] = (),
    ) -> Iterator[_Source]:
        file = WaiversFile(path, shown, data, self._report, held)
        self._files.append((file, rank))
        if file.sound:
            yield _Source(file.document, "waivers", path, data, rank, doubt, base, [])

    def _twice(self, known: Sequence[_Source]) -> set[tuple[str, Rank]]:
        """Ids that a rank gives to several waivers: none of these counts, or the order would
        decide."""
        first: dict[tuple[str, Rank], Waiver] = {}
        twice: set[tuple[str, Rank]] = set()
        for source in known:
            for waiver in source.found:
                key = (waiver.id, source.rank)
                if first.setdefault(key, waiver) is not waiver:
                    twice.add(key)
                    self._report.error(
                        "waivers/id", source.document.file, span_of(waiver),
                        f"`{waiver.id}` is also the id of a waiver at {first[key].origin};"
                        " neither counts",
                        "choose another id",
                    )  # fmt: skip
        return twice

    def _counted(
        self,
        waiver: Waiver,
        source: _Source,
        limits: Limits,
        groups: Mapping[Rank, Mapping[str, tuple[str, ...]]],
        ranks: Collection[Rank],
        of_rule: Collection[Rank],
    ) -> Waiver:
        """The waiver with the ranks it counts for; why it does not for those that have the rule."""
        counts: dict[Rank, Counted] = {}
        for rank in sorted(ranks, key=SENIORITY.__getitem__):
            why = limits.against(waiver, rank)
            until = self._until(waiver, source, rank)
            if why is not None:
                if rank in of_rule:
                    self._ignored("refused", waiver, rank, why)
            elif isinstance(until, str):
                if rank in of_rule:
                    self._ignored("not-counted", waiver, rank, until)
            else:
                # A group means what the stronger of the two ranks says it means.
                senior = min(rank, source.rank, key=SENIORITY.__getitem__)
                named = waiver.scope.tools or ("*",)
                tools = [t for name in named for t in members_of(name, groups[senior])]
                counts[rank] = Counted(tuple(dict.fromkeys(tools)), until)
        return replace(waiver, counts=counts)

    def _until(self, waiver: Waiver, source: _Source, rank: Rank) -> float | str:
        """When it is over for rules of a rank; or why it does not count for them."""
        if SENIORITY[source.rank] > SENIORITY[rank]:
            why = f"it is of rank {source.rank}"
        elif source.doubt is not None:
            why = source.doubt
        else:
            return waiver.until
        if source.base is not None:
            if SENIORITY[source.base.rank] <= SENIORITY[rank]:
                return waiver.until
            return f"{why}, and its branch is protected for rank {source.base.rank}"
        signed = self._signers(source.path, source.data)
        if isinstance(signed, Vouched):
            return min(waiver.until, signed.until)
        return f"{why}; {signed or 'it is not signed'}"

    def _ignored(self, code: str, waiver: Waiver, rank: Rank, why: str) -> None:
        self._report.warning(
            f"waivers/{code}", waiver.origin.file, span_of(waiver),
            f"waiver {waiver.id} does not count for `{waiver.rule}` of rank {rank}: {why}",
            "it changes nothing there: ask whoever keeps the rule",
        )  # fmt: skip

    def _unread(self, shown: str, why: str) -> None:
        self._report.warning(
            "waivers/unreadable", shown, START, f"`{shown}` cannot be read: {why}",
            "no waiver in it counts; mend it or remove it",
        )  # fmt: skip


def ranks_of(
    items: Iterable[Requirement | Rule],
    fields: Mapping[str, Iterable[FieldDefinition]],
    unlisted: Iterable[Unlisted],
) -> Mapping[str, Collection[Rank]]:
    """The ranks at which there may be findings of each id that can be waived."""
    found: dict[str, set[Rank]] = {"tools/unlisted": {u.origin.rank for u in unlisted}}
    asking: set[Rank] = set()
    for item in items:
        rank = item.origin.rank
        if isinstance(item, Rule):
            found.setdefault(item.id, set()).add(rank)
        else:
            asking.add(rank)
    defining = {d.origin.rank for defined in fields.values() for d in defined} - {"shipped"}
    for name in WAIVABLE:
        if name.startswith("entries/"):
            found.setdefault(name, set()).update(asking)
        elif name.startswith("fields/"):
            found.setdefault(name, set()).update(asking, defining)
    return found


def span_of(waiver: Waiver) -> Span:
    """The beginning of a waiver."""
    line, column = waiver.origin.line, waiver.origin.column
    return Span(line, column, line, column + len("id: ") + len(waiver.id))
