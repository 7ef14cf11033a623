"""What a session has done so far: the view that rules about history read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

Outcome: TypeAlias = Literal["tried", "passed", "failed"]

#: No window of the rule language looks back further than this many tried calls.
LONGEST_WINDOW = 10_000


class Earlier(NamedTuple):
    """One earlier call: `outcome` is `tried` until the host says `passed` or `failed`."""

    number: int
    id: Any
    tool: str
    args: Any
    provenance: tuple[dict[str, Any], ...]
    decision: str
    at: float | None
    outcome: Outcome


Wanted: TypeAlias = Callable[[Earlier], bool]


class SessionView(Protocol):
    """The history of one session, as of the call being judged. Newest first."""

    def earlier(self, wanted: Wanted, calls: int | None = None) -> Earlier | None:
        """The newest call that `wanted` accepts among the last `calls` tried, or None."""

    def count(self, wanted: Wanted, calls: int | None = None) -> int:
        """How many of the last `calls` tried calls `wanted` accepts."""

    def recent(self, calls: int) -> Iterator[Earlier]:
        """The last `calls` tried calls, newest first."""

    def seen(self, token: str) -> bool | None:
        """Whether the person or a tool's result said `token`; None where nobody can tell."""


class SessionWindow:
    """A `SessionView` in memory: the last `LONGEST_WINDOW` tried calls and their outcomes."""

    __slots__ = ("_calls", "_next")

    def __init__(self, longest: int = LONGEST_WINDOW) -> None:
        self._calls: deque[Earlier] = deque(maxlen=longest)
        self._next = 0

    def tried(
        self,
        id: Any,
        tool: str,
        args: Any,
        provenance: tuple[dict[str, Any], ...],
        decision: str,
        at: float | None,
    ) -> int:
        """Add a judged call, whatever came of it; returns its number in the session."""
        number = self._next
        self._next += 1
        self._calls.append(Earlier(number, id, tool, args, provenance, decision, at, "tried"))
        return number

    def outcome(self, number: int, outcome: Outcome) -> bool:
        """Note what came of call `number`; False when it has left the window."""
        first = self._next - len(self._calls)
        if not first <= number < self._next:
            return False
        self._calls[number - first] = self._calls[number - first]._replace(outcome=outcome)
        return True

    def earlier(self, wanted: Wanted, calls: int | None = None) -> Earlier | None:
        return next((c for c in self.recent(calls or len(self._calls)) if wanted(c)), None)

    def count(self, wanted: Wanted, calls: int | None = None) -> int:
        return sum(1 for c in self.recent(calls or len(self._calls)) if wanted(c))

    def recent(self, calls: int) -> Iterator[Earlier]:
        for n, call in enumerate(reversed(self._calls)):
            if n >= calls:
                return
            yield call

    def seen(self, token: str) -> bool | None:  # noqa: ARG002 (nothing feeds results in yet)
        return None
