"""What a session did before, indexed by what rules ask of it, so that looking back costs the same
after ten calls and after ten thousand."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from tool_intent.runtime.hearing import Heard
from tool_intent.runtime.recalling import Recalled, is_known
from tool_intent.runtime.session import LONGEST_WINDOW, Earlier, Outcome, Past
from tool_intent.runtime.shelves import (
    NO_PLACE,
    AtomCode,
    Entry,
    Index,
    Key,
    Shelf,
    may_be,
    shortened,
    spellings,
)
from tool_intent.runtime.state import State

#: Calls that a condition which no index serves is tried on, newest first.
MOST_TRIED = 256


class Record(NamedTuple):
    """A judged call, kept whole for the walker."""

    number: int
    state: State


class SessionHistory:
    """The calls of one session, as rules look back at them.

    `keep` keeps every call whole, for explaining; else only what the atoms ask for is kept. `hears`
    is for rules that ask whether something was seen: then it is kept who said what first.
    """

    def __init__(
        self, atoms: Sequence[AtomCode], *, keep: bool = False, hears: bool = False
    ) -> None:
        self._atoms = atoms
        self._indices = [Index() for _ in atoms]
        self._next = 0
        self._times: list[float | None] = []
        #: The times again, as numbers, to look a window's start up in.
        self._clock: list[float] = []
        self._tools: list[str] = []
        self._first = 0
        self._outcomes: dict[int, Outcome] = {}
        self._shelves: dict[int, list[Shelf]] = {}
        self._clock_back_at = -1
        self._keep = keep
        self._heard = Heard() if hears else None
        #: Right before this call there may have been any that nobody knows of; -1 for no such gap.
        self._gap = -1
        self.records: list[Record] = []

    def tried(self, state: State) -> int:
        """Add a judged call, whatever came of it; returns its number."""
        number = self._numbered(state)
        for atom, index in zip(self._atoms, self._indices, strict=True):
            if atom.meant(state.tool):
                self._file(number, state.seen(atom.view), atom, index)
        if self._heard is not None:
            self._heard.agent(state.said())
        if self._keep:
            self.records.append(Record(number, state))
        self._forget()
        return number

    def recall(self, state: State, recalled: Recalled) -> int:
        """Add a call that an earlier process judged, as far as it is known; `state` is made of
        what is. Returns its number."""
        number = self._numbered(state)
        for atom, index in zip(self._atoms, self._indices, strict=True):
            if not atom.meant(state.tool):
                continue
            seen, ended = state.seen(atom.view), recalled.outcome is not None
            if is_known(recalled, atom, seen):
                self._file(number, seen, atom, index, ended=ended)
            else:
                nothing = tuple(None for _ in atom.captures(seen, (seen.args,)))
                key = (None,) * len(atom.by_place)
                self._shelve(index, key, Entry(number, nothing), sure=False, ended=ended)
        if recalled.outcome is not None and recalled.outcome != "tried":
            self.outcome(number, recalled.outcome)
        if self._heard is not None:
            self._heard.lose()
        self._forget()
        return number

    def lose(self) -> None:
        """Take it that any calls may have been made since the last one that is known."""
        self._gap = self._next
        if self._heard is not None:
            self._heard.lose()

    def outcome(self, number: int, outcome: Outcome) -> bool:
        """Note what came of a call; False where it is forgotten or was noted before."""
        if number < self._first or number >= self._next or number in self._outcomes:
            return False
        self._outcomes[number] = outcome
        if self._heard is not None:
            self._heard.ended()
        for shelf in self._shelves.get(number, ()):
            insort(shelf.by_outcome[outcome], number)
        return True

    def outcome_of(self, number: int) -> Outcome:
        """What is known to have come of a call: `tried` where nothing is."""
        return self._outcomes.get(number, "tried")

    # The view

    def earlier(
        self,
        state: State,
        past: Past,
        calls: int | None,
        seconds: float | None,
        since: Past | None,
    ) -> bool | None:
        sure, possible = self._found(state, past, calls, seconds, since)
        return True if sure else None if possible else False

    def count(
        self,
        state: State,
        past: Past,
        calls: int | None,
        seconds: float | None,
        since: Past | None,
    ) -> int | None:
        sure, possible = self._found(state, past, calls, seconds, since)
        return sure if sure == possible else None

    def recent(self, calls: int) -> Iterator[Earlier]:
        for number in range(self._next - 1, max(self._first, self._next - calls) - 1, -1):
            at = self._times[number - self._first]
            yield Earlier(number, self._tools[number - self._first], at, self.outcome_of(number))

    def seen(self, token: str) -> bool | None:
        return None if self._heard is None else self._heard.said(token)

    def hear_user(self, text: str) -> None:
        if self._heard is not None:
            self._heard.user(text)

    def hear_result(self, text: str) -> None:
        if self._heard is not None:
            self._heard.result(text)

    # Looking back

    def _found(
        self,
        state: State,
        past: Past,
        calls: int | None,
        seconds: float | None,
        since: Past | None,
    ) -> tuple[int, int]:
        """How many calls are surely meant, and how many possibly."""
        oldest, is_sure = self.bound(calls, seconds, state.now)
        after_sure, after_possible = (-1, -1) if since is None else self._last(state, since)
        first = max(oldest, after_sure + 1)
        first_sure = max(oldest, after_possible + 1)
        gap = self._gap >= 0 and after_sure < self._gap and self._reaches(calls, oldest, is_sure)
        if gap and (calls is not None or since is not None):
            # Calls in the gap count for the window, and may be what `since` asks for.
            first_sure = max(first_sure, self._gap)
        if past.rest is None:
            sure = self._count(past, first_sure, state)[0] if is_sure else 0
            return sure, self._count(past, first, state)[1] + gap
        sure_calls: set[int] = set()
        possible_calls: set[int] = set()
        for entry, certain in self._candidates(past, first, state):
            answer = past.rest(entry.captured)
            if answer is False:
                continue
            possible_calls.add(entry.number)
            if answer and certain and is_sure and entry.number >= first_sure:
                sure_calls.add(entry.number)
        more = self._count(past, first, state)[1] > MOST_TRIED
        return len(sure_calls), len(possible_calls) + more + gap

    def _reaches(self, calls: int | None, oldest: int, is_sure: bool) -> bool:
        """Whether a window may reach the calls that nobody knows of."""
        if calls is not None:
            return self._next - calls < self._gap
        return not is_sure or oldest <= self._gap

    def _last(self, state: State, since: Past) -> tuple[int, int]:
        """The newest call that is surely meant, and the newest that may be; -1 for none."""
        sure = possible = -1
        if since.rest is not None:
            for entry, certain in self._candidates(since, 0, state):
                answer = since.rest(entry.captured)
                if answer is not False:
                    possible = max(possible, entry.number)
                if answer and certain:
                    sure = max(sure, entry.number)
            return sure, possible
        for shelf, is_sure in self._shelves_of(since, state):
            numbers = shelf.by_outcome[since.outcome]
            newest = numbers[-1] if numbers else -1
            possible = max(possible, newest)
            if is_sure:
                sure = max(sure, newest)
        return sure, possible

    def bound(
        self, calls: int | None, seconds: float | None, now: float | None
    ) -> tuple[int, bool]:
        """The oldest call that a window reaches, and whether that is sure."""
        if calls is not None:
            return max(self._first, self._next - calls), True
        if now is None or seconds is None or (self._times and self._times[-1] is None):
            return self._first, False
        oldest = self._first + bisect_left(self._clock, now - seconds)
        sure = self._clock_back_at < oldest and (not self._clock or self._clock[-1] <= now)
        return (oldest, True) if sure else (self._first, False)

    def _count(self, past: Past, oldest: int, state: State) -> tuple[int, int]:
        """How many calls from `oldest` on are surely meant but for the rest, and how many may
        be."""
        sure: set[int] = set()
        possible: set[int] = set()
        shelves = self._shelves_of(past, state)
        if len(shelves) == 1:
            # The common case, in no more time for more calls.
            numbers = shelves[0][0].by_outcome[past.outcome]
            number = len(numbers) - bisect_left(numbers, oldest)
            return (number, number) if shelves[0][1] else (0, number)
        for shelf, is_sure in shelves:
            numbers = shelf.by_outcome[past.outcome]
            found = numbers[bisect_left(numbers, oldest) :]
            possible.update(found)
            if is_sure:
                sure.update(found)
        return len(sure), len(possible)

    def _candidates(self, past: Past, oldest: int, state: State) -> list[tuple[Entry, bool]]:
        """The calls from `oldest` on that may be meant, newest first, at most `MOST_TRIED`;
        whether each is sure but for the rest."""
        found: list[tuple[Entry, bool]] = []
        for shelf, is_sure in self._shelves_of(past, state):
            taken = 0
            for entry in reversed(shelf.entries):
                if entry.number < oldest or taken >= MOST_TRIED:
                    break
                if _holds(shelf.by_outcome[past.outcome], entry.number):
                    found.append((entry, is_sure))
                    taken += 1
        found.sort(key=lambda e: -e[0].number)
        return found[:MOST_TRIED]

    def _shelves_of(self, past: Past, state: State) -> list[tuple[Shelf, bool]]:
        """The shelves whose calls are meant or may be, and whether they surely are."""
        index, by_place = self._indices[past.atom], self._atoms[past.atom].by_place
        ways = spellings(past.keys, by_place, state)
        if [None] in ways:
            # The call being judged does not know all that it looks for.
            every = [*index.sure.items(), *index.unsure.items()]
            return [(shelf, False) for key, shelf in every if may_be(key, ways)]
        shelves = [(index.sure[key], True) for key in product(*ways) if key in index.sure]
        odd = [(shelf, False) for (_, key), shelf in index.odd.items() if may_be(key, ways)]
        return shelves + odd

    # Keeping

    def _numbered(self, state: State) -> int:
        """A number for the next call, made and timed as `state` says."""
        number = self._next
        self._next += 1
        self._note_time(number, state.now)
        self._tools.append(state.tool)
        return number

    def _file(
        self, number: int, state: State, atom: AtomCode, index: Index, *, ended: bool = True
    ) -> None:
        for spot in state.spots_of(atom.fields):
            answer = atom.filter(state, spot.chain)
            if answer is False:
                continue
            ways = spellings(atom.keys(state, spot.chain), atom.by_place, state, NO_PLACE)
            entry = Entry(number, atom.captures(state, spot.chain))
            for key in product(*ways):
                self._shelve(index, key, entry, sure=answer is True, ended=ended)

    def _shelve(self, index: Index, key: Key, entry: Entry, *, sure: bool, ended: bool) -> None:
        shelf = index.shelf(key, sure)
        self._put(shelf, entry)
        if ended:
            return
        # Nobody knows what came of it: it may have passed, or failed.
        maybe = index.shelf(key, sure=False)
        if maybe is not shelf:
            self._put(maybe, entry)
        for outcome in ("passed", "failed"):
            if not _holds(maybe.by_outcome[outcome], entry.number):
                maybe.by_outcome[outcome].append(entry.number)

    def _put(self, shelf: Shelf, entry: Entry) -> None:
        numbers = shelf.by_outcome["tried"]
        if not numbers or numbers[-1] != entry.number:
            numbers.append(entry.number)
            self._shelves.setdefault(entry.number, []).append(shelf)
        shelf.entries.append(entry)

    def _note_time(self, number: int, now: float | None) -> None:
        before = self._times[-1] if self._times else None
        if before is not None and now is not None and now < before:
            self._clock_back_at = number
        self._times.append(now)
        self._clock.append(float("-inf") if now is None else now)

    def _forget(self) -> None:
        """Let go of what no window reaches, now and then, so that it costs little a call."""
        if self._next - self._first < 2 * LONGEST_WINDOW:
            return
        oldest = self._next - LONGEST_WINDOW
        for number in range(self._first, oldest):
            self._outcomes.pop(number, None)
            self._shelves.pop(number, None)
        del self._times[: oldest - self._first]
        del self._clock[: oldest - self._first]
        del self._tools[: oldest - self._first]
        self._first = oldest
        for index in self._indices:
            for sure, shelves in ((True, index.sure), (False, index.unsure)):
                for key in list(shelves):
                    if not shortened(shelves[key], oldest):
                        del shelves[key]
                        index.odd.pop((sure, key), None)
        self.records = [r for r in self.records if r.number >= oldest]


def _holds(numbers: list[int], number: int) -> bool:
    """Whether a number is among ascending ones."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number
