"""A call between its admission and its outcome."""

from __future__ import annotations

from tool_intent.guard.guard import Admission


class Admitted:
    """A call that was passed on, and waits for the server's answer, whenever that comes. Tell what
    came of it with `settle`; one that is dropped unsettled counts as failed."""

    __slots__ = ("_admission",)

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    @property
    def at_once(self) -> bool:
        """Whether its outcome is to be told before anybody learns of the answer."""
        return self._admission.at_once

    def settle(self, ok: bool, said: str = "") -> None:
        """The server answered; `ok` says whether the tool did its work, `said` what its text is."""
        self._admission.settle(ok, said)

    def __del__(self) -> None:
        self._admission.settle(False)
