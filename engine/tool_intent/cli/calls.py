"""`decide` and `run`: judging calls, and carrying out those that pass."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tool_intent.cli.decide import Options
from tool_intent.cli.decide import decide as judge_lines
from tool_intent.cli.lines import LineError, OutcomeLine, read_line
from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.policies import load_or_fail
from tool_intent.cli.terminal import STYLES, err, fail, out, styled, visible
from tool_intent.guard.guard import Guard
from tool_intent.guard.recording import ledger
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Call
from tool_intent.runtime.pointer import spoken
from tool_intent.runtime.wire import NotJson, dump, parse
from tool_intent.tools import Builtin, Result, Workspace

_LONGEST_SHOWN = 12


def decide(
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="P", help="Judge by these alone; repeatable."),
    ] = None,
    cwd: Annotated[
        str | None, typer.Option(help="Where to look for policies, if no --policy is given.")
    ] = None,
    now: Annotated[str | None, typer.Option(help="The time to judge at, in RFC 3339.")] = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="A policy that asks for nothing is meant.")
    ] = False,
) -> None:
    """Judge calls: JSON lines on standard input, one decision a line on standard output.

    A call is {"id", "tool", "args", "context"?, "session"?, "schema"?}. Denials do not change the
    exit code; it is 2 where a line is no call or the policy cannot be used.

    Example: echo '{"id": 1, "tool": "bash", "args": {"command": "ls"}}' | tool-intent decide
    """
    raise typer.Exit(judge_lines(Options(tuple(policy or ()), cwd, now, allow_empty)))


def run(
    tool: Annotated[str | None, typer.Argument(help="read, write, edit or bash.")] = None,
    arguments: Annotated[
        str | None, typer.Argument(metavar="JSON", help="The call's arguments.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Calls as JSON lines, as `decide` reads them; - is standard input."
        ),
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option(help="The tools' folder; without, a new temporary one.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="P", help="Adds to the policies found; repeatable."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="A person approves every `ask`.")] = False,
    format_: Formatted = Format.TEXT,
) -> None:
    """Judge calls, and carry out those that pass with the built-in tools, stripped of fields.

    Exit code 1 if any call was denied.

    Example: tool-intent run write '{"path": "a.txt", "content": "x", "intent": "…"}'
    """
    calls = _calls(tool, arguments, session)
    # A slip in what was asked for is told before anything is looked at or noted.
    given = None if workspace is None else _workspace(workspace)
    artifact = load_or_fail(policy or [], found=True, remember=True, point="run")
    place = _workspace(None) if given is None else given
    where = os.getcwd() if given is None else str(place)
    guard = Guard(artifact, recorder=ledger("run", where, start=str(place)), notice=_notice)
    if format_ is Format.TEXT:
        out.print(styled(f"workspace {place}", "dim"))
    elif workspace is None:
        err.print(visible(f"tool-intent: workspace {place}"))
    builtin = Builtin(Workspace(str(place)))
    denied = unread = False
    for call in calls:
        if isinstance(call, LineError):
            unread = True
            err.print(visible(f"tool-intent: {call.code}: {call.message}"))
            continue
        decision, result = _carry_out(guard, builtin, call, yes=yes)
        denied |= result is None
        if format_ is Format.JSON:
            done = None if result is None else {"text": result.text, "ok": result.ok}
            typer.echo(dump(decision.to_dict() | {"result": done}))
        else:
            _print(decision, result)
    if unread or denied:
        raise typer.Exit(2 if unread else 1)


def _carry_out(
    guard: Guard, builtin: Builtin, call: Call, *, yes: bool
) -> tuple[Decision, Result | None]:
    admission = guard.admit(
        call.tool, call.args, id=call.id, session=call.session, context=call.context,
        schema=call.schema,
    )  # fmt: skip
    decision = admission.decision
    if not decision.allowed and not (yes and decision.decision == "ask"):
        return decision, None
    result = builtin.run(call.tool, decision.args)
    admission.settle(result.ok)
    return decision, result


def _notice(text: str) -> None:
    err.print(visible(f"tool-intent: {text}"))


def _calls(
    tool: str | None, arguments: str | None, session: str | None
) -> Iterator[Call | LineError]:
    if (tool is None) == (session is None):
        fail("run takes a tool with its arguments as JSON, or --session FILE")
    if session is not None:
        return _session_calls(session)
    try:
        value = parse(arguments or "{}")
    except NotJson as error:
        fail(f"the arguments are not JSON: {error}")
    return iter([Call(1, tool or "", value)])


def _session_calls(session: str) -> Iterator[Call | LineError]:
    try:
        lines = sys.stdin.buffer.readlines() if session == "-" else _lines(session)
    except OSError as error:
        fail(f"{session} cannot be read: {error.strerror}")
    return _read(lines)


def _read(lines: list[bytes]) -> Iterator[Call | LineError]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            read = read_line(line, number)
        except LineError as error:
            yield LineError(error.code, f"line {number}: {error.message}")
            continue
        if not isinstance(read, OutcomeLine):
            yield read


def _lines(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return file.readlines()


def _workspace(given: Path | None) -> Path:
    if given is None:
        return Path(tempfile.mkdtemp(prefix="tool-intent-"))
    if not given.is_dir():
        fail(f"the workspace {given} is no directory")
    return given


def _print(decision: Decision, result: Result | None) -> None:
    out.print()
    out.print(
        styled(f"{decision.decision:<6}", STYLES[decision.decision]),
        styled(f"{decision.tool} ", "bold"),
        visible(_subject(decision)),
        sep="",
    )
    for said in decision.provenance:
        where = f"{spoken(said['at'])}." if said["at"] else ""
        for field, value in said.items():
            if field != "at":
                out.print(styled(f"      {where}{field}: {_brief(value)}", "dim"))
    if decision.message is not None and result is None:
        _indented(decision.message)
    elif result is not None:
        for finding in decision.findings:
            by = f", waived by {finding.waived}" if finding.waived else ""
            line = f"      {finding.effect}: {finding.message} ({finding.rule}{by})"
            out.print(styled(line, STYLES[finding.effect]))
        if decision.message is not None:
            out.print(styled("      approved with --yes", "yellow"))
        _indented(result.text if result.ok else f"the tool failed: {result.text}")


def _subject(decision: Decision) -> str:
    """What the call is about: its path or command, briefly."""
    args: dict[str, Any] = decision.args or {}
    return _brief(next((args[k] for k in ("path", "command") if k in args), ""))


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else dump(value)
    text = text.replace("\n", " ⏎ ")
    return text if len(text) <= 100 else f"{text[:99]}…"


def _indented(text: str) -> None:
    lines = visible(text.rstrip("\n")).split("\n")
    for line in lines[:_LONGEST_SHOWN]:
        out.print(f"      {line}")
    if len(lines) > _LONGEST_SHOWN:
        out.print(styled(f"      … {len(lines) - _LONGEST_SHOWN} more lines", "dim"))
