"""The recorder that writes a ledger."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from time import monotonic, time
from typing import Any, Final

from tool_intent.ledger.appending import Appender, Receipt
from tool_intent.ledger.bodies import decision_body, executed_digest, outcome_body
from tool_intent.ledger.going_back import not_over
from tool_intent.ledger.imaging import changed, images, unwritten
from tool_intent.ledger.members import parts, text
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.place import VARIABLE, LedgerError, Worktree, ledger_folder, worktree
from tool_intent.ledger.recorder import Image, Stretch, Ticket, Told, folded, unknown
from tool_intent.ledger.records import Kind, Record, kept_value, new_id, without_absent
from tool_intent.ledger.touching import relative_start, starting
from tool_intent.runtime.model import Call

#: Sessions of which it is held what was recorded.
_MOST_SESSIONS: Final = 1_000
#: Refused calls that a later one may mend.
_MOST_REFUSED: Final = 1_000
#: What is kept of who makes the calls of a session.
_AGENT: Final = ("agent", "agent_version", "model")
#: Seconds that what git has checked out is taken to stay the same.
_HEAD_HOLDS: Final = 1.0


class LedgerRecorder:
    """Keeps the calls of one surface in the ledger of the folder it works in. Thread-safe."""

    def __init__(
        self,
        surface: str,
        cwd: str,
        environ: Mapping[str, str] | None = None,
        *,
        server: str | None = None,
        start: str | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        """`server` is the MCP server whose tools are called; `start` is where relative paths of
        calls start, `cwd` unless given. Nothing is opened or
        made until the first call is recorded."""
        self._surface = surface
        self._cwd = cwd
        self._start = cwd if start is None else start
        self._environ = os.environ if environ is None else environ
        self._server = server
        self._clock = clock
        self._lock = threading.Lock()
        #: Held from writing a record until it is noted, so that both are in the same order.
        self._order = threading.Lock()
        self._appender: Appender | None = None
        self._store: ObjectStore | None = None
        self._worktree: Worktree | None = None
        self._is_off = False
        #: Calls that name no session are of one that begins with us.
        self._session = new_id()
        self._actor: Mapping[str, Any] = {}
        self._actor_until = 0.0
        self._refused: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self._stretches: OrderedDict[str, Stretch] = OrderedDict()
        #: The session whose history each shares: another one's for a sub-agent's, else its own.
        self._roots: OrderedDict[str, str] = OrderedDict()
        self._root_of: Callable[[str | None], str | None] = lambda _: None

    def stretch(self, session: str) -> Stretch | None:
        """What was recorded of a session here, and of its sub-agents'; None where it made no call,
        one of which nothing is known where the ledger is off."""
        with self._lock:
            return self._stretches.get(session)

    def go_on(self, root_of: Callable[[str | None], str | None]) -> None:
        """Take sessions for belonging where `root_of` tells, None where it knows nothing."""
        self._root_of = root_of

    def decision(self, told: Told) -> Ticket | None:
        """Keep a decision, and the files that its call may change. Raises LedgerError."""
        opened = self._opened(told.keeping.required)
        root_session = self._root(told.call)
        if opened is None or not root_session:
            # Calls that cannot be told apart by their session afterwards, or not be found at all.
            self._note(root_session, None)
        if opened is None:
            return None
        appender, store = opened
        verdict = told.decision.decision
        root = self._cwd if self._worktree is None else self._worktree.root
        start = starting(told, self._start)
        files = () if verdict == "deny" else images(told, start, root, store)
        session = self._of(told, root_session)
        body = decision_body(
            told, session, self._who(), self._surface, self._server, files,
            self._mends(told, session["id"]),
            relative_start(told) or (None if start == root else start),
        )  # fmt: skip
        sync = told.keeping.full or told.keeping.required
        receipt = self._append(
            appender, "decision", body, root_session, sync=sync or verdict == "deny"
        )
        if verdict == "deny":
            self._note_refused(told, session["id"], receipt.id)
            return None
        return Ticket(receipt.id, unwritten(files), sync, root_session)

    def outcome(self, ticket: Ticket, ok: bool) -> None:
        """Keep what came of a call, and of the files that it may have changed. Raises
        LedgerError."""
        opened = self._opened(False)
        if opened is None:
            return
        appender, store = opened
        files = [file for image in ticket.files for file in changed(image, store)]
        body = outcome_body(ticket.id, ok, files)
        self._append(appender, "outcome", body, ticket.session, sync=ticket.sync)

    def not_over(self, session: str | None, id: Any) -> Ticket | None:
        """Where to tell what came of a call that another process recorded the decision on; None
        where there is none that may run, or its outcome is known. Raises OSError, LedgerError."""
        opened = self._opened(False)
        if opened is None:
            return None
        record = not_over(opened[0].folder, session, kept_value(id))
        if record is None:
            return None
        root = self._cwd if self._worktree is None else self._worktree.root
        commanded = any(act.get("kind") == "exec" for act in parts(record, "actions"))
        files = tuple(
            Image(
                os.path.join(root, text(file, "path")), text(file, "path"), file.get("pre"),
                commanded=commanded,
            )
            for file in parts(record, "files")
        )  # fmt: skip
        return Ticket(record["id"], files)

    def _append(
        self, appender: Appender, type: Kind, body: Record, session: str, *, sync: bool
    ) -> Receipt:
        """Write a record, and note that it is of the session's stretch; "" for none."""
        with self._order:
            receipt = appender.append(type, body, sync=sync)
            if session:
                self._note(session, receipt.hash)
        return receipt

    def _note(self, session: str, hash: str | None) -> None:
        """Note a record of a session's stretch; None for a call that there is no record of."""
        with self._lock:
            before = self._stretches.get(session)
            if hash is None:
                after = unknown(session)
            else:
                first = hash if before is None else before.since
                after = Stretch(session, first, hash, folded(before.own if before else "", hash))
            self._stretches[session] = after
            self._stretches.move_to_end(session)
            if len(self._stretches) > _MOST_SESSIONS:
                self._stretches.popitem(last=False)

    def _root(self, call: Call) -> str:
        """The session whose history a call's shares: what its first call says, as
        `runtime.sessions` has it."""
        parent = None if call.session is None else (call.context or {}).get("parent")
        name = self._session if call.session is None else call.session
        with self._lock:
            if name not in self._roots:
                above = self._root_of(call.session) or (parent if isinstance(parent, str) else name)
                if above not in self._roots:
                    self._roots[above] = self._root_of(above) or above
                self._roots[name] = self._roots[above]
            self._roots.move_to_end(name)
            while len(self._roots) > _MOST_SESSIONS:
                self._roots.popitem(last=False)
            return self._roots[name]

    def _opened(self, required: bool) -> tuple[Appender, ObjectStore] | None:
        """What to write to; None where the ledger is off, which a policy may forbid."""
        with self._lock:
            if self._appender is None and not self._is_off:
                folder = ledger_folder(self._cwd, self._environ)
                self._is_off = folder is None
                if folder is not None:
                    self._worktree = worktree(self._cwd)
                    self._appender = Appender(folder, clock=self._clock)
                    self._store = ObjectStore(folder)
            if self._appender is not None and self._store is not None:
                return self._appender, self._store
        if required:
            raise LedgerError(
                f"{VARIABLE} is off, and a policy requires a record of every call: leave the"
                " variable away, or name a folder"
            )
        return None

    def _of(self, told: Told, root: str) -> dict[str, Any]:
        own = told.call.session or self._session
        session = {"id": own}
        context = told.call.context or {}
        for name in _AGENT:
            value = context.get(name)
            if isinstance(value, str) and value:
                session[name] = value
        above = context.get("parent")
        if root == told.call.session or not root:
            above = None  # its history is its own, whatever this call says
        elif not isinstance(above, str) or self._roots.get(above) != root:
            above = root if root != own else None
        if above is not None:
            session["parent"] = above
        return session

    def _who(self) -> Mapping[str, Any]:
        """Who calls, and on what."""
        with self._lock:
            if monotonic() >= self._actor_until:
                tree = self._worktree
                branch, head = (None, None) if tree is None else tree.head()
                self._actor = without_absent(
                    {
                        "user": _user(),
                        "repo": None if tree is None else tree.repository,
                        "worktree": self._cwd if tree is None else tree.root,
                        "branch": branch,
                        "head": head,
                    }
                )
                self._actor_until = monotonic() + _HEAD_HOLDS
            return self._actor

    def _mends(self, told: Told, session: str) -> str | None:
        """The refused call that this one says again with better reasons, if it passes."""
        if told.decision.decision == "deny" or not self._refused:
            return None
        key = (session, told.call.tool, executed_digest(told))
        with self._lock:
            return self._refused.pop(key, None)

    def _note_refused(self, told: Told, session: str, id: str) -> None:
        key = (session, told.call.tool, executed_digest(told))
        with self._lock:
            self._refused[key] = id
            if len(self._refused) > _MOST_REFUSED:
                self._refused.popitem(last=False)


def _user() -> str:
    """A hash of who this is on which machine: tells users apart without naming them."""
    text = f"{os.getuid()}@{os.uname().nodename}"
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]
