"""The commands, with their help."""

from __future__ import annotations

from typing import Annotated

import typer

from tool_intent.cli import (
    authoring,
    calls,
    inspection,
    ledger,
    lock,
    mcp_commands,
    pi,
    report,
    rule_new,
    rules,
    waiver,
    why,
)
from tool_intent.cli.doctor import doctor
from tool_intent.cli.evaluation import evaluate_pack

_HELP = """The reason for each tool call of an agent: required, checked and kept.

Exit codes: 0 clean, 1 findings, 2 usage or input that cannot be read.
"""

app = typer.Typer(
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from tool_intent.__about__ import __version__

        typer.echo(f"tool-intent {__version__}")
        raise typer.Exit


app.command("init")(authoring.init)
app.command("check")(authoring.check)
app.command("decide")(calls.decide)
app.command("run")(calls.run)
app.command("show")(inspection.show)
app.command("schema")(inspection.schema)
app.command("log")(ledger.log)
app.command("verify")(ledger.verify)
app.command("lock")(lock.lock)
app.command("report")(report.report)
app.command("test")(rules.examples)
app.command("explain")(rules.explain)
app.command("eval")(evaluate_pack)
app.add_typer(rule_new.app, name="rule")
app.add_typer(waiver.app, name="waiver")
app.add_typer(mcp_commands.mcp, name="mcp")
app.add_typer(mcp_commands.catalog, name="catalog")
app.add_typer(pi.app, name="pi")
app.command("why")(why.why)
app.command("seal")(why.seal)
app.command("doctor")(doctor)
