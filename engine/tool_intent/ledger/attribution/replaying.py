"""Snapshots of files by their content, each carried from the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from tool_intent.ledger.attribution.carrying import Change, carried
from tool_intent.ledger.attribution.hops import Author, Hop, Step
from tool_intent.ledger.attribution.model import UNTRACKED, Attributed, count_lines
from tool_intent.ledger.attribution.moves import is_telling
from tool_intent.ledger.attribution.renames import keys, origins
from tool_intent.ledger.attribution.union import joined

#: The content with a git blob id, None where it is not kept.
Contents: TypeAlias = Callable[[str], bytes | None]

#: Latest versions of one file, on branches and in work trees, that are looked at.
MOST_TIPS: Final = 8


class Tip(NamedTuple):
    """A version of a file that no later one goes on from: its content's id, and what is known of
    it."""

    oid: str
    known: Attributed


class _Before(NamedTuple):
    """A file as it was when a call began: what is known of it, the versions that it goes on from,
    and whether its content is known at all."""

    known: Attributed | None
    replaced: tuple[str, ...]
    seen: bool


class Replay:
    """The files of a ledger as its calls left them, with an owner (an `Author`) for each line."""

    def __init__(self, contents: Contents, names: Sequence[str] = ()) -> None:
        """`names` are paths that git says are one file, renamed."""
        self._contents = contents
        self._family = dict.fromkeys(names, names[0] if names else "")
        self._tips: dict[str, list[Tip]] = {}
        self._known: dict[str, dict[str, Attributed]] = {}
        self._needed: dict[str, int] = {}
        self._now = 0

    def run(self, steps: Iterable[Step], asked: Iterable[str] = ()) -> None:
        """Carry ownership over all steps. `asked` are the ids of contents to be told of later."""
        turns = [(step.call, hops) for step in steps for hops in _in_turn(step.hops)]
        needed = {
            oid: n for n, (_, hops) in enumerate(turns) for hop in hops for oid in _asked_for(hop)
        }
        self._needed = needed | dict.fromkeys([*self._known, *asked], len(turns))
        for self._now, (call, hops) in enumerate(turns):
            self._turn(call, hops)

    def seed(self, path: str, oid: str, known: Attributed) -> None:
        """What is known of a content from elsewhere, before any call is gone through."""
        self._needed[oid] = 1
        self._keep(path, oid, known, ())

    @property
    def tips(self) -> Mapping[str, Sequence[Tip]]:
        """The last versions of the files, oldest first."""
        return self._tips

    def resume(self, tips: Mapping[str, Sequence[Tip]]) -> None:
        """Begin where another replay ended, as far as the last versions of files tell."""
        for name, of in tips.items():
            self._tips[name] = list(of)
            for oid, known in of:
                self._known.setdefault(oid, {})[name] = known

    def named(self, path: str) -> str:
        """The file that a path is one of the names of."""
        return self._family.get(path, path)

    def attributed(self, path: str, oid: str, text: bytes) -> Attributed:
        """The owners of the lines of a file as it is now: as they are known of just this content,
        else carried from the versions before it."""
        return self._found(path, oid, text)[0]

    # --- one call --------------------------------------------------------------------------------

    def _turn(self, call: str, hops: Sequence[Hop]) -> None:
        before = [self._before(hop) for hop in hops]
        after = [None if hop.post is None else self._contents(hop.post) for hop in hops]
        for n, m in origins(hops, [one.known for one in before], after).items():
            before[n], before[m] = before[m], _Before(None, (), seen=True)
        changes = [
            Change(one.known, text or b"", Author(call, hop.entries) if _tells(hop, one) else None)
            for hop, one, text in zip(hops, before, after, strict=True)
        ]
        recalled = [self._recalled(hop, text) for hop, text in zip(hops, after, strict=True)]
        results = [
            then if known is None else known
            for known, then in zip(recalled, carried(changes), strict=True)
        ]
        for hop, one, text, known in zip(hops, before, after, results, strict=True):
            if hop.post is None:
                self._forget(hop)
            elif text is not None:
                self._keep(hop.path, hop.post, known, one.replaced)
        self._release(hops)

    def _before(self, hop: Hop) -> _Before:
        if hop.pre is None:
            return _Before(None, (), seen=True)
        here = self._known.get(hop.pre, {}).get(self.named(hop.path))
        text = here.text if here is not None else self._contents(hop.pre)
        if text is None:
            tips = self._tips.get(self.named(hop.path), [])
            return _Before(tips[-1].known if tips else None, (), seen=False)
        known, replaced = self._found(hop.path, hop.pre, text)
        return _Before(known, replaced, seen=True)

    def _recalled(self, hop: Hop, text: bytes | None) -> Attributed | None:
        """What is known of a content that a shell command put there again, or copied: it wrote
        none of it."""
        if not hop.commanded or hop.post is None or text is None:
            return None
        known = self._known.get(hop.post, {})
        here = known.get(self.named(hop.path))
        if here is not None or not known or not is_telling(keys(text)):
            return here
        return list(known.values())[-1]

    def _found(self, path: str, oid: str, text: bytes) -> tuple[Attributed, tuple[str, ...]]:
        """The owners of a text, and the ids of the versions that it goes on from."""
        known = self._known.get(oid, {})
        here = known.get(self.named(path))
        if here is not None:
            return here, (oid,)
        latest = self._tips.get(self.named(path), [])[::-1]
        if latest:
            found, used = joined(text, [tip.known for tip in latest])
            return found, tuple(latest[n].oid for n in used)
        # The same text under another name: a file that somebody renamed or copied.
        if known and is_telling(keys(text)):
            return list(known.values())[-1], ()
        return Attributed(text, [UNTRACKED] * count_lines(text)), ()

    # --- what is kept ----------------------------------------------------------------------------

    def _keep(self, path: str, oid: str, known: Attributed, replaced: Sequence[str]) -> None:
        name = self.named(path)
        tips = [tip for tip in self._tips.get(name, []) if tip.oid not in (oid, *replaced)]
        self._tips[name] = [*tips, Tip(oid, known)][-MOST_TIPS:]
        if self._needed.get(oid, -1) > self._now:
            latest = self._known.setdefault(oid, {})
            latest.pop(name, None)
            latest[name] = known

    def _forget(self, hop: Hop) -> None:
        """A file is gone: what comes there later is another one, unless it has the same content."""
        name = self.named(hop.path)
        self._tips[name] = [tip for tip in self._tips.get(name, []) if tip.oid != hop.pre]

    def _release(self, hops: Iterable[Hop]) -> None:
        """Let go of contents that no later call begins with: all versions of a file at once may
        not fit into memory."""
        for hop in hops:
            for oid in _asked_for(hop):
                if self._needed.get(oid, -1) <= self._now:
                    self._known.pop(oid, None)


def _tells(hop: Hop, before: _Before) -> bool:
    """Whether what a call changed of a file is what it made: without what was there before, nobody
    can tell, nor where others were at work on it."""
    return before.seen and hop.sure


def _asked_for(hop: Hop) -> Iterator[str]:
    """The contents of which a call needs to know who wrote them."""
    if hop.pre is not None:
        yield hop.pre
    if hop.commanded and hop.post is not None:
        yield hop.post


def _in_turn(hops: Sequence[Hop]) -> list[list[Hop]]:
    """Groups of hops that each have a file at most once, in their order: a record may have a file
    several times, for one entry of the call after another."""
    groups: list[list[Hop]] = []
    turn: dict[str, int] = {}
    for hop in hops:
        turn[hop.path] = place = turn.get(hop.path, -1) + 1
        if place == len(groups):
            groups.append([])
        groups[place].append(hop)
    return groups
