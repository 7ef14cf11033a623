"""Where decisions and outcomes go to be kept."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tool_intent.ledger.chain import GENESIS
from tool_intent.runtime.model import Call, Keeping

if TYPE_CHECKING:
    from tool_intent.runtime.decision import Decision


class Told(NamedTuple):
    """A call as a surface judged it: the call, the decision, what its tool does and which of its
    arguments play which roles (as a program says), and what policies ask of the record. `parent`
    is the host's id of the call that made it; `omitted` describes texts that the host kept to
    itself, in the place of which the arguments have an empty one."""

    call: Call
    decision: Decision
    kinds: tuple[str, ...] = ()
    roles: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    keeping: Keeping = Keeping()
    parent: str | None = None
    omitted: tuple[Any, ...] = ()


class Edit(NamedTuple):
    """A replacement that a call asks for at `at`, a JSON Pointer into its arguments: of the only
    `old` in a file, or of all of them."""

    at: str
    old: bytes
    new: bytes
    everywhere: bool = False


class Image(NamedTuple):
    """A file that a call may change: its place on disk, its path as recorded, its content's id
    before the call (None: no file), the places of the call that are about it, and the replacements
    that are asked for there. Of a file that a shell command names, `place` holds no link: what is
    elsewhere after the call is not looked at."""

    place: str
    path: str
    pre: str | None
    entries: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    commanded: bool = False
    stamp: tuple[int, ...] = ()


class Changed(NamedTuple):
    """What a call made of a file: ids of its contents, and the places of the call that did it."""

    path: str
    pre: str | None
    post: str | None
    entries: tuple[str, ...] = ()


class Ticket(NamedTuple):
    """A decision that was recorded: its record's id, what its outcome is to look at, and the
    session whose stretch it is in."""

    id: str
    files: tuple[Image, ...] = ()
    sync: bool = False
    session: str = ""


class Stretch(NamedTuple):
    """What one process recorded of a session, and of those that name it as their parent: the
    hashes of the first and of the last record (`since`, `head`), and one over those of all (`own`,
    see `folded`). Who holds it can tell these records from others that lie in the ledger."""

    session: str
    since: str
    head: str
    own: str


def unknown(session: str) -> Stretch:
    """A stretch of which nothing is known: no record has the hash that stands for none."""
    return Stretch(session, GENESIS, GENESIS, "")


def folded(own: str, hash: str) -> str:
    """One hash for those of records in a row: `own` is that of all but the last, "" of none."""
    return f"sha256:{sha256(f'{own} {hash}'.encode('ascii')).hexdigest()}"


class Recorder(Protocol):
    """Keeps what was decided and what came of it. Both raise where they cannot."""

    def decision(self, told: Told) -> Ticket | None:
        """Keep a decision; returns before the call is forwarded. None where nothing is kept."""

    def outcome(self, ticket: Ticket, ok: bool) -> None:
        """Keep what came of a call that was carried out."""


class NullRecorder:
    """Keeps nothing."""

    __slots__ = ()

    def decision(self, told: Told) -> Ticket | None:  # noqa: ARG002 (as the protocol says)
        return None

    def outcome(self, ticket: Ticket, ok: bool) -> None:
        pass
