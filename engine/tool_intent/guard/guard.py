"""The Python surface: judge a call, strip its fields, hand the rest to the real tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from time import time
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.ledger.recorder import NullRecorder, Recorder
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.extend import collisions, extend
from tool_intent.runtime.judge import judge, not_judged, without
from tool_intent.runtime.model import Call, Scalar
from tool_intent.runtime.sessions import Sessions
from tool_intent.runtime.strip import duplicate, strip

if TYPE_CHECKING:
    from tool_intent.guard.wrapping import GuardedTool

Result = TypeVar("Result")


class Denied(Exception):
    """A call was refused and its tool was not run. Trying again does not help: the same call is
    refused again. `str` is the message for the model; `decision` says everything."""

    retryable: Final = False

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.message)
        self.decision = decision


class Guard:
    """Judges calls by the policies that apply. Thread-safe; the policy is the one that was loaded.

    Whatever goes wrong while judging denies: `check` does not raise for any call.
    """

    def __init__(
        self, artifact: Artifact, *, recorder: Recorder | None = None, now: float | None = None
    ) -> None:
        """Use `Guard.load`. `now` (seconds since the epoch, UTC) fixes the clock."""
        self._artifact = artifact
        self._recorder: Recorder = NullRecorder() if recorder is None else recorder
        self._now = now
        self._program = artifact.program
        self._sessions = Sessions(artifact.new_history) if artifact.reads_history else None
        self._digest = artifact.digest
        self._schemas: dict[str, dict[str, Any]] = {}
        self._not_advertised: dict[str, tuple[tuple[str, str], ...]] = {}

    @classmethod
    def load(
        cls,
        *sources: str,
        cwd: str | None = None,
        now: float | None = None,
        recorder: Recorder | None = None,
    ) -> Self:
        """A guard by the policies found from `cwd` (default: the current directory), and by
        `sources`: files, folders or pack names, which add to those and replace none.

        A policy that was found and is broken makes a guard that denies every call. Raises
        PolicyError where there is no policy, where it asks for nothing, or where one of `sources`
        is broken.
        """
        artifact = load([str(s) for s in sources], cwd=cwd)
        return cls(artifact, recorder=recorder, now=now)

    @property
    def policy(self) -> str:
        """The digest of the policy, `sha256:…`."""
        return self._digest

    @property
    def not_advertised(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """Tools given to `extend` whose schema could not take every field: `(place, reason)` each.
        Their calls are judged all the same."""
        return dict(self._not_advertised)

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever runs the host should know of how the policies were loaded."""
        return self._artifact.notes

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
        """The decision on a call of `tool`; `args` is not changed.

        `id` is echoed. Calls of one `session` (also those that name none) are each other's
        history; an allowed one counts as passed once the next is checked. `context` is what the
        host knows: agent, model, branch, repo, user, hour, weekday, cwd. `schema` is the tool's own
        argument schema: a field that it defines is the tool's argument, not a reason.
        """
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
    ) -> tuple[Decision, int | None]:
        """The decision, and the call's number in its session where sessions are remembered."""
        try:
            if schema is None and self._schemas:
                schema = self._schemas.get(tool)
            program = self._program(tool)
            if program.rules is None and self._sessions is None:
                return judge(program, id, args, self._digest, schema), None
            now = time() if self._now is None else self._now
            told = None if context is None else dict(context)
            own = None if schema is None else dict(schema)
            call = Call(id, tool, args, told, session, now, own)
            if self._sessions is None:
                return self._artifact.decide(call), None
            return self._sessions.judge(call, self._artifact.decide, will_tell=will_tell)
        except Exception as error:
            return not_judged(tool, id, self._digest, error), None

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
        program = self._program(name)
        schema = tool.get("inputSchema")
        extended, refused = extend(tool, program.adverts)
        if schema is not None and (program.taken or collisions(schema, program.carriers)):
            self._schemas[name] = duplicate(schema)
        else:
            self._schemas.pop(name, None)
        if refused:
            self._not_advertised[name] = refused
        else:
            self._not_advertised.pop(name, None)
        return extended

    def strip(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of `args` without fields, unjudged. What the tool itself defines stays."""
        program = self._program(tool)
        own = self._schemas.get(tool)
        taken = program.taken if own is None else set(collisions(own, program.carriers))
        return strip(duplicate(dict(args)), without(program.carriers, taken))

    def call(
        self, tool: str, args: Any, execute: Callable[[dict[str, Any]], Result], **as_check: Any
    ) -> Result:
        """Judge, and run `execute` with the stripped arguments; returns what it returns.

        Raises Denied where the call is not allowed; then `execute` has not run.
        """
        decision, number = self._admit(tool, args, **as_check)
        ok = False
        try:
            result = execute(_arguments(decision))
            ok = True
        finally:
            self._came_of(decision, number, ok, as_check.get("session"))
        return result

    async def acall(
        self,
        tool: str,
        args: Any,
        execute: Callable[[dict[str, Any]], Awaitable[Result]],
        **as_check: Any,
    ) -> Result:
        """`call`, for an `execute` that is awaited."""
        decision, number = self._admit(tool, args, **as_check)
        ok = False
        try:
            result = await execute(_arguments(decision))
            ok = True
        finally:
            self._came_of(decision, number, ok, as_check.get("session"))
        return result

    def tool(self, function: Callable[..., Any]) -> GuardedTool:
        """Decorator: calls of the function carry the policy's fields as keyword arguments.

        The schema comes from the signature, the description from the docstring; `spec` on the
        result is what to show a model. The function itself is not reachable past the guard.
        """
        from tool_intent.guard.wrapping import GuardedTool

        return GuardedTool(self, function)

    def _came_of(
        self, decision: Decision, number: int | None, ok: bool, session: str | None
    ) -> None:
        if self._sessions is not None and number is not None:
            self._sessions.came_of(session, number, "passed" if ok else "failed")
        self._recorder.outcome(decision, ok, session)

    def _admit(self, tool: str, args: Any, **as_check: Any) -> tuple[Decision, int | None]:
        decision, number = self._judged(tool, args, **as_check, will_tell=True)
        self._recorder.decision(decision, as_check.get("session"))
        if not decision.allowed:
            raise Denied(decision)
        return decision, number


def _arguments(decision: Decision) -> dict[str, Any]:
    args = decision.args
    assert args is not None, "an allowed call has an arguments object"
    return args
