"""The commands, with their help."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer

_HELP = """The reason for each tool call of an agent: required, checked and kept.

Exit codes: 0 clean, 1 findings, 2 usage or input that cannot be read.
"""

#: The function of each command, and the module beside this one that has it.
_COMMANDS: Final = {
    "init": ("authoring", "init"),
    "check": ("authoring", "check"),
    "decide": ("calls", "decide"),
    "run": ("calls", "run"),
    "show": ("inspection", "show"),
    "schema": ("inspection", "schema"),
    "log": ("ledger", "log"),
    "verify": ("ledger", "verify"),
    "lock": ("lock", "lock"),
    "report": ("report", "report"),
    "test": ("rules", "examples"),
    "explain": ("rules", "explain"),
    "eval": ("evaluation", "evaluate_pack"),
    "why": ("why", "why"),
    "seal": ("why", "seal"),
    "doctor": ("doctor", "doctor"),
}
#: The commands that have commands of their own, likewise.
_GROUPS: Final = {
    "rule": ("rule_new", "app"),
    "waiver": ("waiver", "app"),
    "mcp": ("mcp_commands", "mcp"),
    "catalog": ("mcp_commands", "catalog"),
    "pi": ("pi", "app"),
}


def command_line(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command that the arguments begin with; all of them where they begin with something else.

    To import every command takes longer than most of them run.
    """
    app = typer.Typer(
        help=_HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    asked = arguments[0] if arguments else ""
    known = asked in _COMMANDS or asked in _GROUPS
    for name, place in _COMMANDS.items():
        if name == asked or not known:
            app.command(name)(_found(*place))
    for name, place in _GROUPS.items():
        if name == asked or not known:
            app.add_typer(_found(*place), name=name)
    return app


def _found(module: str, name: str) -> Any:
    return getattr(import_module(f"tool_intent.cli.{module}"), name)


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from tool_intent.__about__ import __version__

        typer.echo(f"tool-intent {__version__}")
        raise typer.Exit
