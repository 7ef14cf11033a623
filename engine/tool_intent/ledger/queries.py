"""What is asked of a ledger: decisions by who, what, where, which rule and when."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from time import sleep
from typing import Final, NamedTuple

from tool_intent.ledger.families import Family
from tool_intent.ledger.members import part, parts, text
from tool_intent.ledger.reading import lines_of
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import Segment, segments

#: Seconds between two looks at what was written meanwhile.
_INTERVAL: Final = 0.2


class Wanted(NamedTuple):
    """Which decisions: those that meet all that is given. `session` is an id or how one begins, and
    takes in the sessions that it started; `tool` and `rule` are names or globs; `path` is a file or
    folder, from the work tree's root; `since` is a record's time, `2026-11-30T12:00:00.000Z`."""

    session: str | None = None
    tool: str | None = None
    path: str | None = None
    rule: str | None = None
    decision: str | None = None
    since: str | None = None


class Entry(NamedTuple):
    """A decision's record, and that of its outcome where there is one."""

    decision: Record
    outcome: Record | None


def matches(record: Record, wanted: Wanted, family: Family | None = None) -> bool:
    """Whether a record is a decision that is wanted. `family` are the sessions that are, those
    alone whose id begins as wanted if it is not given."""
    if record["type"] != "decision":
        return False
    if family is None and wanted.session is not None:
        family = Family(wanted.session)
    decision = part(record, "decision")
    return (
        (family is None or family.has(text(part(record, "session"), "id")))
        and _is_like(text(part(record, "call"), "tool"), wanted.tool)
        and (wanted.path is None or any(_is_below(p, wanted.path) for p in paths(record)))
        and (wanted.rule is None or any(_is_like(rule, wanted.rule) for rule in rules(record)))
        and (wanted.decision is None or text(decision, "verdict") == wanted.decision)
        and (wanted.since is None or record["ts"] >= wanted.since)
    )


def paths(record: Record) -> list[str]:
    """The paths that a decision is about, from the root of its work tree where they lie below."""
    root = text(part(record, "actor"), "worktree") + os.sep
    said = [text(file, "path") for file in parts(record, "files")]
    said += [text(a, "path") for a in parts(record, "actions") if a.get("kind") != "net"]
    found = [os.path.normpath(path) for path in said if path]
    return list(dict.fromkeys(path.removeprefix(root) for path in found))


def rules(record: Record) -> list[str]:
    """The ids of the rules that a decision found broken."""
    return [text(rule, "id") for rule in parts(part(record, "decision"), "rules")]


def follow(folder: str) -> Iterator[Record]:
    """Every record that is written from now on, as long as the caller asks. Raises OSError."""
    ends = {segment: os.stat(segment.path).st_size for segment in segments(folder)}
    newest = max(ends, default=None)
    while True:
        for segment in segments(folder):
            if newest is not None and segment < newest:
                continue
            newest = segment
            yield from _new(segment, ends)
        sleep(_INTERVAL)


def _new(segment: Segment, ends: dict[Segment, int]) -> Iterator[Record]:
    for line in lines_of(segment, ends.get(segment, 0)):
        if not line.raw.endswith(b"\n"):
            return  # its writer is still at it
        ends[segment] = line.offset + len(line.raw)
        if line.record is not None:
            yield line.record


def _is_like(text: str, wanted: str | None) -> bool:
    return wanted is None or fnmatchcase(text, wanted.replace("[", "[[]"))


def _is_below(path: str, wanted: str) -> bool:
    return path == wanted or path.startswith(f"{wanted.rstrip(os.sep)}{os.sep}") or wanted == "."
