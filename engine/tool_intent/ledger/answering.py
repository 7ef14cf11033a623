"""Why each line of a file is there, out of a ledger and of what was sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tool_intent.ledger.attribution.hops import Author, Begun, Step, begun, related, steps
from tool_intent.ledger.attribution.model import Attributed
from tool_intent.ledger.attribution.overlaps import apart
from tool_intent.ledger.attribution.replaying import Contents, Replay
from tool_intent.ledger.attribution.runs import Run, runs
from tool_intent.ledger.objects import ObjectStore, oid_of
from tool_intent.ledger.remembering import Remembered, Seed
from tool_intent.ledger.scanning import Unreadable, changes, decisions

#: What is told of a call: `id`, `ts`, `tool` and, where they are known, `server`, `surface`,
#: `session`, `agent`, `model`, `verdict`, and `entries` as the call's record has them; `sealed` is
#: true where a note says so, which whoever writes to the repository can have written.
Said: TypeAlias = dict[str, Any]


class Sealed(NamedTuple):
    """A version of a file whose owners were frozen, its content's id in a ledger, and what is known
    of their calls."""

    path: str
    blob: str
    known: Attributed
    calls: dict[str, Said]


class Answer(NamedTuple):
    """The lines of a file, in runs, and the calls behind them by the id of their record."""

    text: bytes
    runs: list[Run]
    calls: dict[str, Said]

    def within(self, start: int, end: int) -> Answer:
        """The part of the answer that is about lines `start` to `end`, from 1."""
        kept = [
            run._replace(start=max(run.start, start), end=min(run.end, end))
            for run in self.runs
            if run.start <= end and run.end >= start
        ]
        ids = {author.call for run in kept for author in _authors(run)}
        return Answer(self.text, kept, {one: self.calls[one] for one in self.calls if one in ids})


class Ledger:
    """What calls did to files, as the ledger in a folder tells it."""

    def __init__(self, folder: str | None, *, everywhere: bool = False) -> None:
        """`folder` None is an empty ledger. One that is not a single repository's own is read
        `everywhere`: it knows files by their whole paths. Raises OSError where it cannot be read.
        """
        self._folder = folder
        self._everywhere = everywhere
        self._begun: dict[str, Begun] = {}
        self._told: dict[str, Said] = {}
        self._objects = ObjectStore(folder or "")
        self._steps: list[Step] = []
        #: The lines that were passed over.
        self.unreadable = Unreadable()
        if folder is not None:
            found = changes(folder, decisions=everywhere, unreadable=self.unreadable)
            self._steps += steps(found, everywhere=everywhere)

    @property
    def steps(self) -> Sequence[Step]:
        """The calls that changed files."""
        return self._steps

    def knows(self, names: Iterable[str]) -> bool:
        """Whether a call changed a file of one of these names."""
        wanted = set(names)
        return any(hop.path in wanted for step in self._steps for hop in step.hops)

    def content(self, oid: str) -> bytes | None:
        """The content with a git blob id, where the ledger keeps it."""
        return None if self._folder is None else self._objects.get(oid)

    def answer(
        self,
        names: Sequence[str],
        text: bytes,
        sealed: Iterable[Sealed] = (),
        contents: Callable[[str], bytes | None] | None = None,
    ) -> Answer:
        """Why the lines of `text` are there. `names` are the file's path, from the work tree's
        root, and those that it had before; `contents` finds what the ledger does not keep."""

        def content(oid: str) -> bytes | None:
            kept = self.content(oid)
            return kept if kept is not None or contents is None else contents(oid)

        said: dict[str, Said] = {}
        seeds: list[Seed] = []
        for seal in sealed:
            seeds.append((seal.path, seal.blob, seal.known))
            said |= seal.calls
        found = runs(self._attributed(names, text, seeds, content))
        ids = {author.call for run in found for author in _authors(run)}
        return Answer(text, found, {one: said[one] for one in said if one in ids} | self._said(ids))

    def _attributed(
        self, names: Sequence[str], text: bytes, seeds: Sequence[Seed], contents: Contents
    ) -> Attributed:
        oid, known = oid_of(text), self._apart(related(self._steps, names))
        lost = False

        def content(oid: str) -> bytes | None:
            nonlocal lost
            found = contents(oid)
            lost = lost or found is None
            return found

        replay = Replay(content, names)
        memory = None if self._folder is None else Remembered(self._folder, names, seeds)
        done = 0 if memory is None else memory.resume(replay, known, oid, contents)
        for seed in () if done else seeds:
            replay.seed(*seed)
        replay.run(known[done:], [oid])
        # A content that is not there now may be later.
        if memory is not None and not lost:
            memory.keep(replay, known, done)
        return replay.attributed(names[0], oid, text)

    def _apart(self, found: list[Step]) -> list[Step]:
        self._look_up({step.call for step in found})
        return apart(found, self._begun)

    def _said(self, ids: set[str]) -> dict[str, Said]:
        self._look_up(ids)
        return {one: said for one, said in self._told.items() if one in ids}

    def _look_up(self, ids: set[str]) -> None:
        """Read the decisions with these ids, but for those that were read already."""
        missing = ids - self._begun.keys()
        if self._folder is None or not missing:
            return
        for record in decisions(self._folder, missing):
            self._begun[record["id"]] = begun(record, everywhere=self._everywhere)
            self._told[record["id"]] = _told(record)


def reasons(said: Said, author: Author) -> list[dict[str, Any]]:
    """What a call said of the places that changed a file: its own reasons and those of the
    entries; all of them where the record does not say which."""
    listed = said.get("entries")
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    if not author.entries:
        return entries
    return [entry for entry in entries if entry.get("at") in ("", *author.entries)]


def _authors(run: Run) -> list[Author]:
    return [*([] if run.by is None else [run.by]), *run.earlier]


def _told(record: dict[str, Any]) -> Said:
    call, session = _object(record, "call"), _object(record, "session")
    members = {
        "id": record["id"],
        "ts": record["ts"],
        "tool": call.get("tool", ""),
        "server": call.get("server"),
        "surface": call.get("surface"),
        "session": session.get("id"),
        "agent": session.get("agent"),
        "model": session.get("model"),
        "verdict": _object(record, "decision").get("verdict"),
        "entries": record.get("entries", []),
    }
    return {name: value for name, value in members.items() if value is not None}


def _object(record: dict[str, Any], name: str) -> dict[str, Any]:
    """A member that is an object; an empty one where a faulty record has something else."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}
