"""The words of a decision: effects, origins, findings, calls.

Named tuples, not dataclasses: `dataclasses` costs a fresh process 8 ms on the way to its first
decision, and a tuple is frozen and slotted by construction.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

Effect: TypeAlias = Literal["off", "note", "warn", "ask", "deny"]
Verdict: TypeAlias = Literal["allow", "ask", "deny"]
Rank: TypeAlias = Literal["shipped", "org", "team", "user", "repo", "directory", "session"]
#: Where calls are enforced: a constant of each surface's own code.
Point: TypeAlias = Literal["python", "run", "pi", "mcp"]
Scalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

#: Effects, weakest first.
EFFECTS: Final[tuple[Effect, ...]] = ("off", "note", "warn", "ask", "deny")
STRENGTH: Final[dict[str, int]] = {effect: n for n, effect in enumerate(EFFECTS)}

#: Ranks, strongest first. What ships with the engine stands above every policy.
RANKS: Final[tuple[Rank, ...]] = (
    "shipped", "org", "team", "user", "repo", "directory", "session",
)  # fmt: skip
SENIORITY: Final[dict[str, int]] = {rank: n for n, rank in enumerate(RANKS)}
#: Every point of enforcement. `decide` is none: it answers what a rule says everywhere else.
POINTS: Final[tuple[Point, ...]] = ("python", "run", "pi", "mcp")


class Keeping(NamedTuple):
    """What policies ask of the record of calls: that none is made without one, that each is on the
    disk before its call is, and which arguments are kept besides those of every policy."""

    required: bool = False
    full: bool = False
    keep: tuple[str, ...] = ()

    def with_(self, other: Keeping) -> Keeping:
        """What both ask."""
        keep = tuple(dict.fromkeys((*self.keep, *other.keep)))
        return Keeping(self.required or other.required, self.full or other.full, keep)


def strongest(effects: list[Effect]) -> Effect:
    """The strongest of at least one effect."""
    return max(effects, key=STRENGTH.__getitem__)


class Origin(NamedTuple):
    """Where a policy says something: file as shown to people, 1-based line and column, rank."""

    file: str
    line: int
    column: int
    rank: Rank

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Finding(NamedTuple):
    """A constraint or rule that a call broke.

    `at` is a JSON Pointer into the arguments ("" for the call itself); `origin` is None for what
    the engine itself demands. `who` names the policy whose words `fix` quotes, None for ours.
    `unknown` says what could not be told, where a rule fires for that.
    `waived` is the id of the waiver that lowered its effect, `was` what that was before.
    """

    rule: str
    effect: Effect
    at: str
    message: str
    fix: str | None = None
    origin: Origin | None = None
    who: str | None = None
    unknown: str | None = None
    waived: str | None = None
    was: Effect | None = None

    def to_dict(self) -> dict[str, Any]:
        """The finding as in a decision's JSON: rule, effect, at, message, fix, origin; and waived,
        was, where a waiver lowered it."""
        data = {
            "rule": self.rule,
            "effect": self.effect,
            "at": self.at,
            "message": self.message,
            "fix": self.fix,
            "origin": None if self.origin is None else str(self.origin),
        }
        return data if self.waived is None else data | {"waived": self.waived, "was": self.was}


class Call(NamedTuple):
    """One tool call as it is judged. `args` is the host's value, whatever its type.

    `now` is seconds since the epoch (UTC), an input and never read from a clock while judging;
    `schema` is the tool's own argument schema where the host knows it.
    """

    id: Scalar
    tool: str
    args: Any
    context: dict[str, Any] | None = None
    session: str | None = None
    now: float | None = None
    schema: dict[str, Any] | None = None
