"""Whether what a source permits counts for the organisation's rules.

A permission is whatever can lower a decision. For a rule of org rank it counts only from a source
that the machine folder holds and the agent cannot write, or that a key pinned there vouches for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tool_intent.policy import sources, trust
from tool_intent.policy.keys import Key

if TYPE_CHECKING:
    from tool_intent.runtime.model import Rank


class Standing(NamedTuple):
    """Whether permissions of a source count for org rules: by which signer if not by its owner, and
    if they do not, why (a clause for people)."""

    admitted: bool
    signer: str | None
    reason: str


def standing(
    path: str,
    rank: Rank,
    data: bytes,
    keys: Sequence[Key],
    now: float,
    *,
    repository: str | None = None,
) -> Standing:
    """Whether permissions of the source at `path`, found at `rank` and read as `data`, count for
    org rules at `now` (seconds since 1970, UTC).

    `keys` are those of `pinned_keys`; `repository` names the one the source belongs to, if any.
    """
    if rank == "shipped":
        return Standing(True, None, "")
    why = _why_not_by_place(path, rank, data)
    if why is None:
        return Standing(True, None, "")
    # What checks signatures is needed by few.
    from tool_intent.policy.signing import Signature, signed_by

    found = signed_by(path, data, keys, now=now, repository=repository)
    if isinstance(found, Signature):
        return Standing(True, found.signer, "")
    return Standing(False, None, f"{why}; {'it is not signed' if found is None else found.reason}")


def _why_not_by_place(path: str, rank: Rank, data: bytes) -> str | None:
    if rank != "org":
        return f"it is of rank {rank}, not org"
    why = trust.why_writable(path)
    if why is not None:
        return why
    # Now that nobody else can write it: is this what it says? It was read before it was asked
    # whether it may be believed, and might have been another's then.
    try:
        same = sources.read(path, rank) == data
    except sources.Unreadable as error:
        return f"it cannot be read again: {error.reason}"
    return None if same else "it changed while it was read"
