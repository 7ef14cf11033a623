"""The sessions of one process: their histories, and what came of calls that nobody tells about."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Call
from tool_intent.runtime.session import LONGEST_WINDOW

if TYPE_CHECKING:
    from tool_intent.runtime.history import SessionHistory
    from tool_intent.runtime.session import Outcome, SessionView

#: Sessions kept; the one that was quiet longest goes first.
_MOST_SESSIONS = 1_000


class _Root:
    """What a session and its sub-agents share: one history."""

    __slots__ = ("begin", "lock", "view")

    def __init__(self, view: SessionHistory, begin: Callable[[], None] | None) -> None:
        self.view = view
        self.lock = threading.Lock()
        #: Tells the history what went before, once.
        self.begin = begin

    def begun(self) -> SessionHistory:
        """The history, with what went before in it; called with the lock held."""
        begin, self.begin = self.begin, None
        if begin is not None:
            begin()
        return self.view


class _Session:
    __slots__ = ("calls", "open", "root")

    def __init__(self, root: _Root) -> None:
        self.root = root
        #: The last allowed call, while nobody has said what came of it.
        self.open: int | None = None
        #: Numbers of calls by the host's id.
        self.calls: OrderedDict[Any, int] = OrderedDict()


class Sessions:
    """Judges each session's calls one after the other, with what went before in view.

    An allowed call counts as passed once the next call of its session is judged, unless its
    outcome is told before. A sub-agent's session, whose first call names its `parent` in the
    context, shares the history of that one.
    """

    def __init__(
        self,
        new: Callable[[], SessionHistory],
        begin: Callable[[str | None, SessionHistory], None] | None = None,
        root_of: Callable[[str | None], str | None] | None = None,
    ) -> None:
        """`begin` tells the new history of a session, by its name, what went before; `root_of` says
        whose history a session shared before, its own name where it had one, None for a new one.
        """
        self._new = new
        self._begin = begin
        self._root_of = root_of
        self._sessions: OrderedDict[str | None, _Session] = OrderedDict()
        self._lock = threading.Lock()

    def go_on(self, session: str | None) -> None:
        """Take in now what went before, which the first call of the session would wait for."""
        root = self._of(session).root
        with root.lock:
            root.begun()

    def judge(
        self,
        call: Call,
        decide: Callable[[Call, SessionView], Decision],
        *,
        will_tell: bool = False,
    ) -> tuple[Decision, int]:
        """The decision on the next call of its session, and the call's number in it. With
        `will_tell` the caller says what comes of the call, however long that takes."""
        session = self._of(call.session, _parent(call))
        with session.root.lock:
            view = session.root.begun()
            if session.open is not None:
                view.outcome(session.open, "passed")
                session.open = None
            decision = decide(call, view)
            # A view that nothing looks back at remembers no call.
            number = next((c.number for c in view.recent(1)), -1)
            self._remember(session, call.id, number)
            if decision.allowed and not will_tell:
                session.open = number
            return decision, number

    def presume(self, session: str | None, number: int) -> None:
        """Take an allowed call that was judged with `will_tell` for one that nobody tells of."""
        found = self._of(session)
        with found.root.lock:
            found.open = number

    def came_of(
        self, session: str | None, number: int, outcome: Outcome, result: str | None = None
    ) -> None:
        """Note what came of a call, by its number in the session, and what its result says."""
        root = self._of(session).root
        with root.lock:
            _note(root.view, number, outcome, result)

    def outcome(
        self, session: str | None, id: Any, outcome: Outcome, result: str | None = None
    ) -> bool:
        """Note what came of the call with this id, and what its result says; False where there is
        none."""
        found = self._of(session)
        with found.root.lock:
            number = found.calls.get(_key(id))
            if number is None:
                return False
            if found.open == number:
                found.open = None
            _note(found.root.view, number, outcome, result)
            return True

    def _of(self, name: str | None, parent: str | None = None) -> _Session:
        with self._lock:
            session = self._sessions.get(name)
            if session is None:
                session = self._added(name, self._root(name, parent))
            self._sessions.move_to_end(name)
            return session

    def _root(self, name: str | None, parent: str | None) -> _Root:
        before = None if self._root_of is None else self._root_of(name)
        parent = parent if before is None else before
        if parent is not None and parent != name:
            above = self._sessions.get(parent) or self._added(parent, self._root(parent, None))
            return above.root
        view = self._new()
        if self._begin is None:
            return _Root(view, None)
        return _Root(view, partial(self._begin, name, view))

    def _added(self, name: str | None, root: _Root) -> _Session:
        session = self._sessions[name] = _Session(root)
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    @staticmethod
    def _remember(session: _Session, id: Any, number: int) -> None:
        session.calls[_key(id)] = number
        if len(session.calls) > LONGEST_WINDOW:
            session.calls.popitem(last=False)


def _note(view: SessionHistory, number: int, outcome: Outcome, result: str | None) -> None:
    view.outcome(number, outcome)
    if result is not None:
        view.hear_result(result)


def _parent(call: Call) -> str | None:
    """The session that this call's is a sub-agent of, as the host tells."""
    parent = None if call.context is None else call.context.get("parent")
    return parent if isinstance(parent, str) and call.session is not None else None


def _key(id: Any) -> Any:
    """An id as JSON tells ids apart: 1, 1.0, true and "1" are four."""
    return (type(id).__name__, repr(id))
