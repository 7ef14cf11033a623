"""History after a restart: what a session did in processes before, from the ledger.

The ledger lies where the calls that are judged can change it. What counts of it is what leads up to
a head that whoever restarts has held elsewhere; anything else makes history unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tool_intent.ledger.bodies import arguments_digest
from tool_intent.ledger.chain import GENESIS
from tool_intent.ledger.going_back import Kept, past
from tool_intent.ledger.members import Members, part, parts, text
from tool_intent.ledger.place import ledger_folder
from tool_intent.ledger.recorder import Stretch
from tool_intent.ledger.records import LONGEST_TEXT
from tool_intent.runtime.recalling import Recalled

if TYPE_CHECKING:
    from tool_intent.compiler.artifact import Artifact
    from tool_intent.runtime.history import SessionHistory
    from tool_intent.runtime.program import Program
    from tool_intent.runtime.session import Outcome

#: A text that may stand for a list, an object, or a number beyond those that all readers agree on.
_STANDS_FOR_MORE: Final = re.compile(r"\s*[\[{]|-?[0-9]{16,}\Z")


#: Tells the new history of a session, by its name, what went before.
Begin: TypeAlias = "Callable[[Artifact, str | None, SessionHistory], None]"


class Recall:
    """A `Begin` from the ledger of `cwd`: sessions by name, each with what was held of it."""

    def __init__(
        self,
        cwd: str,
        environ: Mapping[str, str] | None,
        held: Mapping[str | None, Sequence[Stretch]],
    ) -> None:
        self._cwd = cwd
        self._environ = environ
        self._held = held

    def __call__(self, artifact: Artifact, session: str | None, history: SessionHistory) -> None:
        """Add what is known, in order. Does not raise: what cannot be read makes history
        unknown."""
        try:
            folder = ledger_folder(self._cwd, self._environ)
            for stretch in self._held.get(session, ()):
                found = None if folder is None else past(folder, stretch)
                if found is None:
                    history.lose()
                for kept in found or ():
                    artifact.recall(history, recalled(kept, artifact))
        except Exception:
            # A file that cannot be read, or a record of ours that says what we do not understand.
            history.lose()


def gap(session: str = "") -> Stretch:
    """A stretch of which nothing is known: no record has the hash that stands for none."""
    return Stretch(session, GENESIS, GENESIS, "")


def of_no_name() -> dict[str | None, Sequence[Stretch]]:
    """What is held of calls that name no session, where any may have been made before."""
    return {None: [gap()]}


def stretches(given: Any, session: str) -> tuple[Stretch, ...]:
    """The stretches of a session that a list of objects tells of; what is none is a gap."""
    listed = given if isinstance(given, list) else [None]
    found = []
    for one in listed:
        members = one if isinstance(one, Mapping) else {}
        values = [members.get(name) for name in Stretch._fields]
        texts = [value for value in values if isinstance(value, str)]
        found.append(Stretch(*texts) if len(texts) == len(values) else gap(session))
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


def recalled(kept: Kept, artifact: Artifact) -> Recalled:
    """A call as far as its record tells."""
    from datetime import datetime

    record = kept.decision
    call, args = part(record, "call"), part(record, "args")
    tool = text(call, "tool")
    said = _said(record, artifact.program(tool), part(record, "decision"), artifact.digest)
    known = dict(part(args, "kept"))
    whole = arguments_digest(known) == args.get("executed")
    hidden = {text(note, "at").rpartition("/")[2] for note in parts(record, "redactions")}
    plain = {name for name, value in known.items() if whole or _is_plain(value)} - hidden
    fields = {name: value for at, name, value in _entries(record) if not at}
    unsure = {name for name, value in fields.items() if not _is_plain(value)} | hidden
    refused = text(part(record, "decision"), "verdict") == "deny"
    outcome: Outcome | None = None if kept.ok is None else "passed" if kept.ok else "failed"
    return Recalled(
        tool=tool,
        at=datetime.fromisoformat(text(record, "ts")).timestamp(),
        outcome="tried" if refused else outcome,
        args=known | fields,
        known=frozenset(plain | set(fields)) - unsure,
        whole=whole and not hidden and not unsure,
        said=frozenset(said) - unsure,
        context=_context(record),
    )


def _said(record: Members, program: Program, decision: Members, digest: str) -> set[str]:
    """The fields that a call is known to have had right in its arguments, or not to have had."""
    carriers = [carrier for carrier in program.carriers if not carrier.at]
    if any(carrier.names or carrier.own for carrier in program.carriers) or program.taken:
        return set()  # what the policy calls them is not what they were sent as
    had = {name for at, name, _ in _entries(record) if not at}
    if text(decision, "policy") == digest:
        had |= {name for carrier in carriers for name in carrier.fields}
    return had


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
