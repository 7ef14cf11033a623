"""A call between its admission and its outcome, judged by the guard."""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Mapping
from typing import Any

from tool_intent.guard.guard import Denied, Guard
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Scalar


class _Failed(Exception):
    """The tool said that it failed; the text is its own."""


class _Outcome:
    """What an admitted call waits for: the server's answer, whenever that comes."""

    def __await__(self) -> Generator[None, str, str]:
        said = yield
        return said


class Admitted:
    """A call that may run; `args` are its arguments without fields. Tell what came of it with
    `settle`; one that is dropped unsettled counts as failed."""

    __slots__ = ("_running", "args")

    def __init__(self, running: Coroutine[Any, Any, str], args: dict[str, Any]) -> None:
        self._running = running
        self.args = args

    def settle(self, ok: bool, said: str = "") -> None:
        """The server answered; `ok` says whether the tool did its work, `said` what its text is."""
        try:
            if ok:
                self._running.send(said)
            else:
                self._running.throw(_Failed(said))
        except (StopIteration, _Failed):
            pass


def admit(
    guard: Guard,
    tool: str,
    args: Any,
    *,
    id: Scalar,
    context: Mapping[str, Any] | None,
    schema: Mapping[str, Any] | None,
) -> Admitted | Decision:
    """Judge and record a call; the decision where it may not run as it is.

    The guard's own coroutine is driven by hand: it rests, without an event loop, from the moment
    the call is admitted until its outcome is told.
    """
    admitted: list[dict[str, Any]] = []

    async def execute(stripped: dict[str, Any]) -> str:
        admitted.append(stripped)
        return await _Outcome()

    running = guard.acall(tool, args, execute, id=id, context=context, schema=schema)
    try:
        running.send(None)
    except Denied as denied:
        return denied.decision
    return Admitted(running, admitted[0])
