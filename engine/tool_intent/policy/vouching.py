"""What vouches for waivers that their place does not vouch for: a signature by a pinned key, or the
protected branch that they stand on."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from tool_intent.policy import sources
from tool_intent.policy.opening import FOLDER, WAIVERS
from tool_intent.policy.sources import MACHINE, Unreadable
from tool_intent.policy.trust import why_writable

if TYPE_CHECKING:
    from tool_intent.policy.keys import Key

_IN_REPOSITORY: Final = f"{FOLDER}/{WAIVERS}"


class Vouched(NamedTuple):
    """A pinned key vouches for a file, until a time (seconds since the epoch)."""

    signer: str
    until: float


#: Who vouches for the file at a path, of these bytes; why nobody does, or None where nobody tries.
Signers: TypeAlias = Callable[[str, bytes], Vouched | str | None]


def signers_here(now: float, machine: str = MACHINE) -> Signers:
    """Signatures checked against the keys that the machine folder pins, at `now`."""
    keys: list[Sequence[Key]] = []

    def signed(path: str, data: bytes) -> Vouched | str | None:
        from tool_intent.policy.envelope import end_of
        from tool_intent.policy.signing import Signature, pinned_keys, signed_by

        if not keys:
            keys.append(pinned_keys(machine))
        found = signed_by(path, data, keys[0], now=now)
        if not isinstance(found, Signature):
            return None if found is None else found.reason
        return Vouched(found.signer, inf if found.expires is None else end_of(found.expires))

    return signed


def marks(paths: Sequence[str], machine: str = MACHINE) -> str:
    """A text that changes whenever something does that decides, besides its bytes, whether a file
    at one of `paths` is vouched for: owners and modes, signatures, the pinned keys."""
    said: list[object] = []
    for path in paths:
        signature = path + ".sig"
        if os.path.lexists(signature):
            from tool_intent.policy.keys import pinned_keys

            said += [_bytes(signature), pinned_keys(machine)]
        said.append(why_writable(path))
    return repr(said)


def _bytes(path: str) -> bytes | str:
    try:
        return sources.read(path, "repo")
    except Unreadable as error:
        return error.reason


def on_branch(folder: str, ref: str) -> bytes | None:
    """The waivers file of the repository that holds `folder`, as committed at `ref`; None where
    there is none. Raises ValueError with a clause that says why it cannot be read."""
    from tool_intent.policy.git import read_blob
    from tool_intent.policy.git_objects import GitError

    top = os.path.realpath(folder)
    below = top
    while not os.path.lexists(os.path.join(top, ".git")):
        if top == os.path.dirname(top):
            raise ValueError(f"`{folder}` lies in no git repository")
        top = os.path.dirname(top)
    path = os.path.normpath(os.path.join(os.path.relpath(below, top), _IN_REPOSITORY))
    path = path.replace(os.sep, "/")
    try:
        return read_blob(top, ref, path)
    except GitError as error:
        if error.reason == f"there is no `{path}` in it":
            return None
        raise ValueError(error.reason) from None
