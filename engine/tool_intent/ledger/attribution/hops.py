"""What calls did to files, as the records tell it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from sys import intern
from typing import Any, NamedTuple


class Author(NamedTuple):
    """A call (the id of its decision's record) and the places of it that changed a file, as JSON
    Pointers; none where the record does not say."""

    call: str
    entries: tuple[str, ...] = ()


class Hop(NamedTuple):
    """One file over one call: git blob ids of its content, None where there was no file."""

    path: str
    pre: str | None
    post: str | None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """All that one call changed."""

    call: str
    hops: tuple[Hop, ...]


def steps(records: Iterable[dict[str, Any]], *, everywhere: bool = False) -> Iterator[Step]:
    """The calls that changed files, in the order in which their outcomes came. What is not as the
    format says is passed over: nothing is credited by it.

    Paths are as recorded, from the work tree's root. A ledger that holds calls of several folders
    is read `everywhere`: paths are then whole, by the folder that each decision names.
    """
    folders: dict[str, str] = {}
    for record in records:
        if everywhere and record.get("type") == "decision" and "files" in record:
            actor = record.get("actor")
            folder = actor.get("worktree") if isinstance(actor, dict) else None
            if isinstance(folder, str):
                folders[record["id"]] = intern(folder)
        if record.get("type") != "outcome" or not isinstance(record.get("of"), str):
            continue
        hops = _hops(record.get("files"))
        if everywhere:
            folder = folders.get(record["of"], "")
            hops = (hop._replace(path=os.path.join(folder, hop.path)) for hop in hops)
        found = tuple(hops)
        if found:
            yield Step(record["of"], found)


def related(all_steps: Iterable[Step], paths: Iterable[str]) -> list[Step]:
    """The steps that can matter to the files `paths`: those that touch them, or files that lines
    came from."""
    kept = list(all_steps)
    wanted = set(paths)
    sources = {hop.pre for step in kept for hop in step.hops if hop.path in wanted}
    while True:
        before = len(wanted)
        for step in kept:
            touched = [hop for hop in step.hops if hop.path in wanted]
            if touched and len(step.hops) > 1:
                wanted.update(hop.path for hop in step.hops)
            wanted.update(hop.path for hop in step.hops if hop.post in sources and hop.post)
        sources = {hop.pre for step in kept for hop in step.hops if hop.path in wanted}
        if len(wanted) == before:
            return [step for step in kept if any(hop.path in wanted for hop in step.hops)]


def _hops(files: Any) -> Iterator[Hop]:
    for file in files if isinstance(files, list) else ():
        if not isinstance(file, dict) or not isinstance(file.get("path"), str):
            continue
        pre, post, entries = file.get("pre"), file.get("post"), file.get("entries")
        if pre != post and all(oid is None or isinstance(oid, str) for oid in (pre, post)):
            listed = entries if isinstance(entries, list) else []
            texts = [one for one in listed if isinstance(one, str)]
            yield Hop(file["path"], pre, post, tuple(texts))
