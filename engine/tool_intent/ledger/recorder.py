"""Where decisions and outcomes go to be kept."""

from __future__ import annotations

from typing import Any, Protocol


class Recorder(Protocol):
    """Keeps what was decided and what came of it. A recorder that raises stops the call."""

    def decision(self, decision: Any, session: str | None) -> None:
        """Keep a decision; returns before the call is forwarded."""

    def outcome(self, decision: Any, ok: bool, session: str | None) -> None:
        """Keep what came of an allowed call."""


class NullRecorder:
    """Keeps nothing."""

    __slots__ = ()

    def decision(self, decision: Any, session: str | None) -> None:
        pass

    def outcome(self, decision: Any, ok: bool, session: str | None) -> None:
        pass
