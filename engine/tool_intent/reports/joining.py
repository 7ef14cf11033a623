"""Decisions and their outcomes, joined into calls."""

from __future__ import annotations

import json
from collections.abc import Iterable

from tool_intent.ledger.joining import joined
from tool_intent.ledger.members import Members, part, parts, said, target, text, texts, when
from tool_intent.reports.model import Broken, Call, Fate, Mark, Reason, Touched


def calls_of(records: Iterable[Members]) -> tuple[tuple[Call, ...], tuple[Mark, ...]]:
    """The calls of `records`, in the order they were made, and the markers among them.

    An outcome belongs to the decision that its `of` names, wherever that stands before it; one
    that names none here is left out. Records of other types are too.
    """
    found = list(records)
    marks = tuple(_mark(record) for record in found if record.get("type") == "marker")
    pairs = joined(found)
    place = {id(record): n for n, record in enumerate(found)}
    spans = [(place[id(one)], None if end is None else place[id(end)]) for one, end in pairs]
    if any("imported" in decision for decision, _ in pairs):
        # Those were written when they were imported: only their times tell their order.
        pairs.sort(key=lambda pair: when(pair[0]))
        spans = [(2 * n, None if end is None else 2 * n + 1) for n, (_, end) in enumerate(pairs)]
    told = enumerate(zip(pairs, spans, strict=True), 1)
    return tuple(_call(number, *pair, span) for number, (pair, span) in told), marks


def _mark(record: Members) -> Mark:
    detail = json.dumps(part(record, "detail"), ensure_ascii=False)
    return Mark(text(record, "ts"), text(record, "kind"), detail)


def _call(
    number: int, record: Members, outcome: Members | None, span: tuple[int, int | None]
) -> Call:
    session, call, decision = (part(record, key) for key in ("session", "call", "decision"))
    args = part(record, "args")
    verdict = text(decision, "verdict")
    return Call(
        number=number,
        id=text(record, "id"),
        ts=when(record),
        session=text(session, "id"),
        worktree=text(part(record, "actor"), "worktree"),
        agent=text(session, "agent"),
        model=text(session, "model"),
        tool=text(call, "tool"),
        surface=text(call, "surface"),
        target=target(record),
        verdict=verdict,
        fate=_fate(verdict, outcome),
        reasons=tuple(Reason(*one) for one in said(record)),
        broken=tuple(_broken(rule) for rule in parts(decision, "rules")),
        files=_files(record, outcome),
        found=tuple(Touched(text(f, "path"), _blob(f, "pre"), "") for f in parts(record, "files")),
        span=span,
        redacted=len(parts(record, "redactions")),
        imported=text(part(record, "imported"), "from"),
        mends=text(decision, "mended"),
        executed=text(args, "executed"),
    )


def _fate(verdict: str, outcome: Members | None) -> Fate:
    if outcome is not None:
        return "ok" if outcome.get("ok") is True else "failed"
    return "tried" if verdict == "allow" else "refused"


def _broken(rule: Members) -> Broken:
    waived = rule.get("waived")
    return Broken(
        text(rule, "id"), text(rule, "effect"), text(rule, "at"), text(rule, "origin"),
        "" if not waived else text(rule, "was") or "waived",
    )  # fmt: skip


def _files(record: Members, outcome: Members | None) -> tuple[Touched, ...]:
    if outcome is not None and (files := parts(outcome, "files")):
        return tuple(
            Touched(text(f, "path"), _blob(f, "pre"), _blob(f, "post"), texts(f, "entries"))
            for f in files
        )
    return tuple(Touched(text(f, "path"), _blob(f, "pre"), "") for f in parts(record, "files"))


def _blob(file: Members, key: str) -> str | None:
    return None if key in file and file[key] is None else text(file, key)
