"""`doctor`: whether calls are enforced here, tried with a call that must not run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tool_intent.__about__ import __version__
from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.terminal import out, styled, visible
from tool_intent.compiler.loading import PolicyError
from tool_intent.runtime.wire import dump
from tool_intent.surfaces.judging import FALLBACK, Judging, Unavailable
from tool_intent.surfaces.mcp.doctor import examined, known_settings
from tool_intent.surfaces.pi import host, installing
from tool_intent.surfaces.pi.installing import InstallError

if TYPE_CHECKING:
    from tool_intent.surfaces.pi.canary import Flight


class Check(NamedTuple):
    """One thing looked at: its name, whether it is as it should be, what was seen, and how to mend
    it."""

    name: str
    ok: bool
    text: str
    help: str = ""


def doctor(
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SETTINGS]…", help="MCP client settings; known ones if none."),
    ] = None,
    pi: Annotated[
        str | None,
        typer.Option("--pi", metavar="COMMAND", help="The command that starts pi; else `pi`."),
    ] = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Look whether calls are enforced here: in pi, and in front of the servers of MCP clients.

    A canary goes through the real pi; each proxied server is started and called in vain. Exit 1
    where calls are not judged, or would stop to be. With SETTINGS, pi is looked at for --pi only.

    Example: tool-intent doctor .mcp.json
    """
    workspace = Path.cwd()
    found = settings or known_settings(str(workspace), os.path.expanduser("~"))
    checks: list[Check] = []
    if pi is not None or (not settings and (not found or _has_pi(workspace))):
        checks += _of_pi(pi, workspace)
    checks += _of_mcp(found)
    if format_ is Format.JSON:
        typer.echo(dump([check._asdict() for check in checks]))
    else:
        for check in checks:
            out.print(styled("ok   " if check.ok else "wrong", "green" if check.ok else "red"),
                      f"{check.name:<10}", visible(check.text))  # fmt: skip
            if check.help:
                out.print(f"{'':<16} {visible(check.help)}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def _of_mcp(settings: Sequence[str]) -> Iterator[Check]:
    for one in examined(settings):
        yield Check(one.code, one.severity == "ok", f"{one.where}: {one.message}", one.help)


def _has_pi(workspace: Path) -> bool:
    """Whether there is a pi on PATH, or an extension for one."""
    places = [installing.place(project=project) for project in (None, workspace)]
    return shutil.which("pi") is not None or any(map(os.path.lexists, places))


def _of_pi(command: str | None, workspace: Path) -> Iterator[Check]:
    from tool_intent.surfaces.pi import canary

    yield Check("engine", True, f"tool-intent {__version__}")
    judging = yield from _policy(workspace)
    installed = yield from _installed(workspace)
    try:
        pi = host.find(command)
    except host.HostError as error:
        yield Check("pi", False, str(error))
        return
    yield Check("pi", True, f"{pi.version} ({pi.package})")
    for name, text in host.CAPABILITIES._asdict().items():
        yield Check(name, True, text)
    yield from _handlers(pi, workspace, installed)
    trust = pi.is_new and any(workspace in folder.parents for folder in installed)
    judges_by_fallback = judging is not None and FALLBACK in " ".join(judging.state.notes)
    fallback = FALLBACK if judges_by_fallback else None
    flight = canary.fly(pi, workspace, fallback=fallback, trust=trust)
    yield from _flown(flight, judging)


def _policy(workspace: Path) -> Generator[Check, None, Judging | None]:
    """The policies in force; gives back what judges by them."""
    try:
        judging = Judging(str(workspace), point="pi")
    except (Unavailable, PolicyError) as error:
        yield Check("policy", False, str(error))
        return None
    state = judging.state
    yield Check("policy", True, state.policies[0])
    for file, rank, _ in judging.sources:
        if rank != "shipped":
            yield Check("source", True, f"{file} ({rank})")
    for line in judging.broken:
        yield Check("policy", False, line)
    for note in state.notes:
        yield Check("note", state.asks, note)
    return judging


def _installed(workspace: Path) -> Generator[Check, None, list[Path]]:
    """What is installed, and all that is wrong with it; gives back the folders."""
    folders: list[Path] = []
    for project in (None, workspace):
        folder = installing.place(project=project)
        try:
            one = installing.installed(folder)
        except InstallError as error:
            yield Check("extension", False, str(error))
            continue
        if one is None:
            continue
        folders.append(folder)
        yield Check("extension", True, f"{folder} (version {one.version}, mode {one.mode})")
        yield Check("started by", True, one.python)
        for problem in installing.problems(one, workspace=workspace):
            yield Check("extension", False, problem.text)
    if not folders:
        yield Check("extension", False, "not installed: run tool-intent pi install")
    return folders


def _handlers(pi: host.Host, workspace: Path, folders: list[Path]) -> Iterator[Check]:
    try:
        loaded = host.loaded(pi, workspace)
    except host.HostError as error:
        yield Check("handlers", False, str(error))
        return
    after = [path for folder in folders[:1] for path in host.after_ours(loaded, folder)]
    if after:
        text = "after ours, and what they change stops the call: " + ", ".join(after)
        yield Check("handlers", True, text)
    else:
        yield Check("handlers", True, "no other extension's tool_call handler runs after ours")


def _flown(flight: Flight, judging: Judging | None) -> Iterator[Check]:
    if flight.problem is not None:
        yield Check("canary", False, flight.problem)
        return
    for name, advertised in flight.tools.items():
        fields = () if judging is None else judging.extend({"name": name}).fields
        asked = f"asked for {', '.join(fields)}" if fields else "asked for nothing"
        shown = "" if advertised else "; not advertised, yet judged"
        yield Check("tool", True, f"{name}: {asked}{shown}")
    if flight.ran:
        yield Check("canary", False, "a call without a reason was carried out")
    elif "tool-intent denied this write" not in flight.told:
        said = flight.told.partition("\n")[0] or "nothing"
        yield Check("canary", False, f"it did not run, and not because of us: {said}")
    else:
        yield Check("canary", True, "a call without a reason was refused, and nothing was executed")
