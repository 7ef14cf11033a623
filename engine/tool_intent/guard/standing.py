"""The policies that stand in one session: the one it began with, and the newest that is good.

A change on disk adds to what is asked and takes nothing away: who is judged cannot change the
judge.
"""

from __future__ import annotations

import os
import threading
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import PolicyError, answer, find
from tool_intent.guard.watching import Watch
from tool_intent.policy.opening import is_waivers
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.extend import Advert, collisions
from tool_intent.runtime.judge import not_judged, without
from tool_intent.runtime.model import Call, Finding, Keeping
from tool_intent.runtime.sessions import Sessions
from tool_intent.runtime.strip import Carrier, Steps
from tool_intent.runtime.together import adverts_of, digest_of, together

if TYPE_CHECKING:
    from collections.abc import Mapping, Set
    from typing import Any

    from tool_intent.compiler.query import Places
    from tool_intent.guard.recalling import Recall
    from tool_intent.runtime.program import Program

#: Seconds after which a call looks at the disk again: a stricter policy counts that late at most.
INTERVAL: Final = 0.1
#: Seconds between attempts to load what could not be used: meanwhile every call is denied.
RETRY: Final = 1.0
#: Tools whose former fields are remembered.
_MOST_TOOLS: Final = 20_000


#: Where to tell what came of a call: the sessions, and its number there.
Tried: TypeAlias = "tuple[Sessions, int]"


class Judge:
    """One policy, with the histories of its sessions. `judge` does not raise."""

    def __init__(self, artifact: Artifact, recall: Recall | None = None) -> None:
        """`recall` tells the histories of sessions what went before."""
        self.artifact = artifact
        self.sessions: Sessions | None = None
        if artifact.reads_history:
            known = None if recall is None else partial(recall, artifact)
            root_of = None if recall is None else recall.root_of
            self.sessions = Sessions(artifact.new_history, known, root_of)

    def judge(self, call: Call, *, will_tell: bool) -> tuple[Decision, int | None]:
        """The decision, and the call's number in its session where sessions are remembered."""
        try:
            if self.sessions is None:
                return self.artifact.decide(call), None
            return self.sessions.judge(call, self.artifact.decide, will_tell=will_tell)
        except Exception as error:
            return not_judged(call.tool, call.id, self.artifact.digest, error), None


class Standing:
    """Which policies judge. Thread-safe: one thread looks at the disk, the others go on."""

    def __init__(self, begin: Artifact, recall: Recall | None = None) -> None:
        """`recall` tells histories of sessions of the policy that they begin with what went
        before."""
        self.begin = self.newest = Judge(begin, recall)
        #: When, by the monotonic clock, the next call has to ask `look`.
        self.due = inf
        self._faults: tuple[Finding, ...] = ()
        self._former: dict[str, dict[Carrier, None]] = {}
        self._query = begin.loaded.query
        self._watch = Watch(begin.loaded)
        self._roots: dict[str, str] = {}
        self._next = inf
        self._lock = threading.Lock()
        if self._query is not None:
            self._note_roots(begin)
            self._next = self.due = monotonic() + INTERVAL

    @property
    def digest(self) -> str:
        """The digest of the policies that judge, together."""
        return digest_of(j.artifact.digest for j in self._judges())

    @property
    def keeping(self) -> Keeping:
        """What the policies that judge ask of the record, together."""
        first, newest = self.begin.artifact.keeping, self.newest
        return first if newest is self.begin else first.with_(newest.artifact.keeping)

    def look(self) -> bool:
        """See what changed on disk, if it is time to. Whether anything but the policy that the
        session began with has a say, or had one."""
        if monotonic() >= self._next and self._lock.acquire(blocking=False):
            try:
                self._next = monotonic() + self._look()
            finally:
                self._lock.release()
        changed = bool(self._faults or self._former) or self.newest is not self.begin
        self.due = -inf if changed else self._next
        return changed

    def judge(self, call: Call, *, will_tell: bool) -> tuple[Decision, tuple[Tried, ...]]:
        """The decision of all, and where what comes of the call is to be told."""
        judges, faults = self._judges(), self._faults
        answers = [(judge, *judge.judge(call, will_tell=True)) for judge in judges]
        found = [decision for _, decision, _ in answers]
        findings = [finding for decision in found for finding in decision.findings]
        if len(judges) > 1 and self.begin.artifact.loaded.broken:
            findings = _mended(findings)
        former = self._stripped(call.tool, call.schema)
        digest = digest_of(judge.artifact.digest for judge in judges)
        decision = together(found, [*findings, *faults], former, digest)
        tried = tuple(
            (judge.sessions, number)
            for judge, _, number in answers
            if judge.sessions is not None and number is not None
        )
        if decision.allowed and not will_tell:
            for sessions, number in tried:
                sessions.presume(call.session, number)
        return decision, tried

    def adverts(self, tool: str, schema: Mapping[str, Any] | None) -> tuple[Advert, ...]:
        """What calls of a tool are to carry."""
        return adverts_of(p.adverts for p in self._programs(tool, schema))

    def carriers(self, tool: str, schema: Mapping[str, Any] | None) -> tuple[Carrier, ...]:
        """Every field that calls of a tool carry or carried, but those that are its own."""
        mine = (c for p in self._programs(tool, schema) for c in p.carriers)
        all_ = dict.fromkeys([*mine, *self._former.get(tool, ())])
        return without(tuple(all_), self._taken(tool, schema, tuple(all_)))

    def is_own(self, tool: str, schema: Mapping[str, Any]) -> bool:
        """Whether a tool's schema defines a field, or a catalog says that the tool does."""
        programs = self._programs(tool, None)
        if any(p.taken for p in programs) or programs != self._programs(tool, schema):
            return True
        carriers = (*(c for p in programs for c in p.carriers), *self._former.get(tool, ()))
        return bool(collisions(schema, carriers))

    def _taken(
        self, tool: str, schema: Mapping[str, Any] | None, carriers: tuple[Carrier, ...]
    ) -> Set[tuple[Steps, str]]:
        """The fields that the tool's own schema defines."""
        if schema is not None:
            return set(collisions(schema, carriers))
        return frozenset().union(*(p.taken for p in self._programs(tool, None)))

    def _programs(self, tool: str, schema: Mapping[str, Any] | None) -> list[Program]:
        return [j.artifact.program(tool, schema) for j in self._judges()]

    def _judges(self) -> tuple[Judge, ...]:
        newest = self.newest
        return (self.begin,) if newest is self.begin else (self.begin, newest)

    def _stripped(self, tool: str, schema: Mapping[str, Any] | None) -> tuple[Carrier, ...]:
        former = tuple(self._former.get(tool, ()))
        return without(former, self._taken(tool, schema, former)) if former else ()

    def _look(self) -> float:
        """Look at the disk; returns in how many seconds to do it again."""
        assert self._query is not None
        try:
            places = find(self._query)
            if not self._faults and not self._watch.changed(places):
                return INTERVAL
            self._faults = self._load(places)
        except PolicyError as error:
            self._faults = self._faults_of(error)
        except Exception as error:
            from tool_intent.compiler.faults import broken

            why = f"the policy cannot be loaded again ({type(error).__name__})"
            self._faults = (broken(why),)
        return RETRY if self._faults else INTERVAL

    def _load(self, places: Places) -> tuple[Finding, ...]:
        """Load what was found; what is to be said of it on every call."""
        assert self._query is not None
        artifact = answer(self._query, places)
        if artifact.loaded.broken:
            from tool_intent.compiler.faults import fault_findings

            return (*fault_findings(artifact.loaded.broken), *self._gone(whole=True))
        self._adopt(artifact)
        return self._gone(whole=False)

    def _adopt(self, artifact: Artifact) -> None:
        self._watch.follow(artifact.loaded)
        self._note_roots(artifact)
        first, before = self.begin.artifact, self.newest
        if artifact.digest == first.digest and not first.loaded.broken:
            self.newest = self.begin
        elif artifact.digest != before.artifact.digest:
            self.newest = Judge(artifact)
        if before is not self.begin and before is not self.newest:
            self._retire(before.artifact)

    def _retire(self, artifact: Artifact) -> None:
        """Its fields were advertised or asked for: a call that still carries them must not hand
        them to the tool."""
        former = dict(self._former)
        for program in artifact.programs():
            known = self.begin.artifact.program(program.tool).carriers
            left = [c for c in program.carriers if c not in known and c.fields]
            if left and (program.tool in former or len(former) < _MOST_TOOLS):
                former[program.tool] = former.get(program.tool, {}) | dict.fromkeys(left)
        self._former = former

    def _note_roots(self, artifact: Artifact) -> None:
        places = artifact.loaded.places
        if places is not None:
            found = [c.root for c in places.candidates if c.state == "loaded"]
            # A waiver that goes takes nothing that was asked for with it.
            self._roots |= {
                root.path: root.shown
                for root in (*found, *places.given)
                if not is_waivers(root.path)
            }

    def _faults_of(self, error: PolicyError) -> tuple[Finding, ...]:
        from tool_intent.compiler.faults import broken, fault_findings

        found = (*fault_findings(error.diagnostics), *self._gone(whole=True))
        return found or (broken(f"the policy cannot be used: {error}"),)

    def _gone(self, *, whole: bool) -> tuple[Finding, ...]:
        """What is there no more: of the files that were found or named; with `whole`, also of those
        that they name, without which they cannot be used."""
        from tool_intent.compiler.faults import missing

        files = dict(self._roots)
        for judge in self._judges() if whole else ():
            for file in judge.artifact.loaded.files:
                if not is_waivers(file.path):
                    files.setdefault(file.path, file.path)
        gone = [shown for path, shown in files.items() if _is_gone(path)]
        return tuple(
            missing(f"{shown} has gone while it was in use; what it asked for still holds")
            for shown in gone
        )


def _is_gone(path: str) -> bool:
    """Whether there is nothing at a path; what may not be looked at is not gone."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _mended(findings: list[Finding]) -> list[Finding]:
    """What is found where the policy that the session began with could not be used, and a newer one
    can: the session may not be let off, but need not be told of errors that are no more."""
    left = [f for f in findings if f.rule not in ("policy/broken", "policy/missing")]
    said = "the policy could not be used when this session began; it can by now"
    fix = "A person must start a new session."
    return [*left, Finding("policy/broken", "deny", "", said, fix)]
