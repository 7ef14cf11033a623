"""The Python surface: judge a call, strip its fields, hand the rest to the real tool."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, TypeVar

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.guard.recording import Recording, ledger
from tool_intent.guard.standing import Standing, Tried
from tool_intent.ledger.recorder import Recorder, Stretch, Told
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.extend import extend
from tool_intent.runtime.judge import judge, not_judged
from tool_intent.runtime.model import Call, Scalar
from tool_intent.runtime.program import Program
from tool_intent.runtime.strip import duplicate, strip

if TYPE_CHECKING:
    from tool_intent.guard.wrapping import GuardedTool

Result = TypeVar("Result")

#: An agent can invent tool names without end.
_MOST_PLAIN: Final = 20_000


class Denied(Exception):
    """A call was refused and its tool was not run. Trying again does not help: the same call is
    refused again. `str` is the message for the model; `decision` says everything.

    A call whose decision is `ask` may be carried out once a person has approved it; `came_of` then
    tells whether the tool did its work, so that rules on earlier calls know.
    """

    retryable: Final = False

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.message)
        self.decision = decision


_Settle: TypeAlias = Callable[[bool, str | None], None]


class Admission:
    """A call that was judged and recorded. Where it is carried out, `settle` tells what came of
    it, once; `decision` says whether it may be. `at_once` says that `settle` looks at files as the
    call left them, or has to put its record on the disk: others must not go on before."""

    __slots__ = ("_settle", "at_once", "decision")

    def __init__(self, decision: Decision, settle: _Settle, *, at_once: bool) -> None:
        self.decision = decision
        self.at_once = at_once
        self._settle: _Settle | None = settle

    def settle(self, ok: bool, said: str | None = None) -> None:
        """Tell whether the tool did its work, and its text; only the first time counts."""
        settle, self._settle = self._settle, None
        if settle is not None:
            settle(ok, said)


class Guard:
    """Judges calls by the policies that apply. Thread-safe.

    The policy that was loaded judges as long as the guard lives. Once its files change, the newest
    that can be used judges as well, and the stronger decision stands; a new guard begins with that.
    Whatever goes wrong while judging denies: `check` does not raise for any call.
    """

    def __init__(
        self,
        artifact: Artifact,
        *,
        recorder: Recorder | None = None,
        now: float | None = None,
        notice: Callable[[str], None] | None = None,
        held: Mapping[str | None, Sequence[Stretch]] | None = None,
        cwd: str | None = None,
    ) -> None:
        """Use `Guard.load`. `now` (seconds since the epoch, UTC) fixes the clock; `notice` takes
        what the person who runs the host should know of the record, else it is among `notes`;
        `held` says what the ledger of `cwd` tells of sessions that go on (None: of calls that name
        none)."""
        self._artifact = artifact
        self._recording = Recording(recorder, notice)
        self._now = now
        self._program = artifact.program
        self._held = {} if held is None else held
        recall = None
        if held:
            from tool_intent.guard.recalling import Recall

            recall = Recall(os.getcwd() if cwd is None else cwd, None, held)
            self._recording.go_on(recall.root_of)
        self._standing = Standing(artifact, recall)
        self._sessions = self._standing.begin.sessions
        self._digest = artifact.digest
        #: Schemas that `extend` was given, and those of them that define a field.
        self._known: dict[str, dict[str, Any]] = {}
        self._schemas: dict[str, dict[str, Any]] = {}
        self._not_advertised: dict[str, tuple[tuple[str, str], ...]] = {}
        #: Programs of tools whose calls need nothing but their arguments to be judged.
        self._plain: dict[str, Program] = {}
        self._lock = threading.Lock()

    @classmethod
    def load(
        cls,
        *sources: str,
        cwd: str | None = None,
        now: float | None = None,
        recorder: Recorder | None = None,
        held: Mapping[str, str] | None = None,
    ) -> Self:
        """A guard by the policies found from `cwd` (default: the current directory), and by
        `sources`: files, folders or pack names, which add to those and replace none.

        Calls are recorded in the ledger of `cwd`, or by `recorder`. `held` are sessions that go on
        after a restart, each with what `held` gave of it: their history comes from that ledger, and
        is unknown where the ledger is not what it was.

        A policy that was found and is broken makes a guard that denies every call. Raises
        PolicyError where there is no policy, where it asks for nothing, or where one of `sources`
        is broken; ValueError for a `held` that is none.
        """
        artifact = load([str(s) for s in sources], cwd=cwd, remember=True, point="python", now=now)
        here = os.getcwd() if cwd is None else os.path.abspath(cwd)
        if recorder is None:
            recorder = ledger("python", here)
        known: dict[str | None, Sequence[Stretch]] | None = None
        if held:
            from tool_intent.guard.recalling import held_of

            known = {session: held_of(text, session) for session, text in held.items()}
        return cls(artifact, recorder=recorder, now=now, held=known, cwd=here)

    @property
    def policy(self) -> str:
        """The digest of the policy, `sha256:…`; after a change, one over the digests of both that
        judge, a line each."""
        self._standing.look()
        return self._standing.digest

    def held(self, session: str) -> str | None:
        """What to hold of a session, so that `load` can go on with it after a restart: a text,
        which says what was recorded of it up to now. None where nothing was. To be kept where the
        calls that are judged cannot change it."""
        own = self._recording.stretch(session)
        kept = [*self._held.get(session, ()), *([] if own is None else [own])]
        return json.dumps([stretch._asdict() for stretch in kept]) if kept else None

    @property
    def not_advertised(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Tools given to `extend` whose schema could not take every field: `(place, reason)` each.
        Their calls are judged all the same."""
        return dict(self._not_advertised)

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever runs the host should know of how the policies were loaded, and of records
        that could not be kept."""
        return (*self._artifact.notes, *self._recording.notices)

    def check(
        self,
        tool: str,
        args: Any,
        *,
        id: Scalar = None,
        session: str | None = None,
        context: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Decision:
        """The decision on a call of `tool`; `args` is not changed, and nothing is recorded.

        `id` is echoed. Calls of one `session` (also those that name none) are each other's
        history; an allowed one counts as passed once the next is checked. `context` is what the
        host knows: agent, model, branch, repo, user, hour, weekday, cwd. `schema` is the tool's own
        argument schema: a field that it defines is the tool's argument, not a reason.
        """
        try:
            if schema is None and monotonic() < self._standing.due:
                program = self._plain.get(tool)
                if program is not None:
                    return judge(program, id, args, self._digest)
        except Exception as error:
            return not_judged(tool, id, self._digest, error)
        return self._judged(tool, args, id, session, context, schema, will_tell=False)[0]

    def _judged(
        self,
        tool: str,
        args: Any,
        id: Scalar = None,
        session: str | None = None,
        context: Mapping[str, Any] | None = None,
        schema: Mapping[str, Any] | None = None,
        *,
        will_tell: bool,
    ) -> tuple[Decision, tuple[Tried, ...]]:
        """The decision, and where what comes of the call is to be told."""
        try:
            standing = self._standing
            changed = monotonic() >= standing.due and standing.look()
            if schema is None:
                # A newer policy may call a field what is an argument of the tool.
                schema = (self._known if changed else self._schemas).get(tool)
            if not changed:
                program = self._program(tool, schema)
                if program.rules is None and not program.waivers and self._sessions is None:
                    if schema is None:
                        self._note_plain(program)
                    return judge(program, id, args, self._digest, schema), ()
            now = time() if self._now is None else self._now
            told = None if context is None else dict(context)
            own = None if schema is None else dict(schema)
            call = Call(id, tool, args, told, session, now, own)
            if changed:
                return standing.judge(call, will_tell=will_tell)
            if self._sessions is None:
                return self._artifact.decide(call), ()
            sessions = self._sessions
            decision, number = sessions.judge(call, self._artifact.decide, will_tell=will_tell)
        except Exception as error:
            return not_judged(tool, id, self._digest, error), ()
        return decision, ((sessions, number),)

    def check_many(self, calls: Iterable[Call | Mapping[str, Any]]) -> Iterator[Decision]:
        """The decision on each call, in order: `Call`s, or mappings with `tool` and, if given,
        `id`, `args` (absent is {}), `session`, `context`, `schema`."""
        for call in calls:
            given = call._asdict() if isinstance(call, Call) else call
            yield self.check(
                given.get("tool", ""),
                given.get("args", {}),
                id=given.get("id"),
                session=given.get("session"),
                context=given.get("context"),
                schema=given.get("schema"),
            )

    def extend(self, tool: Mapping[str, Any]) -> dict[str, Any]:
        """`{"name", "description", "inputSchema"}` with the fields that its calls are to carry.

        The input is not changed; the schema is remembered, as `check`'s `schema`, for later calls.
        What cannot be extended is returned as it is, and named in `not_advertised`.
        """
        name = tool["name"]
        schema = tool.get("inputSchema")
        standing = self._standing
        standing.look()
        extended, refused = extend(tool, standing.adverts(name, schema))
        with self._lock:
            for kept in (self._known, self._schemas, self._plain):
                kept.pop(name, None)
            if schema is not None:
                self._known[name] = duplicate(schema)
                if standing.is_own(name, schema):
                    self._schemas[name] = self._known[name]
        if refused:
            self._not_advertised[name] = refused
        else:
            self._not_advertised.pop(name, None)
        return extended

    def strip(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of `args` without fields, unjudged. What the tool itself defines stays."""
        carriers = self._standing.carriers(tool, self._known.get(tool))
        return strip(duplicate(dict(args)), carriers)

    def call(
        self, tool: str, args: Any, execute: Callable[[dict[str, Any]], Result], **as_check: Any
    ) -> Result:
        """Judge, and run `execute` with the stripped arguments; returns what it returns.

        Raises Denied where the call is not allowed; then `execute` has not run.
        """
        admission = self._allowed(tool, args, as_check)
        ok = False
        said: object = None
        try:
            said = result = execute(_arguments(admission.decision))
            ok = True
        except Exception as error:
            said = str(error)
            raise
        finally:
            admission.settle(ok, said if isinstance(said, str) else None)
        return result

    async def acall(
        self,
        tool: str,
        args: Any,
        execute: Callable[[dict[str, Any]], Awaitable[Result]],
        **as_check: Any,
    ) -> Result:
        """`call`, for an `execute` that is awaited."""
        admission = self._allowed(tool, args, as_check)
        ok = False
        said: object = None
        try:
            said = result = await execute(_arguments(admission.decision))
            ok = True
        except Exception as error:
            said = str(error)
            raise
        finally:
            admission.settle(ok, said if isinstance(said, str) else None)
        return result

    def admit(self, tool: str, args: Any, **as_check: Any) -> Admission:
        """Judge and record a call that the caller carries out itself, if it may: with
        `decision.args`, and telling what came of it with `settle`."""
        decision, tried = self._judged(tool, args, **as_check, will_tell=True)
        ticket = None
        if self._recording.keeps:
            decision, ticket = self._recording.decision(self._told(tool, args, decision, as_check))

        def settle(ok: bool, said: str | None = None) -> None:
            for sessions, number in tried:
                session = as_check.get("session")
                sessions.came_of(session, number, "passed" if ok else "failed", said)
            self._recording.outcome(ticket, ok)

        at_once = ticket is not None and bool(ticket.files or ticket.sync)
        return Admission(decision, settle, at_once=at_once)

    def tool(self, function: Callable[..., Any]) -> GuardedTool:
        """Decorator: calls of the function carry the policy's fields as keyword arguments.

        The schema comes from the signature, the description from the docstring; `spec` on the
        result is what to show a model. The function itself is not reachable past the guard.
        """
        from tool_intent.guard.wrapping import GuardedTool

        return GuardedTool(self, function)

    def _note_plain(self, program: Program) -> None:
        with self._lock:
            if len(self._plain) >= _MOST_PLAIN:
                self._plain.clear()
            if program.tool not in self._schemas:
                self._plain[program.tool] = program

    def _allowed(self, tool: str, args: Any, as_check: dict[str, Any]) -> Admission:
        admission = self.admit(tool, args, **as_check)
        if not admission.decision.allowed:
            raise Denied(admission.decision)
        return admission

    def _told(self, tool: str, args: Any, decision: Decision, as_check: dict[str, Any]) -> Told:
        program = self._artifact.program(tool)
        context = as_check.get("context")
        call = Call(
            as_check.get("id"), tool, args, None if context is None else dict(context),
            as_check.get("session"),
        )  # fmt: skip
        return Told(call, decision, program.kinds, program.roles, self._standing.keeping)


def _arguments(decision: Decision) -> dict[str, Any]:
    args = decision.args
    assert args is not None, "an allowed call has an arguments object"
    return args
