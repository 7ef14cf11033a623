"""Recording a decision, and what it means where that cannot be done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tool_intent.ledger.place import LedgerError
from tool_intent.ledger.recorder import NullRecorder, Recorder, Stretch, Ticket, Told, unknown
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Finding
from tool_intent.runtime.together import together

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The finding of a call that could not be recorded.
UNRECORDED: Final = "audit/unrecorded"
#: Notices that are told; a full disk would say the same of every call.
_MOST_NOTICES: Final = 100


class Recording:
    """A surface's recorder, whose failures end up in decisions: where a policy requires a record,
    no record means no call. Thread-safe."""

    def __init__(
        self, recorder: Recorder | None = None, notice: Callable[[str], None] | None = None
    ) -> None:
        """`notice` takes lines for the person who runs the host, each once; without, they are kept
        in `notices`."""
        self._recorder: Recorder = NullRecorder() if recorder is None else recorder
        self.notices: list[str] = []
        self._notice = self.notices.append if notice is None else notice
        self._told: set[str] = set()
        self._lost = False
        self._lock = threading.Lock()

    def stretch(self, session: str) -> Stretch | None:
        """What was recorded of a session; None where it made no call. Where something was not
        recorded, or not in a ledger, it is one that no ledger has."""
        find = getattr(self._recorder, "stretch", None)
        if find is None or self._lost:
            return unknown(session)
        found: Stretch | None = find(session)
        return found

    def go_on(self, root_of: Callable[[str | None], str | None]) -> None:
        """Record sessions as belonging where they did in a process before, as `root_of` tells."""
        follow = getattr(self._recorder, "go_on", None)
        if follow is not None:
            follow(root_of)

    @property
    def keeps(self) -> bool:
        """Whether anything is recorded."""
        return self._recorder.__class__ is not NullRecorder

    def decision(self, told: Told) -> tuple[Decision, Ticket | None]:
        """Record a decision; the decision to go by, and where to tell what came of it."""
        decision, required = told.decision, told.keeping.required
        try:
            return decision, self._recorder.decision(told)
        except (LedgerError, OSError) as error:
            self._say(f"a decision was not recorded: {_reason(error)}")
        except Exception as error:
            # Not the disk's fault but ours: what fails inside denies.
            self._say(f"a decision was not recorded: {_reason(error)}")
            required = True
        self._lost = True
        finding = Finding(
            UNRECORDED,
            "deny" if required else "note",
            "",
            "this call cannot be recorded",
            "A person must see to the ledger: the call itself may be right.",
        )
        findings = [*decision.findings, finding]
        return together([decision], findings, (), decision.policy), None

    def not_over(self, session: str | None, id: Any) -> Ticket | None:
        """Where to tell what came of a call that another process recorded the decision on."""
        find = getattr(self._recorder, "not_over", None)
        try:
            found: Ticket | None = None if find is None else find(session, id)
        except (LedgerError, OSError) as error:
            self._say(f"an outcome was not recorded: {_reason(error)}")
            return None
        return found

    def outcome(self, ticket: Ticket | None, ok: bool) -> None:
        """Record what came of a call."""
        if ticket is None:
            return
        try:
            self._recorder.outcome(ticket, ok)
        except Exception as error:
            self._lost = True
            self._say(f"an outcome was not recorded: {_reason(error)}")

    def _say(self, text: str) -> None:
        with self._lock:
            if text in self._told or len(self._told) >= _MOST_NOTICES:
                return
            self._told.add(text)
        self._notice(text)


def ledger(
    surface: str,
    cwd: str,
    environ: Mapping[str, str] | None = None,
    *,
    server: str | None = None,
    start: str | None = None,
) -> Recorder:
    """The recorder that writes the ledger of `cwd`; `start` is where relative paths of calls start,
    if that is elsewhere."""
    from tool_intent.ledger.recording import LedgerRecorder

    return LedgerRecorder(surface, cwd, environ, server=server, start=start)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
