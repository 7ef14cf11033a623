"""History after a restart: what a session did in processes before, from the ledger.

The ledger lies where the calls that are judged can change it. What counts of it is what leads up to
a head that whoever restarts has held elsewhere; anything else makes history unknown.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from tool_intent.ledger.bodies import arguments_digest
from tool_intent.ledger.going_back import Kept, Part, kept, past
from tool_intent.ledger.members import Members, part, parts, text
from tool_intent.ledger.place import ledger_folder
from tool_intent.ledger.recorder import Stretch, unknown
from tool_intent.ledger.records import LONGEST_TEXT
from tool_intent.runtime.pointer import tokens
from tool_intent.runtime.recalling import Recalled
from tool_intent.runtime.session import forgotten_of

if TYPE_CHECKING:
    from tool_intent.compiler.artifact import Artifact
    from tool_intent.runtime.history import SessionHistory
    from tool_intent.runtime.program import Program
    from tool_intent.runtime.session import Outcome

#: A text that may stand for a list, an object, or a number beyond those that all readers agree on.
_STANDS_FOR_MORE: Final = re.compile(r"\s*[\[{]|-?[0-9]{16,}\Z")


class Recall:
    """What sessions, by name, did before: from the ledger of `cwd`, and what was held of each."""

    def __init__(
        self,
        cwd: str,
        environ: Mapping[str, str] | None,
        held: Mapping[str | None, Sequence[Stretch]],
        *,
        retold: bool = False,
    ) -> None:
        """With `retold`, calls after what was held are told by whoever made them."""
        self._cwd = cwd
        self._environ = environ
        self._held = held
        self._retold = retold
        self._roots: dict[str | None, str | None] | None = None
        self._lock = threading.Lock()

    def __call__(self, artifact: Artifact, session: str | None, history: SessionHistory) -> None:
        """Add what is known, in order. What cannot be read makes history unknown, and is no
        error."""
        try:
            if session in self._held:
                _recall(artifact, history, self._past(session))
        except Exception:
            # A file that cannot be read, or a record of ours that says what we do not understand.
            history.lose()
        except BaseException:
            history.lose()  # whoever goes on after an interrupt must not take this for all
            raise

    def _past(self, session: str | None) -> list[Part]:
        folder = ledger_folder(self._cwd, self._environ)
        stretches = self._held[session]
        if folder is None:
            return [Part(None, {}, frozenset(), False) for _ in stretches]
        found = past(folder, session, stretches)
        if self._retold and found:
            found[-1] = found[-1]._replace(more=False)
        return found

    def root_of(self, session: str | None) -> str | None:
        """Whose history a session shared before, as far as what was held vouches for it; None of
        one that is new."""
        if session in self._held:
            return session
        with self._lock:
            if self._roots is None:
                self._roots = {}
                with suppress(OSError):
                    for held in self._held:
                        members = {name for one in self._past(held) for name in one.members}
                        self._roots |= dict.fromkeys(members, held)
            return self._roots.get(session)


def _recall(artifact: Artifact, history: SessionHistory, found: Sequence[Part]) -> None:
    # A session that was never interrupted would have forgotten as many by now.
    forgotten = forgotten_of(sum(len(one.decisions or ()) for one in found))
    for one in found:
        if one.decisions is None:
            history.lose()
            continue
        for call in kept(one, forgotten):
            artifact.recall(history, recalled(call, artifact))
        forgotten = max(0, forgotten - len(one.decisions))
        if one.more:
            history.lose()


def of_no_name() -> dict[str | None, Sequence[Stretch]]:
    """What is held of calls that name no session, where any may have been made before."""
    return {None: [unknown("")]}


def stretches(given: Any, session: str) -> tuple[Stretch, ...]:
    """The stretches of a session that a list of objects tells of; what is none is a gap."""
    listed = given if isinstance(given, list) else [None]
    found = []
    for one in listed:
        members = one if isinstance(one, Mapping) else {}
        values = [members.get(name) for name in Stretch._fields]
        texts = [value for value in values if isinstance(value, str)]
        found.append(Stretch(*texts) if len(texts) == len(values) else unknown(session))
    return tuple(found)


def held_of(text: str, session: str) -> tuple[Stretch, ...]:
    """What `Guard.held` gave of a session. Raises ValueError for a text that it did not give."""
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    objects = given if isinstance(given, list) else []
    if not objects or any(not _is_stretch(one) for one in objects):
        raise ValueError(
            f"`held` takes for each session the text that Guard.held gave of it, not {text[:60]!r}"
        )
    return stretches(objects, session)


def _is_stretch(value: Any) -> bool:
    members = value if isinstance(value, dict) else {}
    return set(members) == set(Stretch._fields) and all(
        isinstance(v, str) for v in members.values()
    )


def recalled(call: Kept, artifact: Artifact) -> Recalled:
    """A call as far as its record tells."""
    from datetime import datetime

    record, ok = call
    args = part(record, "args")
    tool = text(part(record, "call"), "tool")
    program = artifact.program(tool)
    known = dict(part(args, "kept"))
    whole = arguments_digest(known) == args.get("executed")
    hidden = {tokens(text(note, "at"))[-1] for note in parts(record, "redactions")}
    plain = {name for name, value in known.items() if whole or _is_plain(value)} - hidden
    fields = {name: value for at, name, value in _entries(record) if not at}
    unsure = {name for name, value in fields.items() if not _is_plain(value)} | hidden
    said = _said(record, program, part(record, "decision"), artifact.digest)
    if _may_rename(program):
        unsure |= said.union(fields)
    refused = text(part(record, "decision"), "verdict") == "deny"
    outcome: Outcome | None = None if ok is None else "passed" if ok else "failed"
    return Recalled(
        tool=tool,
        at=datetime.fromisoformat(text(record, "ts")).timestamp(),
        outcome="tried" if refused else outcome,
        args=known | fields,
        known=frozenset(plain | set(fields)) - unsure,
        whole=whole and not hidden and not unsure,
        said=said - unsure,
        context=_context(record),
    )


def _said(record: Members, program: Program, decision: Members, digest: str) -> frozenset[str]:
    """The fields that a call is known to have had right in its arguments, or not to have had."""
    had = {name for at, name, _ in _entries(record) if not at}
    if text(decision, "policy") == digest:
        had |= {name for carrier in program.carriers if not carrier.at for name in carrier.fields}
    return frozenset(had)


def _may_rename(program: Program) -> bool:
    """Whether a field may have been sent under another name, or be an argument of the tool: that
    can depend on a schema which only the host knew."""
    renamed = any(carrier.names or carrier.own for carrier in program.carriers)
    return renamed or bool(program.settings or program.taken)


def _entries(record: Members) -> Iterable[tuple[str, str, Any]]:
    for entry in parts(record, "entries"):
        at = text(entry, "at")
        yield from ((at, name, value) for name, value in entry.items() if name != "at")


def _is_plain(value: Any) -> bool:
    """Whether a value that was kept is the one that was sent, and not what stands for it."""
    if not isinstance(value, str):
        return True
    return len(value) < LONGEST_TEXT and not _STANDS_FOR_MORE.match(value)


def _context(record: Members) -> dict[str, Any]:
    session = part(record, "session")
    told = {name: text(session, name) for name in ("agent", "agent_version", "model", "parent")}
    cwd = text(part(record, "call"), "cwd") or text(part(record, "actor"), "worktree")
    return {name: value for name, value in (told | {"cwd": cwd}).items() if value}
