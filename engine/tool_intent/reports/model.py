"""A ledger as people look at it. Frozen data; every number of a report comes from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

#: Calls that a page shows unless told otherwise: past that, browsers grow slow.
MOST_CALLS: Final = 2_000

#: `tried` has no outcome: it runs still, it was never run, or its host died.
Fate = Literal["ok", "failed", "tried", "refused"]


@dataclass(frozen=True, slots=True)
class Reason:
    """What one place of a call said: `at` is a JSON Pointer, "" for the call itself."""

    at: str
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """A rule or field check that a call broke, as the record keeps it."""

    rule: str
    effect: str
    at: str
    origin: str
    waived: str = ""


@dataclass(frozen=True, slots=True)
class Touched:
    """A file before and after a call: git blob ids, None where it was absent, "" where it is not
    known. `entries` are the places of the call that changed it."""

    path: str
    pre: str | None
    post: str | None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A decision and what came of it. `number` counts the calls of a report from 1; `found` are the
    files as they were when it began, and `span` is where the decision and the outcome stand in the
    order of what happened."""

    number: int
    id: str
    ts: str
    session: str
    worktree: str
    agent: str
    model: str
    tool: str
    surface: str
    target: str
    verdict: str
    fate: Fate
    reasons: tuple[Reason, ...]
    broken: tuple[Broken, ...]
    files: tuple[Touched, ...]
    found: tuple[Touched, ...] = ()
    span: tuple[int, int | None] = (0, None)
    redacted: int = 0
    imported: str = ""
    mends: str = ""
    executed: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over the calls of a report."""

    calls: int
    allowed: int
    asked: int
    denied: int
    ran: int
    failed: int
    sessions: int
    files: int
    lines_added: int
    lines_removed: int
    mended: int
    untracked: int
    redacted: int
    imported: int


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule over all calls. `tries` has a number for each call that passed after this rule had
    held it up: how often it was refused before; `mended` counts those calls."""

    rule: str
    origin: str
    hits: int
    denials: int
    asks: int
    warnings: int
    waived: int
    mended: int
    tries: tuple[int, ...]
    tools: tuple[str, ...]

    @property
    def tries_to_pass(self) -> float | None:
        """The mean number of refusals before such a call passed; None where none did."""
        return sum(self.tries) / len(self.tries) if self.tries else None


@dataclass(frozen=True, slots=True)
class Heat:
    """Calls that broke a rule, by rule (rows) and tool (columns)."""

    rules: tuple[str, ...]
    tools: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def most(self) -> int:
        """The greatest count; 0 where there is none."""
        return max((count for row in self.counts for count in row), default=0)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a hunk. `kind` is " ", "+" or "-"; line numbers are None on the other side."""

    kind: str
    before: int | None
    after: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that changed together, with the lines around them."""

    lines: tuple[Line, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What one call did to one file. `note` says why there are no hunks, where there are none."""

    call: Call
    path: str
    reasons: tuple[Reason, ...]
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Mended:
    """A call that passed, after the refusals that it mends, first one first."""

    refused: tuple[Call, ...]
    passed: Call


@dataclass(frozen=True, slots=True)
class Untracked:
    """A file that no recorded call brought from what `after` left to what `before` found."""

    path: str
    after: Call
    before: Call
    hunks: tuple[Hunk, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Integrity:
    """What verifying the ledger said. `state` is "consistent", "broken" or "unchecked"."""

    state: str
    message: str
    faults: tuple[str, ...] = ()
    head: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A marker record: torn lines, gaps, changes of the policy or of the clock."""

    ts: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Summary:
    """All that a report shows."""

    first: str
    last: str
    totals: Totals
    rules: tuple[RuleRow, ...]
    heat: Heat
    calls: tuple[Call, ...]
    changes: tuple[Change, ...]
    mended: tuple[Mended, ...]
    untracked: tuple[Untracked, ...]
    marks: tuple[Mark, ...]
    integrity: Integrity
