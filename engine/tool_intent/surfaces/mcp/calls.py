"""A call between its admission and its outcome, judged by the guard."""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Mapping
from typing import Any

from tool_intent.guard.guard import Denied, Guard
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Scalar


class _Failed(Exception):
    """The tool said that it failed."""


class _Outcome:
    """What an admitted call waits for: the server's answer, whenever that comes."""

    def __await__(self) -> Generator[None]:
        yield


class Admitted:
    """A call that may run; `args` are its arguments without fields. Tell what came of it with
    `settle`; one that is dropped unsettled counts as failed."""

    __slots__ = ("_running", "args")

    def __init__(self, running: Coroutine[Any, None, None], args: dict[str, Any]) -> None:
        self._running = running
        self.args = args

    def settle(self, ok: bool) -> None:
        """The server answered; `ok` says whether the tool did its work."""
        try:
            if ok:
                self._running.send(None)
            else:
                self._running.throw(_Failed())
        except (StopIteration, _Failed):
            pass


class Refused:
    """A call that may not run as it is. Where a person approves it all the same, tell what came of
    it with `settle`."""

    __slots__ = ("_denied",)

    def __init__(self, denied: Denied) -> None:
        self._denied = denied

    @property
    def decision(self) -> Decision:
        """Why it may not run."""
        return self._denied.decision

    @property
    def args(self) -> dict[str, Any] | None:
        """Its arguments without fields."""
        return self.decision.args

    def settle(self, ok: bool) -> None:
        """The server answered; `ok` says whether the tool did its work."""
        self._denied.came_of(ok)


def admit(
    guard: Guard,
    tool: str,
    args: Any,
    *,
    id: Scalar,
    context: Mapping[str, Any] | None,
    schema: Mapping[str, Any] | None,
) -> Admitted | Refused:
    """Judge and record a call.

    The guard's own coroutine is driven by hand: it rests, without an event loop, from the moment
    the call is admitted until its outcome is told.
    """
    admitted: list[dict[str, Any]] = []

    async def execute(stripped: dict[str, Any]) -> None:
        admitted.append(stripped)
        await _Outcome()

    running = guard.acall(tool, args, execute, id=id, context=context, schema=schema)
    try:
        running.send(None)
    except Denied as denied:
        return Refused(denied)
    return Admitted(running, admitted[0])
