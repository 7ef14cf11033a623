"""`waiver`: exceptions from rules: what counts, writing one, what expires soon, signing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from math import isinf
from time import time
from typing import Annotated, Any, Final

import typer

from tool_intent.cli.diagnostics import rendered
from tool_intent.cli.options import Format, Formatted, Policies
from tool_intent.cli.terminal import fail, out, styled, visible
from tool_intent.cli.waiver_new import new
from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy, Waiver
from tool_intent.policy.signing import CannotSign, sign
from tool_intent.policy.sources import Candidate, Root, SourceError, discover, named
from tool_intent.policy.waiver_findings import findings, root_of
from tool_intent.policy.waiving import ranks_of
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime import uses
from tool_intent.runtime.wire import dump

_DAY: Final = 86_400

app = typer.Typer(
    help="Exceptions from rules, each for a while: see what counts, write, sign.",
    no_args_is_help=True,
)
app.command("new")(new)


@app.command("list")
def list_(policy: Policies = None, format_: Formatted = Format.TEXT) -> None:
    """List every waiver: whether it counts, for rules of which ranks, and if not, why.

    Exit code 1 where one is wrong in itself.

    Example: tool-intent waiver list
    """
    now = time()
    loaded, told = _loaded(policy or [], now)
    rows = [_row(waiver, loaded, told, now) for waiver in loaded.waivers]
    if format_ is Format.JSON:
        typer.echo(dump({"waivers": rows, "findings": [d.to_dict() for d in told]}))
    else:
        for row in rows:
            _print(row)
        if told:
            out.print(visible(rendered(told)))
        if not rows:
            out.print("No waiver that could count.")
    if any(diagnostic.severity == "error" for diagnostic in told):
        raise typer.Exit(1)


@app.command()
def expiring(
    days: Annotated[int, typer.Option(min=0, help="How many days ahead to look.")] = 14,
    policy: Policies = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """List waivers that are in force and expire soon; exit code 1 where there are any.

    Example: tool-intent waiver expiring --days 7
    """
    now = time()
    loaded, told = _loaded(policy or [], now)
    soon = [w for w in loaded.waivers if w.until <= now + days * _DAY]
    soon.sort(key=lambda waiver: (waiver.until, waiver.id))
    rows = [_row(waiver, loaded, told, now) for waiver in soon]
    rows = [row for row in rows if row["state"] == "active"]
    if format_ is Format.JSON:
        typer.echo(dump(rows))
    else:
        for row in rows:
            _print(row)
        if not rows:
            out.print(f"No waiver expires within {days} days.")
    if rows:
        raise typer.Exit(1)


@app.command("sign")
def sign_(
    file: Annotated[str, typer.Argument(help="The waivers file.")],
    key: Annotated[str, typer.Option("--key", help="The Ed25519 private key, PEM or OpenSSH.")],
    expires: Annotated[
        str | None, typer.Option(metavar="DAY", help="The last day the signature is good on.")
    ] = None,
) -> None:
    """Vouch for a file as it is now: writes FILE.sig. It counts where the key is pinned.

    Example: tool-intent waiver sign .tool-intent/waivers.yaml --key ~/.ssh/appsec
    """
    try:
        written = sign(file, key, expires=expires, passphrase=_passphrase)
    except CannotSign as error:
        fail(str(error))
    out.print(
        visible(f"Wrote {written}. It is of the file as it is now: sign again after a change.")
    )


def _passphrase() -> bytes:
    given: str = typer.prompt("Passphrase of the key", hide_input=True, err=True)
    return given.encode()


def _loaded(given: list[str], now: float) -> tuple[EffectivePolicy, tuple[Diagnostic, ...]]:
    roots, refused = _places(given)
    policy = load(roots, refused, now=now)
    return policy, findings(policy, now, root_of(roots))


def _places(given: list[str]) -> tuple[list[Root], list[Candidate]]:
    if given:
        try:
            return [root for source in given for root in named(source, os.getcwd())], []
        except SourceError as error:
            fail(f"{error.message}{f' ({error.help})' if error.help else ''}")
    candidates = discover(os.getcwd(), os.environ)
    loaded = [c.root for c in candidates if c.state == "loaded"]
    return loaded, [c for c in candidates if c.unusable]


def _row(
    waiver: Waiver, policy: EffectivePolicy, told: Sequence[Diagnostic], now: float
) -> dict[str, Any]:
    of_rule = ranks_of(policy.items, policy.fields, policy.unlisted).get(waiver.rule, ())
    counts = {rank: c.until for rank, c in waiver.counts.items() if rank in of_rule}
    mine = [
        d
        for d in told
        if (d.file, d.line, d.column)
        == (waiver.origin.file, waiver.origin.line, waiver.origin.column)
    ]
    return {
        "id": waiver.id,
        "rule": waiver.rule,
        "effect": waiver.effect,
        "scope": {
            "paths": list(waiver.scope.paths),
            "tools": list(waiver.scope.tools),
            "agents": list(waiver.scope.agents),
        },
        "state": _state(waiver, counts, mine, now),
        "counts": [{"rank": rank, "until": _time(until)} for rank, until in counts.items()],
        "uses_left": _uses_left(waiver),
        "owner": waiver.owner,
        "approved_by": list(waiver.approved_by),
        "ticket": waiver.ticket,
        "reason": waiver.reason,
        "created": waiver.created,
        "expires": waiver.expires,
        "rank": waiver.origin.rank,
        "origin": str(waiver.origin),
        "why": [d.message for d in mine],
    }


def _state(waiver: Waiver, counts: dict[Any, float], mine: Sequence[Diagnostic], now: float) -> str:
    if waiver.until <= now:
        return "expired"
    if any(d.code == "waivers/unused" for d in mine):
        return "unused"
    return "active" if any(now < until for until in counts.values()) else "not counted"


def _uses_left(waiver: Waiver) -> int | None:
    if waiver.max_uses is None:
        return None
    try:
        return uses.left(waiver.digest, waiver.max_uses)
    except (uses.Unusable, OSError):
        return 0


def _time(until: float) -> str | None:
    if isinf(until):
        return None
    return datetime.fromtimestamp(until, UTC).isoformat().replace("+00:00", "Z")


_STYLES: Final = {"active": "green", "expired": "dim", "not counted": "yellow", "unused": "yellow"}


def _print(row: dict[str, Any]) -> None:
    left = "" if row["uses_left"] is None else f", {row['uses_left']} uses left"
    ranks = ", ".join(one["rank"] for one in row["counts"]) or "no rule"
    out.print(
        styled(f"{row['state']:<12}", _STYLES[row["state"]]),
        styled(row["id"], "bold"),
        visible(f"{row['rule']} to {row['effect']}, until {row['expires']}{left}"),
        styled(row["origin"], "dim"),
    )
    scope = "; ".join(f"{k} {', '.join(v)}" for k, v in row["scope"].items() if v) or "every call"
    out.print(visible(f"             counts for {ranks}; {scope}; {row['owner']}: {row['reason']}"))
