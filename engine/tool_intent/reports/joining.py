"""Decisions and their outcomes, joined into calls."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tool_intent.ledger.members import Members, part, parts, text, texts
from tool_intent.reports.model import Broken, Call, Fate, Mark, Reason, Touched


def calls_of(records: Iterable[Members]) -> tuple[tuple[Call, ...], tuple[Mark, ...]]:
    """The calls of `records`, in their order, and the markers among them.

    An outcome belongs to the decision that its `of` names, wherever that stands before it; one
    that names none here is left out. Records of other types are too.
    """
    decisions: list[Members] = []
    outcomes: dict[str, Members] = {}
    marks: list[Mark] = []
    for record in records:
        kind = record.get("type")
        if kind == "decision":
            decisions.append(record)
        elif kind == "outcome":
            outcomes[text(record, "of")] = record
        elif kind == "marker":
            detail = json.dumps(part(record, "detail"), ensure_ascii=False)
            marks.append(Mark(text(record, "ts"), text(record, "kind"), detail))
    calls = tuple(
        _call(number, decision, outcomes.get(text(decision, "id")))
        for number, decision in enumerate(decisions, 1)
    )
    return calls, tuple(marks)


def _call(number: int, record: Members, outcome: Members | None) -> Call:
    session, call, decision = (part(record, key) for key in ("session", "call", "decision"))
    args = part(record, "args")
    verdict = text(decision, "verdict")
    return Call(
        number=number,
        id=text(record, "id"),
        ts=text(record, "ts"),
        session=text(session, "id"),
        worktree=text(part(record, "actor"), "worktree"),
        agent=text(session, "agent"),
        model=text(session, "model"),
        tool=text(call, "tool"),
        surface=text(call, "surface"),
        target=_target(record),
        verdict=verdict,
        fate=_fate(verdict, outcome),
        reasons=tuple(_reason(entry) for entry in parts(record, "entries")),
        broken=tuple(_broken(rule) for rule in parts(decision, "rules")),
        files=_files(record, outcome),
        redacted=len(parts(record, "redactions")),
        imported=text(part(record, "imported"), "from"),
        mends=text(decision, "mended"),
        executed=text(args, "executed"),
    )


def _fate(verdict: str, outcome: Members | None) -> Fate:
    if outcome is not None:
        return "ok" if outcome.get("ok") is True else "failed"
    return "tried" if verdict == "allow" else "refused"


def _target(record: Members) -> str:
    """What a call is about, in a word: its command, else its paths."""
    actions = parts(record, "actions")
    for key in ("command", "path"):
        found = list(dict.fromkeys(filter(None, (text(action, key) for action in actions))))
        if found:
            return found[0] if key == "command" else ", ".join(found)
    kept = part(part(record, "args"), "kept")
    return next((value for value in kept.values() if isinstance(value, str) and value), "")


def _reason(entry: Members) -> Reason:
    said = tuple((key, _shown(value)) for key, value in entry.items() if key != "at")
    return Reason(text(entry, "at"), said)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
