"""What the proxy does to messages: lists of tools are extended, calls judged and stripped, all else
passes as it is. Nothing is read or written here: lines go in, lines come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import urandom
from typing import Any, Final

from tool_intent.guard.guard import Admission
from tool_intent.runtime.decision import bare
from tool_intent.runtime.pointer import quoted
from tool_intent.runtime.wire import dump
from tool_intent.surfaces.mcp import messages
from tool_intent.surfaces.mcp.approval import (
    DECLINED,
    Approvals,
    approves,
    as_request,
    as_result,
    called,
    can_ask,
    ours,
)
from tool_intent.surfaces.mcp.calls import Admitted
from tool_intent.surfaces.mcp.listing import Known, is_listing
from tool_intent.surfaces.mcp.messages import Malformed, Message
from tool_intent.surfaces.mcp.outcomes import Outcomes
from tool_intent.surfaces.mcp.pending import Batch, Pending, Waiting
from tool_intent.surfaces.mcp.session import Session
from tool_intent.surfaces.mcp.spans import Cuts, below, cut, removals

#: Pages of a list of tools that we read ourselves: one without end is no list.
_MOST_PAGES: Final = 1_000


class Filter:
    """Messages of one client with one server: those of a whole stdio session, or of one exchange
    over HTTP.

    `from_client` and `from_server` take a line each and leave what is to be sent in `to_server`
    and `to_client`, in order. Whatever goes wrong inside, no call is passed on and every request
    is answered.
    """

    def __init__(self, session: Session, *, settles_later: bool = False) -> None:
        """With `settles_later`, whoever sends what is in `to_client` then calls `settle`: no answer
        waits for the record of its call."""
        self.to_client: list[bytes] = []
        self.to_server: list[bytes] = []
        self._session = session
        self._tools = session.tools
        self._note = session.note
        self._pending = Pending()
        self._outcomes = Outcomes(session, later=settles_later)
        #: Messages that wait until the server has told which tools it has.
        self._held: list[tuple[Message, Batch | None]] | None = None
        self._list_id = ""
        self._pages = 0
        #: Questions that we asked the person.
        self._asked: list[str] = []
        self._then: Callable[[], None] = _nothing

    # --- from the client -------------------------------------------------------------------------

    def from_client(self, line: bytes) -> None:
        """Take one line of the client's."""
        if not line.strip(b"\r\n"):
            self.to_server.append(line)
            return
        try:
            read = messages.read(line)
        except Malformed as malformed:
            self._refuse(malformed, None)
            return
        if isinstance(read, Message):
            self._safely(read, None)
            return
        owed = sum(isinstance(m, Malformed) or m.is_request for m in read)
        batch = Batch(owed)
        for one in read:
            if isinstance(one, Malformed):
                self._refuse(one, batch)
            else:
                self._safely(one, batch if one.is_request else None)

    def _safely(self, message: Message, batch: Batch | None, *, asked: bool = False) -> None:
        before = len(self.to_server)
        try:
            self._arrived(message, batch, asked)
        except Exception as error:
            del self.to_server[before:]
            self._note(f"an error inside ({type(error).__name__}: {error}); nothing was executed")
            if message.is_request:
                why = f"it failed inside ({type(error).__name__}); nothing was executed"
                self._error(message, messages.INTERNAL_ERROR, why, batch)

    def _arrived(self, message: Message, batch: Batch | None, asked: bool) -> None:
        if message.method is None:
            self._answered_by_client(message)
        elif self._held is not None:
            self._held.append((message, batch))
        elif message.method == messages.CALL:
            self._call(message, batch, asked)
        elif message.id is None:
            if message.method == "notifications/cancelled":
                self._cancelled(message)
            self._forward(message)
        else:
            if message.method == "initialize":
                self._session.introduced(message)
            self._pending.add(message.id, Waiting(message.method, batch))
            self._forward(message)

    def _cancelled(self, message: Message) -> None:
        """The server need not answer a request that was cancelled, and so nothing waits for it."""
        request = dump(message.params.get("requestId"))
        if self._session.approvals is not None:
            self._session.approvals.cancelled(request)
        waiting = self._pending.take(request)
        if waiting is not None and waiting.batch is not None:
            self.to_client += waiting.batch.add(None)

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, message: Message, batch: Batch | None, asked: bool) -> None:
        """Judge a call by its tool as listed; `asked`: the server has just been asked for it."""
        name = message.params["name"]
        if message.id is None:
            self._note(
                f"dropped a call of {quoted(self._session.whole_name(name))} without an id: it"
                " would run, and nobody would learn what came of it"
            )
            return
        known = self._tools.current(name)
        if known is None and not asked and not self._tools.complete:
            self._held = [(message, batch)]
            self._pages = 0
            self._ask_for_tools(message, None)
            return
        if known is None or known.fault is not None:
            self._error(message, messages.INVALID_PARAMS, self._tools.not_callable(name), batch)
            return
        self._judge(message, known, batch)

    def _judge(self, message: Message, known: Known, batch: Batch | None) -> None:
        args = message.params.get("arguments", {})
        approvals = self._session.approvals
        said = "none" if approvals is None else approvals.resumed(message)
        admission = self._session.guard.admit(
            self._session.whole_name(message.params["name"]),
            args,
            id=message.value["id"],
            context=self._session.context,
            schema=known.schema,
        )
        decision, approved = admission.decision, None
        if not decision.allowed:
            if decision.decision != "ask" or not self._may_go_on(message, said):
                self._denied(message, admission, said == "declined", batch)
                return
            approved = called(message)
        cuts = removals(args, bare(decision))
        whole: Cuts = {"arguments": cuts} if cuts else {}
        if said != "none":
            whole |= ours(message)
        cuts = below(("params",), whole)
        self._send_call(message, cuts, batch, Admitted(admission), approved=approved)

    def _send_call(
        self,
        message: Message,
        cuts: Cuts,
        batch: Batch | None,
        call: Admitted,
        *,
        approved: str | None = None,
    ) -> None:
        assert message.id is not None
        self._pending.add(message.id, Waiting(messages.CALL, batch, call, approved))
        self.to_server.append(cut(message.text, cuts).encode() + message.end)

    def _denied(
        self, message: Message, admission: Admission, declined: bool, batch: Batch | None
    ) -> None:
        decision = admission.decision
        approvals = None if declined or decision.decision != "ask" else self._session.approvals
        if approvals is not None and can_ask(message, self._session.capabilities):
            self._ask(message, admission, approvals, batch)
            return
        text = DECLINED if declined else decision.message or ""
        self._answer(messages.refusal(message.id or "", text, modern=message.modern), batch)

    # --- asking the person -----------------------------------------------------------------------

    def _ask(
        self, message: Message, admission: Admission, approvals: Approvals, batch: Batch | None
    ) -> None:
        decision = admission.decision

        def answered(yes: bool) -> None:
            if yes:
                cuts = removals(message.params.get("arguments", {}), bare(decision))
                whole = below(("params", "arguments"), cuts)
                call = Admitted(admission)
                self._send_call(message, whole, batch, call, approved=called(message))
            else:
                refusal = messages.refusal(message.id or "", DECLINED, modern=message.modern)
                self._answer(refusal, batch)
            self._then()

        token, question = approvals.question(message, decision, answered)
        if message.modern:
            self._answer(as_result(message, token, question), batch)
            return
        self._asked.append(token)
        self.to_client.append(as_request(token, question))

    def _answered_by_client(self, message: Message) -> None:
        """An answer of the client's: to the server, or to a question of ours."""
        approvals, token = self._session.approvals, message.value.get("id")
        if approvals is None or not approvals.is_ours(token):
            self._forward(message)
            return
        asked = approvals.take(str(token))
        if asked is not None:
            asked.answered(approves(message.value.get("result")))

    def _may_go_on(self, message: Message, said: str) -> bool:
        """Whether a person approved this very call, now or before the server asked for more."""
        if said == "approved":
            return True
        state = message.params.get("requestState")
        return isinstance(state, str) and self._session.approved.pop(state, None) == called(message)

    # --- from the server -------------------------------------------------------------------------

    def from_server(self, line: bytes) -> None:
        """Take one line of the server's."""
        try:
            value = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            value = None  # the client reads it as it would without us
        if isinstance(value, list) and value:
            for element in value:
                self._heard(element, dump(element).encode() + b"\n")
        else:
            self._heard(value, line)

    def _heard(self, value: Any, line: bytes) -> None:
        before = len(self.to_client)
        try:
            self._said(value, line)
        except Exception as error:
            self._note(f"an error inside ({type(error).__name__}: {error}) at an answer")
            if len(self.to_client) == before:
                self.to_client.append(line)

    def _said(self, value: Any, line: bytes) -> None:
        if not isinstance(value, dict):
            self.to_client.append(line)
        elif "method" in value:
            if value["method"] == "notifications/tools/list_changed":
                self._tools.changed()
            self.to_client.append(line)
        elif self._held is not None and value.get("id") == self._list_id:
            self._listed(value, line)
        else:
            self._answered_by_server(value, line)

    def _answered_by_server(self, value: dict[str, Any], line: bytes) -> None:
        key = messages.id_text(value.get("id"))
        waiting = self._pending.take(key) or self._session.left.take(key)
        method = "" if waiting is None else waiting.method
        if method in ("", messages.LIST) and is_listing(value):
            line = self._extended(line)
        if waiting is None:
            self.to_client.append(line)
            return
        self._outcomes.tell(waiting, value)
        self._answer(line, waiting.batch)

    def settle(self) -> None:
        """What there was in `to_client` is on its way: record what came of the calls it answers."""
        self._outcomes.tell_owed()

    def _extended(self, line: bytes) -> bytes:
        text = line.decode("utf-8")
        try:
            extended = self._tools.extended(text)
        except Exception as error:
            self._note(f"a list of tools was not extended ({type(error).__name__}: {error})")
            return line
        return line if extended is text else extended.encode() + b"\n"

    # --- reading the list of tools ourselves -----------------------------------------------------

    def _ask_for_tools(self, message: Message, cursor: str | None) -> None:
        """Ask the server for its tools; since 2026-07-28, in the name of the client that called."""
        self._pages += 1
        self._list_id = f"tool-intent/{urandom(8).hex()}/tools"
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        if message.modern:
            meta = {k: v for k, v in message.meta.items() if k.startswith("io.modelcontext")}
            params["_meta"] = meta
        request = {"jsonrpc": "2.0", "id": self._list_id, "method": messages.LIST}
        self.to_server.append(dump(request | {"params": params}).encode() + b"\n")

    def _listed(self, value: dict[str, Any], line: bytes) -> None:
        """A page of the list that we asked for: the next one, or the messages that waited."""
        assert self._held is not None
        if is_listing(value):
            self._extended(line)
            cursor = value["result"].get("nextCursor")
            if cursor and isinstance(cursor, str) and self._pages < _MOST_PAGES:
                self._ask_for_tools(self._held[0][0], cursor)
                return
            self._tools.whole()
        else:
            self._note("the server does not tell which tools it has; calls are refused")
        held, self._held = self._held, None
        for message, batch in held:
            self._safely(message, batch, asked=True)

    @property
    def waits(self) -> int:
        """How many requests the server owes an answer to."""
        return len(self._pending) + len(self._held or ())

    @property
    def holds(self) -> bool:
        """Whether messages wait here until the server has told its tools."""
        return self._held is not None

    @property
    def asks(self) -> bool:
        """Whether a question to the person is open, whose answer comes as a message."""
        approvals = self._session.approvals
        return approvals is not None and any(map(approvals.is_open, self._asked))

    def when_answered(self, then: Callable[[], None]) -> None:
        """Call `then` once a question has been answered, and what follows is to be sent."""
        self._then = then

    # --- the end ---------------------------------------------------------------------------------

    def server_ended(self, why: str) -> None:
        """No answer will come any more: everything that waits for one is told `why`."""
        approvals = self._session.approvals
        for key, waiting in self._pending.drain():
            self._outcomes.tell(waiting, {})
            self._answer(messages.error(key, messages.NO_ANSWER, why), waiting.batch)
        held, self._held = self._held or [], None
        for message, batch in held:
            if message.is_request:
                self._error(message, messages.NO_ANSWER, why, batch)
        for token in self._asked:
            asked = None if approvals is None else approvals.take(token)
            if asked is not None:
                asked.answered(False)

    def broken_off(self) -> None:
        """The server's answer breaks off, and may go on in an exchange that resumes it."""
        self._session.leave(self._pending)

    def unanswerable(self, id: str, why: str) -> bool:
        """The server's answer to `id` (JSON text) cannot be passed on: say why instead. False where
        nothing waits for it."""
        waiting = self._pending.take(id)
        if waiting is None:
            return False
        self._outcomes.tell(waiting, {})
        self._answer(messages.error(id, messages.NO_ANSWER, why), waiting.batch)
        return True

    # --- answering -------------------------------------------------------------------------------

    def _forward(self, message: Message) -> None:
        self.to_server.append(message.line)

    def _answer(self, line: bytes, batch: Batch | None) -> None:
        if batch is None:
            self.to_client.append(line)
        else:
            self.to_client += batch.add(line)

    def _error(self, message: Message, code: int, why: str, batch: Batch | None) -> None:
        self._answer(messages.error(message.id, code, why), batch)

    def _refuse(self, malformed: Malformed, batch: Batch | None) -> None:
        self._note(f"a message was not passed on: {malformed.message}")
        self._answer(messages.error(malformed.id, malformed.code, malformed.message), batch)


def _nothing() -> None:
    pass
