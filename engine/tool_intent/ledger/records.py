"""What a ledger holds, `tool-intent.record/1`: one JSON object a line. See docs/ledger.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from os import urandom
from time import gmtime, time
from typing import Any, Final, Literal, TypeAlias

from tool_intent.runtime.wire import dump

VERSION: Final = "tool-intent.record/1"
#: What every version of the format begins its `v` with.
FAMILY: Final = "tool-intent.record/"
TYPES: Final = ("decision", "outcome", "marker", "header")
#: Characters of one text that are kept; a reason may be as long, an argument seldom is.
LONGEST_TEXT: Final = 65_536

#: A record as it is read: see the schema, policies/schema/record.schema.json.
Record: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["decision", "outcome", "marker", "header"]

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS: Final = [a + b for a in _DIGITS for b in _DIGITS]


def new_id(now: float | None = None) -> str:
    """A ULID: 48 bits of milliseconds since the epoch and 80 random bits, as 26 characters that
    sort by time. `now` is in seconds, the clock's unless given."""
    moment = int((time() if now is None else now) * 1000) & 0xFFFF_FFFF_FFFF
    number = moment << 80 | int.from_bytes(urandom(10))
    return "".join([_PAIRS[number >> shift & 0x3FF] for shift in range(120, -1, -10)])


def timestamp(now: float) -> str:
    """Seconds since the epoch as `2026-11-30T12:00:00.123Z`, cut to milliseconds."""
    seconds, thousandths = divmod(int(now * 1000), 1000)
    t = gmtime(seconds)
    return (
        f"{t.tm_year:04}-{t.tm_mon:02}-{t.tm_mday:02}"
        f"T{t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02}.{thousandths:03}Z"
    )


def framed(type: Kind, seq: int, id: str, ts: str, prev: str, body: Mapping[str, Any]) -> Record:
    """A record without its hash: the members that every record has, then those of `body`."""
    return {"v": VERSION, "type": type, "seq": seq, "id": id, "ts": ts, "prev": prev, **body}


def marker(kind: str, detail: Mapping[str, Any]) -> Record:
    """The body of a marker."""
    return {"kind": kind, "detail": dict(detail)}


def without_absent(members: Mapping[str, Any]) -> Record:
    """The members that are there: None and empty lists, texts and objects are left out."""
    return {key: value for key, value in members.items() if value not in (None, "", [], (), {})}


def kept_value(value: Any) -> str | int | float | bool | None:
    """A value as a record keeps it: a scalar. What is no scalar is kept as its JSON text, a number
    that JSON has no digits for as null, and a text as far as `LONGEST_TEXT`."""
    if isinstance(value, str):
        return str(value[:LONGEST_TEXT])
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 53 else str(dump(value)[:LONGEST_TEXT])
    try:
        return dump(value)[:LONGEST_TEXT]
    except (RecursionError, TypeError, ValueError):
        return None


def kept_entries(provenance: Sequence[Mapping[str, Any]]) -> list[Record]:
    """What each place said, as a record keeps it: `{"at": JSON Pointer, field: value, …}`."""
    return [{name: kept_value(value) for name, value in entry.items()} for entry in provenance]
