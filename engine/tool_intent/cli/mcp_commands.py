"""`mcp` with its help, `mcp wrap` and `unwrap`, and `catalog import`."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from tool_intent.cli.mcp import Options, Usage, label
from tool_intent.cli.mcp import mcp as serve
from tool_intent.cli.terminal import err, fail, out, styled, visible
from tool_intent.surfaces.mcp.settings import Unreadable
from tool_intent.surfaces.mcp.wrapping import Rewritten, saved, unwrapped, wrapped

mcp = typer.Typer(
    invoke_without_command=True,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": False},
)
catalog = typer.Typer(no_args_is_help=True, help="What is known of servers' tools.")

_Config: TypeAlias = Annotated[
    Path, typer.Argument(metavar="CONFIG", help="The client's settings, JSON or TOML.")
]
_Yes: TypeAlias = Annotated[bool, typer.Option("--yes", help="Do not ask before writing.")]


@mcp.callback()
def run(
    context: typer.Context,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="P", help="Adds to the policies found; repeatable."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="The server's name: policies say mcp__NAME__TOOL.")
    ] = None,
    ask: Annotated[
        str, typer.Option(help="deny, or elicit: the client's person answers.")
    ] = "deny",
    listen: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Proxy HTTP.")] = None,
    upstream: Annotated[
        str | None, typer.Option(metavar="URL", help="The server behind --listen.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="Another host name to answer for; repeatable.")
    ] = None,
    builtin: Annotated[bool, typer.Option("--builtin", help="Serve the built-in tools.")] = False,
    workspace: Annotated[
        str | None, typer.Option(metavar="DIR", help="The built-in tools' folder.")
    ] = None,
) -> None:
    """Stand in front of an MCP server, so that each call carries its reason.

    On standard input and output: tool-intent mcp [--server NAME] -- COMMAND…. Over HTTP: --listen
    HOST:PORT --upstream URL. As a server of its own: --builtin --workspace DIR.

    Example: tool-intent mcp --server github -- github-mcp-server stdio
    """
    if context.invoked_subcommand is not None:
        return
    given = Options(
        tuple(policy or ()), server, ask, listen, upstream, builtin, workspace,
        tuple(allow_host or ()), tuple(context.args),
    )  # fmt: skip
    raise typer.Exit(serve(given))


@mcp.command("wrap")
def wrap(
    config: _Config,
    policy: Annotated[
        list[str] | None, typer.Option("--policy", metavar="P", help="For the proxy; repeatable.")
    ] = None,
    ask: Annotated[str | None, typer.Option(help="deny or elicit, for the proxy.")] = None,
    yes: _Yes = False,
) -> None:
    """Rewrite a client's settings so that its servers are reached through the proxy.

    Settings of Claude Code, Codex, Cursor, VS Code and pi. The diff is shown first, and a backup
    kept.

    Example: tool-intent mcp wrap .mcp.json
    """
    options = [word for p in policy or () for word in ("--policy", _absolute(p))]
    options += [] if ask is None else ["--ask", ask]
    launcher = shutil.which("tool-intent", path=str(Path(sys.executable).parent)) or shutil.which(
        "tool-intent"
    )
    if launcher is None:
        fail("tool-intent is not on PATH, so no client would find it")
    path = os.path.abspath(launcher)
    _rewrite(config, lambda text, name: wrapped(text, name, path, options), yes=yes)


@mcp.command("unwrap")
def unwrap(config: _Config, yes: _Yes = False) -> None:
    """Undo `mcp wrap`: the servers are reached directly again.

    Example: tool-intent mcp unwrap .mcp.json
    """
    _rewrite(config, unwrapped, yes=yes)


def _absolute(policy: str) -> str:
    return os.path.abspath(policy) if os.path.exists(policy) else policy


def _rewrite(config: Path, change: Callable[[str, str], Rewritten], *, yes: bool) -> None:
    try:
        with open(config, encoding="utf-8", newline="") as file:
            text = file.read()
        new = change(text, str(config))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"{config} cannot be read: {error}")
    except Unreadable as error:
        fail(f"{config}: {error}")
    for name, why in new.left:
        err.print(visible(f"tool-intent: {name} stays as it is: {why}"))
    if not new.changed:
        out.print(visible(f"{config}: nothing to change"))
        return
    before, after = text.splitlines(), new.text.splitlines()
    name = str(config)
    for line in difflib.unified_diff(before, after, name, name, n=1, lineterm=""):
        out.print(styled(line, {"+": "green", "-": "red"}.get(line[:1], "dim")))
    if not yes:
        if not sys.stdin.isatty():
            fail("nothing was written: there is nobody to ask; --yes writes")
        typer.confirm("Write this?", abort=True)
    backup = saved(str(config), new.text)
    out.print(visible(f"Wrote {config}; what it said before is in {backup}"))


@catalog.command("import", context_settings={"allow_extra_args": True})
def import_(
    context: typer.Context,
    server: Annotated[
        str | None, typer.Option(help="The server's name: the catalog says mcp__NAME__TOOL.")
    ] = None,
) -> None:
    """Write a catalog of the tools that a live server lists, to standard output.

    Example: tool-intent catalog import --server git -- uvx mcp-server-git > git.yaml
    """
    from tool_intent.surfaces.mcp.asking import NoAnswer
    from tool_intent.surfaces.mcp.importing import catalog as written

    if not context.args:
        fail("which server? tool-intent catalog import -- COMMAND…")
    try:
        name = label(server, context.args)
        text = written(context.args, name)
    except Usage as error:
        fail(str(error))
    except (OSError, NoAnswer) as error:
        fail(f"the server {context.args[0]!r} did not tell its tools: {error}")
    typer.echo(text, nl=False)
