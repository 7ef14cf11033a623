"""The sessions of one process: their histories, and what came of calls that nobody tells about."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Call
from tool_intent.runtime.session import LONGEST_WINDOW

if TYPE_CHECKING:
    from tool_intent.runtime.session import Outcome, SessionView

#: Sessions kept; the one that was quiet longest goes first.
_MOST_SESSIONS = 1_000


class _Session:
    __slots__ = ("calls", "lock", "open", "view")

    def __init__(self, view: SessionView) -> None:
        self.view = view
        self.lock = threading.Lock()
        #: The last allowed call, while nobody has said what came of it.
        self.open: int | None = None
        #: Numbers of calls by the host's id.
        self.calls: OrderedDict[Any, int] = OrderedDict()


class Sessions:
    """Judges each session's calls one after the other, with what went before in view.

    An allowed call counts as passed once the next call of its session is judged, unless its
    outcome is told before.
    """

    def __init__(self, new: Callable[[], SessionView]) -> None:
        self._new = new
        self._sessions: OrderedDict[str | None, _Session] = OrderedDict()
        self._lock = threading.Lock()

    def judge(
        self,
        call: Call,
        decide: Callable[[Call, SessionView], Decision],
        *,
        will_tell: bool = False,
    ) -> tuple[Decision, int]:
        """The decision on the next call of its session, and the call's number in it. With
        `will_tell` the caller says what comes of the call, however long that takes."""
        session = self._of(call.session)
        with session.lock:
            if session.open is not None:
                session.view.outcome(session.open, "passed")
                session.open = None
            decision = decide(call, session.view)
            # A view that nothing looks back at remembers no call.
            number = next((c.number for c in session.view.recent(1)), -1)
            self._remember(session, call.id, number)
            if decision.allowed and not will_tell:
                session.open = number
            return decision, number

    def presume(self, session: str | None, number: int) -> None:
        """Take an allowed call that was judged with `will_tell` for one that nobody tells of."""
        found = self._of(session)
        with found.lock:
            found.open = number

    def came_of(
        self, session: str | None, number: int, outcome: Outcome, result: str | None = None
    ) -> None:
        """Note what came of a call, by its number in the session, and what its result says."""
        found = self._of(session)
        with found.lock:
            found.view.outcome(number, outcome)
            if result is not None:
                found.view.hear_result(result)

    def outcome(
        self, session: str | None, id: Any, outcome: Outcome, result: str | None = None
    ) -> bool:
        """Note what came of the call with this id, and what its result says; False where there is
        none."""
        found = self._of(session)
        with found.lock:
            number = found.calls.get(_key(id))
            if number is None:
                return False
            if found.open == number:
                found.open = None
            found.view.outcome(number, outcome)
            if result is not None:
                found.view.hear_result(result)
            return True

    def _of(self, name: str | None) -> _Session:
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                session = self._sessions[name] = _Session(self._new())
                if len(self._sessions) > _MOST_SESSIONS:
                    self._sessions.popitem(last=False)
            self._sessions.move_to_end(name)
            return session

    @staticmethod
    def _remember(session: _Session, id: Any, number: int) -> None:
        session.calls[_key(id)] = number
        if len(session.calls) > LONGEST_WINDOW:
            session.calls.popitem(last=False)


def _key(id: Any) -> Any:
    """An id as JSON tells ids apart: 1, 1.0, true and "1" are four."""
    return (type(id).__name__, repr(id))
