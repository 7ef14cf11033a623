"""Whether what org files permit counts here and now, and what that rests on.

Standard library only, and little of it: a cached artifact is only good while this is unchanged.
"""

from __future__ import annotations

import os
from time import time
from typing import TYPE_CHECKING, Any

from tool_intent.policy.sources import MACHINE, shipped

if TYPE_CHECKING:
    from tool_intent.policy.keys import Key
    from tool_intent.runtime.model import Rank

#: What a file's signature is called beside it.
_SIGNATURE = ".sig"


class Doubts:
    """Tells why what an org file permits does not count: the user of this process could have
    written it, and no key pinned in the machine folder vouches for it now."""

    def __init__(self, machine: str = MACHINE) -> None:
        self._machine = machine
        self._keys: tuple[Key, ...] | None = None
        #: Whether some file was admitted by its signature alone.
        self.rest_on_signatures = False

    def __call__(self, path: str, data: bytes) -> str | None:
        """The reason for the file at `path`, read as `data`; None where it counts."""
        from tool_intent.policy.keys import pinned_keys
        from tool_intent.policy.standing import standing

        if self._keys is None:
            self._keys = pinned_keys(self._machine)
        found = standing(path, "org", data, self._keys, time())
        self.rest_on_signatures = self.rest_on_signatures or found.signer is not None
        return None if found.admitted else found.reason


def stamp(path: str, rank: Rank) -> tuple[Any, ...] | None:
    """What the permissions of a file rest on, to be compared: None for files of ranks whose own
    permissions always count."""
    if rank != "org" or path.startswith(shipped()):
        return None
    from tool_intent.policy.trust import why_writable

    try:
        signed = os.stat(path + _SIGNATURE)
    except OSError:
        return (why_writable(path),)
    return (why_writable(path), signed.st_mtime_ns, signed.st_size)
