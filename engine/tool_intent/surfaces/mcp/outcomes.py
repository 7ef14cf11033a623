"""What came of calls, by the server's answers to them."""

from __future__ import annotations

from typing import Any

from tool_intent.surfaces.mcp.pending import Waiting
from tool_intent.surfaces.mcp.session import Session


class Outcomes:
    """Tells what came of the calls of a session: at once, or `later`, when `tell_owed` is called,
    so that an answer need not wait for the record of its call.

    An outcome that looks at files, or has to be on the disk, is told at once whatever `later` says:
    whoever has the answer may change the files, and relies on the record.
    """

    def __init__(self, session: Session, *, later: bool = False) -> None:
        self._session = session
        self._later = later
        self._owed: list[tuple[Waiting, dict[str, Any]]] = []

    def tell(self, waiting: Waiting, answer: dict[str, Any]) -> None:
        """The server answered a request that waited."""
        if self._later and waiting.call is not None and not waiting.call.at_once:
            self._owed.append((waiting, answer))
            return
        self.tell_owed()
        self._tell(waiting, answer)

    def tell_owed(self) -> None:
        """Tell what was left for later."""
        while self._owed:
            self._tell(*self._owed.pop(0))

    def _tell(self, waiting: Waiting, answer: dict[str, Any]) -> None:
        ok = outcome(answer)
        if waiting.call is not None and ok is not None:
            try:
                waiting.call.settle(ok, said(answer))
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                self._session.note(f"an outcome was not recorded ({why})")
        state = answer["result"].get("requestState") if ok is None else None
        if waiting.approved is not None and isinstance(state, str):
            self._session.goes_on(state, waiting.approved)


def outcome(answer: dict[str, Any]) -> bool | None:
    """Whether a tool did its work, by the answer to its call; None where the answer is not yet
    the result (a task was made, input is asked for)."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return False
    if result.get("resultType", "complete") != "complete" or "task" in result:
        return None
    return not result.get("isError")


def said(answer: dict[str, Any]) -> str:
    """The text of an answer to a tool's call, as the model reads it."""
    result = answer.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
