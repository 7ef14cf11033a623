"""`pi`: the extension of the pi coding agent, installed, looked at, removed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.terminal import fail, out, visible
from tool_intent.runtime.wire import dump
from tool_intent.surfaces.pi import installing
from tool_intent.surfaces.pi.installing import Installed, InstallError, Problem

app = typer.Typer(
    help="The pi coding agent: install the extension, look at it, remove it.",
    no_args_is_help=True,
)

Project = Annotated[
    bool,
    typer.Option("--project", help="In ./.pi, for this project only; pi asks whether to trust it."),
]


@app.command()
def install(
    project: Project = False,
    shadow: Annotated[
        bool,
        typer.Option(
            "--shadow",
            help="Also replace pi's own read, write, edit and bash by tools of the same names.",
        ),
    ] = False,
) -> None:
    """Install the extension for pi; an older one is replaced.

    Example: tool-intent pi install
    """
    here = Path.cwd() if project else None
    try:
        done = installing.install(
            installing.place(project=here), "shadow" if shadow else "extend", project=here
        )
    except InstallError as error:
        fail(str(error))
    out.print(f"Installed {visible(str(done.folder))}")
    out.print(f"  the engine starts with {visible(done.python)}")
    if project:
        out.print("  pi loads it once the project is trusted; calls made here can change it:")
        out.print("  without --project it lies outside of what they work on")
    out.print("Next:")
    out.print("  tool-intent doctor   # does it refuse?")
    out.print("  pi                   # then /tool-intent shows what is enforced")


@app.command()
def status(project: Project = False, format_: Formatted = Format.TEXT) -> None:
    """Show what is installed, and what is wrong with it: exit 1 for that, or for nothing installed.

    Without --project, both the user's and the project's.

    Example: tool-intent pi status
    """
    found: list[tuple[Installed, list[Problem]]] = []
    for folder in (Path.cwd(),) if project else (None, Path.cwd()):
        try:
            one = installing.installed(installing.place(project=folder))
        except InstallError as error:
            fail(str(error))
        if one is not None:
            found.append((one, list(installing.problems(one, workspace=Path.cwd()))))
    if format_ is Format.JSON:
        typer.echo(dump([_as_data(one, wrong) for one, wrong in found]))
    else:
        _show(found)
    if not found or any(wrong for _, wrong in found):
        raise typer.Exit(1)


@app.command()
def uninstall(project: Project = False) -> None:
    """Remove the extension.

    Example: tool-intent pi uninstall
    """
    folder = installing.place(project=Path.cwd() if project else None)
    try:
        gone = installing.uninstall(folder)
    except InstallError as error:
        fail(str(error))
    if not gone:
        fail(f"nothing is installed at {folder}")
    out.print(f"Removed {visible(str(folder))}; sessions that run keep what they loaded")


def _show(found: list[tuple[Installed, list[Problem]]]) -> None:
    if not found:
        out.print("not installed: run tool-intent pi install")
    for one, wrong in found:
        out.print(visible(str(one.folder)))
        out.print(f"  version {one.version}, mode {one.mode}")
        out.print(f"  engine  {visible(one.python)}")
        for problem in wrong:
            out.print(f"  wrong   {visible(problem.text)}")


def _as_data(one: Installed, wrong: list[Problem]) -> dict[str, object]:
    return {
        "folder": str(one.folder),
        "version": one.version,
        "mode": one.mode,
        "python": one.python,
        "problems": [problem.text for problem in wrong],
    }
