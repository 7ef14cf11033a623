"""`decide`: calls as JSON lines on standard input, decisions as JSON lines on standard output.

On the call path: imports neither typer nor rich, and nothing of authoring time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from time import time
from typing import IO, Any, NamedTuple

from tool_intent.cli.lines import LineError, OutcomeLine, read_line
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import PolicyError, load
from tool_intent.runtime.judge import not_judged
from tool_intent.runtime.model import Call
from tool_intent.runtime.sessions import Sessions
from tool_intent.runtime.wire import dump

#: Calls whose session is remembered for the lines that say what came of them.
_MOST_IDS = 100_000
#: Seconds without a byte on standard input after which nobody is taken to be writing.
_SILENCE = 1.0


class Options(NamedTuple):
    """The command's options. `policy`: judge by these alone; empty: by what is found."""

    policy: tuple[str, ...] = ()
    cwd: str | None = None
    now: str | None = None
    allow_empty: bool = False


def options(arguments: Sequence[str]) -> Options | None:
    """The options, where they are plainly spelt; None leaves help and errors to typer."""
    given = Options()
    rest = list(arguments)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name == "--allow-empty" and not value:
            given = given._replace(allow_empty=True)
            continue
        if name not in ("--policy", "--cwd", "--now"):
            return None
        if not value:
            if not rest or rest[0].startswith("-"):
                return None
            value = rest.pop(0)
        if name == "--policy":
            given = given._replace(policy=(*given.policy, value))
        elif name == "--cwd":
            given = given._replace(cwd=value)
        else:
            given = given._replace(now=value)
    return given


def decide(given: Options) -> int:
    """Judge every line of standard input; the exit code is 0, or 2 for what could not be read."""
    if given.cwd is not None and not os.path.isdir(given.cwd):
        return _refuse(f"--cwd: there is no folder {given.cwd!r}")
    try:
        now = None if given.now is None else seconds(given.now)
        artifact = load(
            given.policy, cwd=given.cwd, found=not given.policy, allow_empty=given.allow_empty,
            now=now,
        )  # fmt: skip
    except ValueError as error:
        return _refuse(str(error))
    except PolicyError as error:
        return _refuse(explained(error))
    for note in artifact.notes:
        print(f"tool-intent: {note}", file=sys.stderr)
    try:
        return _judge_lines(artifact, now, sys.stdin.buffer, sys.stdout)
    except BrokenPipeError:
        # Nobody reads the answers any more: nothing is left to say, and nothing was allowed.
        sys.stdout = None  # or the interpreter flushes it at exit
        return 2


def seconds(now: str) -> float:
    """An RFC 3339 time, with its offset, as seconds since the epoch. Raises ValueError."""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(now)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ValueError(
            f"--now takes an RFC 3339 time with an offset, such as 2026-11-30T12:00:00Z,"
            f" not {now!r}"
        )
    return moment.timestamp()


def explained(error: PolicyError) -> str:
    """A policy error for standard error: every diagnostic with its line, then the sentence."""
    if not error.diagnostics:
        return str(error)
    from tool_intent.cli.diagnostics import rendered

    return f"{rendered(error.diagnostics)}\ntool-intent: {error}"


def _refuse(message: str) -> int:
    prefix = "" if "\ntool-intent: " in message else "tool-intent: "
    print(f"{prefix}{message}", file=sys.stderr, flush=True)
    _drain()
    return 2


def _drain() -> None:
    """Read what is being sent, or its writer would see a broken pipe and not our words.

    Standard output is closed first, so that a host waiting for an answer learns that none comes;
    one that keeps its end open in silence is not waited for.
    """
    import select

    sys.stdout.flush()
    os.close(sys.stdout.fileno())
    sys.stdout = None  # or the interpreter flushes it at exit
    source = sys.stdin.fileno()
    while select.select([source], [], [], _SILENCE)[0] and os.read(source, 1 << 20):
        pass


def _judge_lines(artifact: Artifact, now: float | None, lines: IO[bytes], out: IO[str]) -> int:
    sessions = Sessions(artifact.new_history) if artifact.reads_history else None
    ids: dict[str, str | None] = {}
    failed = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read = read_line(line, number)
            if isinstance(read, Call):
                call = read._replace(now=time() if now is None else now)
                answer = _answer(artifact, call, sessions)
                _remember(ids, read)
            else:
                answer = None
                _outcome(read, ids, sessions)
        except LineError as error:
            failed = True
            answer = {
                "line": number, "error": {"code": error.code, "message": error.message},
            }  # fmt: skip
        if answer is not None:
            out.write(dump(answer) + "\n")
            out.flush()
    return 2 if failed else 0


def _answer(artifact: Artifact, call: Call, sessions: Sessions | None) -> dict[str, Any]:
    try:
        if sessions is None:
            return artifact.decide(call).to_dict()
        return sessions.judge(call, artifact.decide)[0].to_dict()
    except Exception as error:
        return not_judged(call.tool, call.id, artifact.digest, error).to_dict()


def _remember(ids: dict[str, str | None], call: Call) -> None:
    """Keep which session the last call with an id was of."""
    ids.pop(dump(call.id), None)
    ids[dump(call.id)] = call.session
    if len(ids) > _MOST_IDS:
        del ids[next(iter(ids))]


def _outcome(line: OutcomeLine, ids: dict[str, str | None], sessions: Sessions | None) -> None:
    key = dump(line.id)
    if key not in ids:
        raise LineError("input/unknown-id", "no call with this id was read before")
    if sessions is not None:
        session = ids[key] if line.session is None else line.session
        sessions.outcome(session, line.id, "passed" if line.ok else "failed", line.result)
