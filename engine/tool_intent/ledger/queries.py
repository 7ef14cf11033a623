"""What is asked of a ledger: decisions by who, what, where, which rule and when."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from time import sleep
from typing import Final, NamedTuple

from tool_intent.ledger.reading import lines_of
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import Segment, segments

#: Seconds between two looks at what was written meanwhile.
_INTERVAL: Final = 0.2


class Wanted(NamedTuple):
    """Which decisions: those that meet all that is given. `session` is an id or how one begins;
    `tool` and `rule` are names or globs; `path` is a file or folder, from the work tree's root;
    `since` is a record's time, `2026-11-30T12:00:00.000Z`."""

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


def matches(record: Record, wanted: Wanted) -> bool:
    """Whether a record is a decision that is wanted."""
    if record["type"] != "decision":
        return False
    decision = record.get("decision", {})
    rules = [str(rule.get("id")) for rule in decision.get("rules", ())]
    return (
        _begins(str(record.get("session", {}).get("id", "")), wanted.session)
        and _is_like(str(record.get("call", {}).get("tool", "")), wanted.tool)
        and (wanted.path is None or any(_is_below(p, wanted.path) for p in paths(record)))
        and (wanted.rule is None or any(_is_like(rule, wanted.rule) for rule in rules))
        and (wanted.decision is None or decision.get("verdict") == wanted.decision)
        and (wanted.since is None or record["ts"] >= wanted.since)
    )


def paths(record: Record) -> list[str]:
    """The paths that a decision is about, from the root of its work tree where they lie below."""
    root = str(record.get("actor", {}).get("worktree", "")) + os.sep
    said = [f.get("path") for f in record.get("files", ())]
    said += [a.get("path") for a in record.get("actions", ()) if a.get("kind") != "net"]
    found = [os.path.normpath(p) for p in said if isinstance(p, str) and p]
    return list(dict.fromkeys(p.removeprefix(root) for p in found))


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


def _begins(text: str, wanted: str | None) -> bool:
    return wanted is None or text.startswith(wanted)


def _is_like(text: str, wanted: str | None) -> bool:
    return wanted is None or fnmatchcase(text, wanted.replace("[", "[[]"))


def _is_below(path: str, wanted: str) -> bool:
    return path == wanted or path.startswith(f"{wanted.rstrip(os.sep)}{os.sep}") or wanted == "."
