"""What was asked for when a policy was loaded, and what was found: enough to look again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tool_intent.policy.sources import Candidate, Root
    from tool_intent.rules.diagnostics import Diagnostic
    from tool_intent.runtime.model import Point, Rank


class Query(NamedTuple):
    """The arguments of one load; `environ` is a copy of the environment at that time, `point` the
    surface that enforces, if one does, `now` the time to go by (seconds since the epoch), None for
    the clock's."""

    sources: tuple[str, ...]
    cwd: str
    environ: Mapping[str, str]
    machine: str
    account: str
    found: bool
    allow_empty: bool
    point: Point | Literal[""] = ""
    now: float | None = None


class Places(NamedTuple):
    """Where policies were looked for, with what was there, and the files that were asked for."""

    candidates: tuple[Candidate, ...]
    given: tuple[Root, ...]


class File(NamedTuple):
    """A file that a policy came from: `digest` is the SHA-256 of its bytes, in hexadecimal; it
    lies within one of the folders `held`, if there are any. `stamp` is what its permissions rest on
    (see `policy.permitting.stamp`)."""

    path: str
    rank: Rank
    digest: str
    held: tuple[str, ...]
    stamp: tuple[Any, ...] | None = None


class Loaded(NamedTuple):
    """What an artifact came from. `broken` are the errors that make it deny every call; without a
    `query` nobody can look again."""

    files: tuple[File, ...] = ()
    broken: tuple[Diagnostic, ...] = ()
    query: Query | None = None
    places: Places | None = None
