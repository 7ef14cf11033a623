"""What a session has done so far: the view that rules about history read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from tool_intent.runtime.state import State

Outcome: TypeAlias = Literal["tried", "passed", "failed"]

#: No window of the rule language looks back further than this many tried calls.
LONGEST_WINDOW = 10_000


def forgotten_of(calls: int) -> int:
    """How many of a session's first calls its history has let go of, after so many."""
    return max(0, calls // LONGEST_WINDOW - 1) * LONGEST_WINDOW


class Past(NamedTuple):
    """Which earlier calls are meant: the number of what is asked of them, what must have come of
    them, the values of the judged call that theirs must equal, and the rest of the condition over
    what was kept of them."""

    atom: int
    outcome: Outcome
    keys: tuple[Any, ...] = ()
    rest: Callable[[tuple[Any, ...]], bool | None] | None = None


class Earlier(NamedTuple):
    """One earlier call: `outcome` is `tried` until the host says `passed` or `failed`."""

    number: int
    tool: str
    at: float | None
    outcome: Outcome


class SessionView(Protocol):
    """The history of one session, as of the call being judged."""

    def earlier(
        self,
        state: State,
        past: Past,
        calls: int | None,
        seconds: float | None,
        since: Past | None,
    ) -> bool | None:
        """Whether a call that `past` means went before, among the last `calls` tried or within
        `seconds`, and after the last that `since` means; None where that is not known."""

    def count(
        self,
        state: State,
        past: Past,
        calls: int | None,
        seconds: float | None,
        since: Past | None,
    ) -> int | None:
        """How many such calls went before; None where that is not known."""

    def recent(self, calls: int) -> Iterator[Earlier]:
        """The last `calls` tried calls, newest first."""

    def tried(self, state: State) -> int:
        """Add a judged call, whatever came of it; returns its number in the session."""

    def outcome(self, number: int, outcome: Outcome) -> bool:
        """Note what came of call `number`; False where that is known, or the call forgotten."""

    def seen(self, token: str) -> bool | None:
        """Whether the person or a tool's result said `token`; None where nobody can tell."""

    def hear_user(self, text: str) -> None:
        """Note what the person said."""

    def hear_result(self, text: str) -> None:
        """Note the result of a call that was tried."""
