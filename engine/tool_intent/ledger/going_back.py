"""A session's records, by following the chain back from heads that somebody kept.

Each hash is over the bytes of its line, with the hash of the line before in them: who holds the
last one knows what lies before it. Anybody can add to a ledger, though, so it is also held which
records were written for the session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from tool_intent.ledger.chain import holds, stated
from tool_intent.ledger.members import part, text
from tool_intent.ledger.reading import read
from tool_intent.ledger.recorder import Stretch, folded, unknown
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import segments

#: Lines from the end among which a call that is not over is looked for.
_MOST_LINES: Final = 4_096

_PREV: Final = re.compile(rb'"prev":"(sha256:[0-9a-f]{64})"')
_OUTCOME: Final = re.compile(rb'"of":"([0-9A-Z]{26})","ok":(true|false)')
#: A decision as the recorder begins it: its id, and its session with nothing nested in it.
_DECISION: Final = re.compile(
    rb'\{"v":"[^"]*","type":"decision","seq":[0-9]+,"id":"([0-9A-Z]{26})","ts":"[^"]*",'
    rb'"prev":"[^"]*","session":(\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\})'
)


class Kept(NamedTuple):
    """A decision, and whether its call passed; None where that is not known."""

    decision: Record
    ok: bool | None


class _Line(NamedTuple):
    """A decision or an outcome: where it lies, its hash and id (the decision's, both times), its
    session and that one's parent, and of an outcome whether the call passed."""

    path: str
    start: int
    size: int
    hash: str
    id: str
    session: str
    parent: str
    ok: bool | None


class Part(NamedTuple):
    """A stretch as the ledger has it: the decisions that were written for the session, oldest
    first, with what is known to have come of them, None where that is not all or more than there
    was; the session's sub-agents; and whether other calls of it may have followed."""

    decisions: list[_Line] | None
    outcomes: dict[str, bool]
    members: frozenset[str]
    more: bool


def past(folder: str, session: str | None, stretches: Sequence[Stretch]) -> list[Part]:
    """What a ledger has of the stretches of a session, in their order.

    Raises OSError where a file cannot be read.
    """
    walk = _Walk(stretches)
    if walk.heads:
        for path, start, raw in _lines_back(folder):
            if not walk.takes(path, start, raw):
                break
    members: frozenset[str] = frozenset() if session is None else frozenset([session])
    found = []
    roots: dict[str, dict[str, str]] = {}
    for number, stretch in enumerate(stretches):
        known = roots.setdefault(stretch.session, {stretch.session: stretch.session})
        one = _part(stretch, walk.found[number], known)
        if stretch.session == session:
            members |= one.members
        strays = any(not members.isdisjoint(pair) for pair in walk.others[number])
        found.append(one._replace(more=walk.is_loose[number] or strays))
    return found


def kept(found: Part, first: int = 0) -> Iterator[Kept]:
    """The calls of a part from number `first` on. Raises OSError where they cannot be read any
    more, or are not what they were."""
    for line in (found.decisions or ())[first:]:
        with open(line.path, "rb") as file:
            file.seek(line.start)
            raw = file.read(line.size)
        record, fault = read(raw)
        if record is None or stated(raw) != line.hash or not holds(raw):
            raise OSError(f"{line.path}: a record was changed while it was read {fault}")
        yield Kept(record, found.outcomes.get(line.id))


class _Walk:
    """Goes from the newest line of a ledger to the oldest stretch's first."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        count = len(stretches)
        #: Stretches by their heads; of some nothing is known.
        self.heads = {
            s.head: n for n, s in enumerate(stretches) if s.head and s != unknown(s.session)
        }
        self._oldest = min(self.heads.values(), default=0)
        #: The lines of each stretch, the newest first; None where the chain breaks.
        self.found: list[list[_Line] | None] = [None] * count
        #: Behind each stretch: sessions with their parents, and whether lines are missing there.
        self.others: list[set[tuple[str, str]]] = [set() for _ in stretches]
        self.is_loose = [False] * count
        self._number = count - 1
        self._lines: list[_Line] | None = None
        #: The hash of the line before; None while no head was come to.
        self._wanted: str | None = None

    def takes(self, path: str, start: int, raw: bytes) -> bool:
        """Look at the line before; False once all stretches were found."""
        said = stated(raw)
        begins = None if said is None else self.heads.get(said)
        if begins is not None and begins <= self._number and self._lines_end(begins) and holds(raw):
            self.is_loose[begins] = self._wanted not in (None, said)
            self._number, self._lines, self._wanted = begins, [], said
        if self._lines is None:
            self.others[self._number] |= _speakers(raw)
        if said is None or said != self._wanted or not holds(raw):
            return True  # no line of this chain
        link = _PREV.search(raw)
        self._wanted = "" if link is None else link[1].decode("ascii")
        if self._lines is None:
            return True
        line = _line(path, start, raw)
        if line is not None:
            self._lines.append(line)
        if said == self._stretches[self._number].since:
            self.found[self._number], self._lines = self._lines, None
            self._number -= 1
        return self._number >= self._oldest

    def _lines_end(self, begins: int) -> bool:
        """Whether another stretch may begin: this one is over, or the chain broke within it."""
        return self._lines is None or begins < self._number


def _speakers(raw: bytes) -> set[tuple[str, str]]:
    """The session, with its parent, of a decision that was made here; none for other lines."""
    decision = _DECISION.match(raw)
    if decision is None or b'"imported":{' in raw:
        return set()
    return {_whose(decision[2])}


def _line(path: str, start: int, raw: bytes) -> _Line | None:
    own = stated(raw) or ""
    decision = _DECISION.match(raw)
    if decision is not None and b'"imported":{' not in raw:
        judged = decision[1].decode("ascii")
        return _Line(path, start, len(raw), own, judged, *_whose(decision[2]), None)
    outcome = _OUTCOME.search(raw) if b'"type":"outcome"' in raw else None
    if outcome is None:
        return None
    of, ok = outcome[1].decode("ascii"), outcome[2] == b"true"
    return _Line(path, start, len(raw), own, of, "", "", ok)


@lru_cache(maxsize=1_024)
def _whose(raw: bytes) -> tuple[str, str]:
    """A session and its parent, as a record begins with them."""
    try:
        session = json.loads(raw)
    except ValueError:
        return "", ""
    return text(session, "id"), text(session, "parent")


def _part(stretch: Stretch, found: list[_Line] | None, known: dict[str, str]) -> Part:
    """Those of a stretch's lines that were written for its session, if they are what was held.
    `known` says whose history each session shares, by the stretches before; this one's are added.
    """
    roots, own = dict(known), ""
    decisions: list[_Line] = []
    outcomes: dict[str, bool] = {}
    ids: set[str] = set()
    for line in reversed(found or ()):
        if line.ok is None:
            # As the recorder has it: a session belongs where its first call says.
            root = roots.get(line.parent, line.parent) if line.parent else line.session
            if roots.setdefault(line.session, root) != stretch.session:
                continue
            decisions.append(line)
            ids.add(line.id)
        elif line.id in ids:
            outcomes[line.id] = line.ok
        else:
            continue
        own = folded(own, line.hash)
    known |= roots
    members = frozenset(name for name, root in roots.items() if root == stretch.session)
    if found is None or own != stretch.own:
        # Nothing counts; whoever may be a sub-agent shares what is not known, though.
        return Part(None, {}, members, False)
    return Part(decisions, outcomes, members, False)


def not_over(folder: str, session: str | None, id: object) -> Record | None:
    """The newest decision on the call of a host's id that let it run and has no outcome yet.

    Raises OSError where a file cannot be read.
    """
    over: dict[str, bool] = {}
    for number, (_, _, raw) in enumerate(_lines_back(folder)):
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


def _lines_back(folder: str) -> Iterator[tuple[str, int, bytes]]:
    """Every line of a ledger, the newest first: its file, where it begins, and its bytes."""
    for segment in reversed(segments(folder)):
        with open(segment.path, "rb") as file:
            data = file.read()
        end = len(data)
        while end > 0:
            start = data.rfind(b"\n", 0, end - 1) + 1
            yield segment.path, start, data[start:end]
            end = start


def _note(raw: bytes, outcomes: dict[str, bool]) -> None:
    link = _OUTCOME.search(raw)
    if link is not None:
        outcomes.setdefault(link[1].decode("ascii"), link[2] == b"true")
