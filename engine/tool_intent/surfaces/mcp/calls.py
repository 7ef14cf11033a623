"""A call between its admission and its outcome."""

from __future__ import annotations

from tool_intent.guard.guard import Admission


class Admitted:
    """A call that was passed on, and waits for the server's answer, whenever that comes. Tell what
    came of it with `settle`; one that is dropped unsettled counts as failed."""

    __slots__ = ("_admission",)

    def __init__(self, admission: Admission) -> None:
        self._admission = admission

    def settle(self, ok: bool) -> None:
        """The server answered; `ok` says whether the tool did its work."""
        self._admission.settle(ok)

    def __del__(self) -> None:
        self._admission.settle(False)
