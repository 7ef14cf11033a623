"""The calls of one host process: judged by the policy it began with and by the one there is now."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from time import time
from typing import Any, Final, NamedTuple

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.cache import home, within
from tool_intent.compiler.loading import AsksNothing, NoneFound, load, reopen
from tool_intent.guard.recalling import Recall
from tool_intent.guard.recording import UNRECORDED, Recording
from tool_intent.ledger.recorder import Recorder, Stretch, Ticket, Told
from tool_intent.ledger.touching import needed
from tool_intent.runtime.decision import Decision, decided
from tool_intent.runtime.extend import Advert, collisions, extend
from tool_intent.runtime.judge import without
from tool_intent.runtime.message import model_message
from tool_intent.runtime.model import Call, Finding, Keeping, Point, Verdict
from tool_intent.runtime.pointer import tokens
from tool_intent.runtime.program import Program
from tool_intent.runtime.session import Outcome
from tool_intent.runtime.strip import Carrier, places
from tool_intent.runtime.together import together
from tool_intent.surfaces.held import Held, held_by, judged_by, merged, own_fields
from tool_intent.surfaces.refusals import Refusals, enough

#: What is judged by where no policy is found: whoever installs a surface wants reasons.
FALLBACK: Final = "std/baseline"
#: Calls whose decision is kept for their outcome.
_MOST_OPEN: Final = 10_000


class Unavailable(Exception):
    """Calls cannot be judged here at all; the text says why."""


class State(NamedTuple):
    """The policies in force: digests, the one the session began with first; how to reopen each;
    what a person is to be told; whether anything is asked for at all."""

    policies: tuple[str, ...]
    kept: tuple[str, ...]
    notes: tuple[str, ...]
    asks: bool
    reads_history: bool
    max_retries: int


class Plan(NamedTuple):
    """What to do to one tool's schema: the adverts, the schema as it is to look then, `(place,
    reason)` for what cannot be advertised, every field's name, and the arguments that may be read
    or recorded (None: any)."""

    name: str
    adverts: tuple[Advert, ...]
    schema: Any
    not_advertised: tuple[tuple[str, str], ...]
    fields: tuple[str, ...]
    reads: tuple[str, ...] | None


class Judgement(NamedTuple):
    """A decision by all policies in force. `strip` are the paths of fields in the arguments, to be
    deleted before an allowed call is carried out; `stop` says that the model has been refused
    often enough."""

    decision: Verdict
    message: str | None
    findings: tuple[Finding, ...]
    strip: tuple[tuple[str | int, ...], ...]
    stop: bool
    refusals: int
    policies: tuple[str, ...]


class _Open(NamedTuple):
    tool: str
    verdict: Verdict
    ticket: Ticket | None
    #: Whether an earlier process recorded the decision.
    again: bool = False


class Judging:
    """Judges every call of a host process that works in `cwd`. Whatever fails inside denies.

    Not thread-safe: a host sends one line after the other.
    """

    def __init__(
        self,
        cwd: str,
        environ: Mapping[str, str] | None = None,
        held: Sequence[str] = (),
        recorder: Recorder | None = None,
        *,
        point: Point,
        earlier: Mapping[str | None, Sequence[Stretch]] | None = None,
        retold: bool = False,
    ) -> None:
        """`held` is `State.kept` of a process that served this session before; `point` is the
        surface that enforces; `earlier` is what was held of sessions that this host goes on with;
        with `retold` it tells `again` of all calls that it made since.

        Raises Unavailable where the engine could be changed by the calls it judges, or where a
        policy that was held is gone and the one there is now is another.
        """
        self._cwd = cwd
        self._point = point
        self._environ = os.environ if environ is None else environ
        self._recording = Recording(recorder)
        self._expect_outside()
        artifact, self._notes = self._load()
        recall = Recall(cwd, environ, earlier, retold=retold) if earlier else None
        if recall is not None:
            self._recording.go_on(recall.root_of)
        self._first = held_by(self._reopened(held[0], artifact) if held else artifact, recall)
        self._now = self._first if self._same(artifact) else held_by(artifact, recall)
        # A host gives a start more time than a decision.
        for session in earlier or ():
            for judges in self._all:
                if judges.sessions is not None:
                    judges.sessions.go_on(session)
        self._schemas: dict[str, dict[str, Any]] = {}
        self._advertised: dict[str, dict[Carrier, None]] = {}
        self._refusals = Refusals()
        self._open: OrderedDict[tuple[str | None, Any], _Open] = OrderedDict()

    @property
    def state(self) -> State:
        """The policies in force."""
        artifacts = [h.artifact for h in self._all]
        asks = not any(note.startswith("nothing is asked") for note in self._notes)
        notes = [*self._notes, *(n for a in artifacts for n in a.notes), *self._recording.notices]
        if len(artifacts) > 1:
            notes.append(
                "the policy changed on disk: this session is judged by the one it began with and"
                " by the new one; start a new session to leave the first behind"
            )
        return State(
            tuple(a.digest for a in artifacts),
            tuple(a.kept for a in artifacts),
            tuple(dict.fromkeys(notes)),
            asks,
            any(a.reads_history for a in artifacts),
            min(a.max_retries for a in artifacts),
        )

    @property
    def sources(self) -> list[tuple[str, str, str]]:
        """`(file, rank, digest)` of every policy file, pack and catalog in force."""
        found = [(s.shown, s.rank, s.digest) for h in self._all for s in h.artifact.policy.sources]
        return list(dict.fromkeys(found))

    @property
    def broken(self) -> list[str]:
        """`file:line:column: message` of every error in the policies in force."""
        found = [d for h in self._all for d in h.artifact.policy.broken]
        return [f"{d.file}:{d.line}:{d.column}: {d.message}" for d in dict.fromkeys(found)]

    def reload(self) -> State:
        """Look whether the policy on disk is another; both are judged from then on."""
        artifact, self._notes = self._load()
        if self._same(artifact):
            self._now = self._first
        elif artifact.digest != self._now.artifact.digest:
            self._now = held_by(artifact)
        return self.state

    def extend(self, tool: Mapping[str, Any]) -> Plan:
        """What a tool is to advertise; `tool` has `name` and, as far as known, `description` and
        `inputSchema`, which is remembered as the tool's own."""
        name = tool["name"]
        schema = tool.get("inputSchema")
        if schema is not None and self._is_own(name, schema):
            self._schemas[name] = schema
        else:
            self._schemas.pop(name, None)
        programs = self._programs(name)
        adverts = merged(programs)
        extended, refused = extend(tool, adverts)
        closed = {place for place, _ in refused}
        said = tuple(a for a in adverts if ".".join(a.at).replace(".[]", "[]") not in closed)
        self._advertised.setdefault(name, {}).update(dict.fromkeys(self._mine(name, programs)))
        reads = [p.reads for p in programs]
        if self._recording.keeps:
            reads += [tuple(needed(p.roles)) for p in programs]
        anything = self.state.reads_history or None in reads
        return Plan(
            name,
            said,
            extended.get("inputSchema"),
            refused,
            tuple(dict.fromkeys(f for c in self._advertised[name] for f in (*c.fields, *c.own))),
            None if anything else tuple(sorted({n for names in reads for n in names or ()})),
        )

    def decide(
        self,
        call: Call,
        *,
        again: bool = False,
        invalid: bool = False,
        parent: str | None = None,
        omitted: tuple[Any, ...] = (),
    ) -> Judgement:
        """The decision on a call, by every policy in force; the strongest stands.

        The outcome of an allowed call is told later, with `outcome`. `again` is for a call that an
        earlier process has judged and recorded, and that this one is to remember; `invalid` for one
        that the host has refused already: passing here does not end a row of refusals. `parent` and
        `omitted` are for the record, as in `ledger.recorder.Told`.
        """
        call = call._replace(
            now=time() if call.now is None else call.now, schema=self._schemas.get(call.tool)
        )
        judged = [judged_by(held, call, spends=not (again or invalid)) for held in self._all]
        found = dict.fromkeys(f for decision in judged for f in decision.findings)
        policies = tuple(h.artifact.digest for h in self._all)
        decision = decided(call.id, call.tool, tuple(found), None, (), " ".join(policies))
        ticket = None
        if not again and self._recording.keeps:
            said = together(judged, found, self._advertised.get(call.tool, ()), decision.policy)
            recorded, ticket = self._recorded(Told(call, said, parent=parent, omitted=omitted))
            found |= dict.fromkeys(f for f in recorded.findings if f.rule == UNRECORDED)
            decision = decided(call.id, call.tool, tuple(found), None, (), decision.policy)
        verdict = decision.decision
        passes = verdict == "allow" and not invalid
        refused = True if verdict == "deny" else False if passes else None
        count = self._refusals.counted(call.session, call.tool, refused)
        if verdict != "allow":
            stop = count >= self.state.max_retries
            message = model_message(call.tool, verdict, tuple(found))
            if verdict == "deny" and stop:
                first = message.rpartition("\n")[0]
                message = f"{first}\n{enough(call.tool, count)}"
            strip = self._strip(call) if verdict == "ask" else ()
            self._keep(call, verdict, ticket, again)
            return Judgement(verdict, message, tuple(found), strip, stop, count, policies)
        self._keep(call, verdict, ticket, again)
        return Judgement(verdict, None, tuple(found), self._strip(call), False, 0, policies)

    def outcome(
        self,
        session: str | None,
        id: Any,
        ok: bool,
        result: str | None = None,
        *,
        again: bool = False,
    ) -> None:
        """Note what came of a call that was allowed, or approved by a person (which ends a row of
        refusals), and what its result said. `again` is for what an earlier process has noted and
        recorded."""
        outcome: Outcome = "passed" if ok else "failed"
        for held in self._all:
            if held.sessions is not None:
                held.sessions.outcome(session, id, outcome, result)
        opened = self._open.pop((session, id), None)
        if opened is not None and opened.verdict == "ask":
            self._refusals.counted(session, opened.tool, False)
        if not again:
            self._recording.outcome(self._ticket(opened, session, id), ok)

    def ended(self, session: str | None, id: Any, ok: bool) -> None:
        """Record what came of a call while its files are as it left them; `outcome` may be told
        later, when other calls have changed them."""
        opened = self._open.get((session, id))
        ticket = self._ticket(opened, session, id)
        if opened is not None:
            self._open[session, id] = opened._replace(ticket=None, again=False)
        self._recording.outcome(ticket, ok)

    def stretch(self, session: str) -> Stretch | None:
        """What was recorded of a session by this process; what to hold of it for a restart."""
        return self._recording.stretch(session)

    def refused(self, session: str | None, tool: str) -> str | None:
        """Count a refusal that was not ours (the host's own, or a person's); what to tell the model
        where there were enough of this tool in a row."""
        count = self._refusals.counted(session, tool, True)
        return enough(tool, count) if count >= self.state.max_retries else None

    @property
    def _all(self) -> tuple[Held, ...]:
        return (self._first,) if self._now is self._first else (self._first, self._now)

    def _same(self, artifact: Artifact) -> bool:
        return artifact.digest == self._first.artifact.digest

    def _load(self) -> tuple[Artifact, tuple[str, ...]]:
        """The artifact of the policies found, and what a person must be told of them."""
        try:
            return self._loaded(), ()
        except NoneFound:
            note = (
                f"no policy was found: calls are judged by {FALLBACK} (tool-intent init writes one)"
            )
            return self._loaded(FALLBACK), (note,)
        except AsksNothing as error:
            note = f"nothing is asked of any call: {error}"
            return self._loaded(allow_empty=True), (note,)

    def _loaded(self, *sources: str, allow_empty: bool = False) -> Artifact:
        return load(
            sources, cwd=self._cwd, environ=self._environ, allow_empty=allow_empty, remember=True,
            point=self._point,
        )  # fmt: skip

    def _reopened(self, kept: str, now: Artifact) -> Artifact:
        if kept == now.kept and kept:
            return now
        found = reopen(kept, cwd=self._cwd, environ=self._environ, point=self._point)
        if found is None:
            raise Unavailable(
                "the engine was started again, and the policy that this session began with cannot"
                " be had any more; start a new session"
            )
        return found

    def _expect_outside(self) -> None:
        """What judges must not be within the reach of what it judges."""
        if within(home(self._environ), self._cwd):
            return  # who works in a home folder could change anything that starts from it
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        if within(package, self._cwd):
            raise Unavailable(
                f"the engine is installed inside the workspace ({package}), where the calls that it"
                " judges could change it; install it elsewhere, for example with pipx"
            )

    def _programs(self, tool: str) -> list[Program]:
        own = self._schemas.get(tool)
        return [h.artifact.program(tool, own) for h in self._all]

    def _is_own(self, tool: str, schema: Any) -> bool:
        """Whether a tool's schema defines a field, or a catalog says that the tool does."""
        for artifact in (h.artifact for h in self._all):
            known = artifact.program(tool)
            if known.taken or collisions(schema, known.carriers):
                return True
            if artifact.program(tool, schema) is not known:
                return True
        return False

    def _mine(self, tool: str, programs: Iterable[Program]) -> Iterable[Carrier]:
        """The carriers of fields that are not the tool's own arguments."""
        own = self._schemas.get(tool)
        for program in programs:
            carriers = program.carriers
            taken = program.taken if own is None else own_fields(own, carriers)
            yield from without(carriers, taken) if taken else carriers

    def _strip(self, call: Call) -> tuple[tuple[str | int, ...], ...]:
        """Where fields are in the arguments, those of every entry ever advertised included."""
        carriers = dict.fromkeys(self._mine(call.tool, self._programs(call.tool)))
        former = tuple(self._advertised.get(call.tool, ()))
        own = self._schemas.get(call.tool)
        carriers |= dict.fromkeys(
            former if own is None else without(former, own_fields(own, former))
        )
        found: dict[tuple[str | int, ...], None] = {}
        for carrier in carriers:
            for pointer, place in places(call.args, carrier.at):
                way = tuple(
                    int(token) if step == "[]" else token
                    for token, step in zip(tokens(pointer), carrier.at, strict=True)
                )
                found.update(dict.fromkeys((*way, f) for f in carrier.fields if f in place))
        return tuple(found)

    def _recorded(self, told: Told) -> tuple[Decision, Ticket | None]:
        programs = self._programs(told.call.tool)
        roles = {role: at for p in reversed(programs) for role, at in p.roles.items()}
        kinds = tuple(dict.fromkeys(kind for p in programs for kind in p.kinds))
        keeping = reduce(Keeping.with_, (h.artifact.keeping for h in self._all))
        return self._recording.decision(told._replace(kinds=kinds, roles=roles, keeping=keeping))

    def _ticket(self, opened: _Open | None, session: str | None, id: Any) -> Ticket | None:
        """Where to record what came of a call; an earlier process may have recorded the call."""
        if opened is None or opened.again:
            return self._recording.not_over(session, id)
        return opened.ticket

    def _keep(self, call: Call, verdict: Verdict, ticket: Ticket | None, again: bool) -> None:
        self._open[call.session, call.id] = _Open(call.tool, verdict, ticket, again)
        if len(self._open) > _MOST_OPEN:
            self._open.popitem(last=False)
