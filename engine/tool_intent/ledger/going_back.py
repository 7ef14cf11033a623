"""A session's records, by following the chain back from a head that somebody kept.

Each hash is over the bytes of its line, with the hash of the line before in them: who holds the
last one knows what lies before it. Anybody can add to a ledger, though, so it is also held which
records were written for the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tool_intent.ledger.chain import holds, stated
from tool_intent.ledger.members import part, text
from tool_intent.ledger.reading import read
from tool_intent.ledger.recorder import Stretch, folded
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import segments

#: Lines from the end among which a call that is not over is looked for.
_MOST_LINES: Final = 4_096

_PREV: Final = re.compile(rb'"prev":"(sha256:[0-9a-f]{64})"')
_OUTCOME: Final = re.compile(rb'"of":"([0-9A-Z]{26})","ok":(true|false)')


class Kept(NamedTuple):
    """A decision, and whether its call passed; None where that is not known."""

    decision: Record
    ok: bool | None


def past(folder: str, stretch: Stretch) -> list[Kept] | None:
    """The calls of a stretch, oldest first; None where the ledger does not have its head, or not
    all that led to it, or has more or other records in it than were written.

    Raises OSError where a file cannot be read.
    """
    found = _records_back(folder, stretch)
    if found is None:
        return None
    members, own = {stretch.session}, ""
    decisions: dict[str, Record] = {}
    outcomes: dict[str, bool] = {}
    for record in reversed(found):
        if record["type"] == "decision":
            session = part(record, "session")
            if members.isdisjoint((text(session, "id"), text(session, "parent"))):
                continue
            members.add(text(session, "id"))
            decisions[record["id"]] = record
        elif record["of"] in decisions:
            outcomes[record["of"]] = record["ok"]
        else:
            continue
        own = folded(own, record["hash"])
    if own != stretch.own:
        return None
    return [Kept(record, outcomes.get(record["id"])) for record in decisions.values()]


def _records_back(folder: str, stretch: Stretch) -> list[Record] | None:
    """The decisions and outcomes of a stretch, the newest first; None where the chain breaks."""
    found: list[Record] = []
    wanted = stretch.head
    for raw in _lines_back(folder):
        if stated(raw) != wanted or not holds(raw):
            continue  # behind the head, or no line of this chain
        link = _PREV.search(raw)
        if link is None:
            return None
        if b'"type":"outcome"' in raw or b'"type":"decision"' in raw:
            record, _ = read(raw)
            if record is not None:
                found.append(record)
        if wanted == stretch.since:
            return found
        wanted = link[1].decode("ascii")
    return None


def not_over(folder: str, session: str | None, id: object) -> Record | None:
    """The newest decision on the call of a host's id that let it run and has no outcome yet.

    Raises OSError where a file cannot be read.
    """
    over: dict[str, bool] = {}
    for number, raw in enumerate(_lines_back(folder)):
        if number >= _MOST_LINES:
            break
        if b'"type":"outcome"' in raw:
            _note(raw, over)
            continue
        record, _ = read(raw)
        if record is None or record["type"] != "decision":
            continue
        call, said = part(record, "call"), part(record, "session")
        if call.get("id") == id and said.get("id") == session:
            allowed = text(part(record, "decision"), "verdict") != "deny"
            return record if allowed and record["id"] not in over else None
    return None


def _lines_back(folder: str) -> Iterator[bytes]:
    """Every line of a ledger, the newest first."""
    for segment in reversed(segments(folder)):
        with open(segment.path, "rb") as file:
            data = file.read()
        end = len(data)
        while end > 0:
            start = data.rfind(b"\n", 0, end - 1) + 1
            yield data[start:end]
            end = start


def _note(raw: bytes, outcomes: dict[str, bool]) -> None:
    link = _OUTCOME.search(raw)
    if link is not None:
        outcomes.setdefault(link[1].decode("ascii"), link[2] == b"true")
