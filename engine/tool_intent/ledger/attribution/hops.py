"""What calls did to files, as the records tell it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any, NamedTuple


class Author(NamedTuple):
    """A call (the id of its decision's record) and the places of it that changed a file, as JSON
    Pointers; none where the record does not say."""

    call: str
    entries: tuple[str, ...] = ()


class Hop(NamedTuple):
    """One file over one call: git blob ids of its content, None where there was no file.

    `sure` is false where another call was at work on the file and either may have made the change;
    `commanded` is true of a shell command, which may bring back or copy what was there already.
    """

    path: str
    pre: str | None
    post: str | None
    entries: tuple[str, ...] = ()
    sure: bool = True
    commanded: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """All that one call changed; `seq` is the number of the record that says so, if it has one."""

    call: str
    hops: tuple[Hop, ...]
    seq: int | None = None


class Begun(NamedTuple):
    """How a call began: the number of its decision's record, the work tree, the files that it named
    with the ids of their contents, and whether it runs a command."""

    seq: int | None
    folder: str
    files: Mapping[str, Any]
    commanded: bool


def steps(records: Iterable[dict[str, Any]], *, everywhere: bool = False) -> Iterator[Step]:
    """The calls that changed files, in the order in which their outcomes came. What is not as the
    format says is passed over: nothing is credited by it.

    Paths are as recorded, from the work tree's root. A ledger that holds calls of several folders
    is read `everywhere`: paths are then whole, by the folder that each decision names.
    """
    folders: dict[str, str] = {}
    for record in records:
        if everywhere and record.get("type") == "decision" and "files" in record:
            folders[record["id"]] = _folder(record)
        if record.get("type") != "outcome" or not isinstance(record.get("of"), str):
            continue
        hops = _hops(record.get("files"))
        if everywhere:
            folder = folders.get(record["of"], "")
            hops = (hop._replace(path=os.path.join(folder, hop.path)) for hop in hops)
        found = tuple(hops)
        if found:
            yield Step(record["of"], found, _seq(record))


def begun(decision: dict[str, Any], *, everywhere: bool = False) -> Begun:
    """How the call of a decision's record began; paths are as in `steps`."""
    files, actions = decision.get("files"), decision.get("actions")
    folder = _folder(decision)
    return Begun(
        _seq(decision),
        folder,
        {
            os.path.join(folder, file["path"]) if everywhere else file["path"]: file.get("pre")
            for file in (files if isinstance(files, list) else ())
            if isinstance(file, dict) and isinstance(file.get("path"), str)
        },
        any(
            isinstance(action, dict) and action.get("kind") == "exec"
            for action in (actions if isinstance(actions, list) else ())
        ),
    )


def _folder(decision: dict[str, Any]) -> str:
    actor = decision.get("actor")
    folder = actor.get("worktree") if isinstance(actor, dict) else None
    return intern(folder) if isinstance(folder, str) else ""


def _seq(record: dict[str, Any]) -> int | None:
    seq = record.get("seq")
    return seq if isinstance(seq, int) else None


def related(all_steps: Iterable[Step], paths: Iterable[str]) -> list[Step]:
    """The steps that can matter to the files `paths`: those that touch them, or files that lines
    came from."""
    kept = list(all_steps)
    wanted = set(paths)
    sources = _sources(kept, wanted)
    while True:
        before = len(wanted)
        for step in kept:
            touched = [hop for hop in step.hops if hop.path in wanted]
            if touched and len(step.hops) > 1:
                wanted.update(hop.path for hop in step.hops)
            wanted.update(hop.path for hop in step.hops if hop.post in sources and hop.post)
        sources = _sources(kept, wanted)
        if len(wanted) == before:
            return [step for step in kept if any(hop.path in wanted for hop in step.hops)]


def _sources(all_steps: Iterable[Step], paths: set[str]) -> set[str | None]:
    """The contents that files `paths` go on from; a new one may be a copy of what there is."""
    return {
        hop.post if hop.pre is None else hop.pre
        for step in all_steps
        for hop in step.hops
        if hop.path in paths
    }


def _hops(files: Any) -> Iterator[Hop]:
    for file in files if isinstance(files, list) else ():
        if not isinstance(file, dict) or not isinstance(file.get("path"), str):
            continue
        pre, post, entries = file.get("pre"), file.get("post"), file.get("entries")
        if pre != post and all(oid is None or isinstance(oid, str) for oid in (pre, post)):
            listed = entries if isinstance(entries, list) else []
            texts = [one for one in listed if isinstance(one, str)]
            yield Hop(file["path"], pre, post, tuple(texts))
