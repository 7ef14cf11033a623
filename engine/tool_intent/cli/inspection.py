"""`show` and `schema`: what applies, where it comes from, what a model is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from time import time
from typing import Annotated, Any

import typer

from tool_intent.authoring.monotone import session_monotone
from tool_intent.cli.decide import seconds
from tool_intent.cli.options import Format, Formatted, Policies
from tool_intent.cli.policies import load_or_fail
from tool_intent.cli.ranks import tell_floor, tell_why
from tool_intent.cli.terminal import err, fail, out, styled, visible
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.lower_rules import message_of
from tool_intent.policy.model import FieldUse, Requirement, Rule
from tool_intent.policy.sources import discover
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.extend import extend
from tool_intent.runtime.wire import dump


def show(
    effective: Annotated[
        bool, typer.Option("--effective", help="Every requirement and rule, with file and line.")
    ] = False,
    sources: Annotated[
        bool,
        typer.Option("--sources", help="Each place looked at: loaded, absent, refused or missing."),
    ] = False,
    why: Annotated[
        str | None,
        typer.Option("--why", metavar="RULE", help="All that bears on one rule, and what counts."),
    ] = None,
    floor: Annotated[
        bool, typer.Option("--floor", help="The least that weaker ranks can make of every rule.")
    ] = False,
    now: Annotated[
        str | None, typer.Option(help="The time that --floor is about, in RFC 3339.")
    ] = None,
    policy: Policies = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Show the policy that applies here: one of --effective, --sources, --why RULE, --floor.

    Example: tool-intent show --why shell/force-push
    """
    if [effective, sources, why is not None, floor].count(True) != 1:
        fail("show takes one of --effective, --sources, --why RULE and --floor")
    if sources:
        _sources(policy or [], format_)
        return
    artifact = load_or_fail(policy or [], found=not policy)
    if effective:
        _effective(artifact, format_)
    elif why is not None:
        tell_why(artifact.policy, why, format_)
    else:
        tell_floor(artifact.policy, _moment(now), format_)


def _moment(now: str | None) -> float:
    try:
        return time() if now is None else seconds(now)
    except ValueError as error:
        fail(str(error))


def schema(
    tool: Annotated[str, typer.Argument(help="A tool's name in a catalog, such as bash.")],
    policy: Policies = None,
    given: Annotated[
        typer.FileText | None,
        typer.Option(
            "--input",
            help="The tool as JSON (name, description, inputSchema); - reads standard input.",
        ),
    ] = None,
) -> None:
    """Print a tool's definition as a model is to see it: its own schema with the fields in it.

    Example: tool-intent schema edit
    """
    artifact = load_or_fail(policy or [], found=not policy)
    own = _known_tool(artifact, tool) if given is None else _given_tool(given.read(), tool)
    extended, refused = extend(own, artifact.program(tool, own["inputSchema"]).adverts)
    typer.echo(json.dumps(extended, indent=2))
    for place, reason in refused:
        where = f"{tool}, {place}" if place else tool
        err.print(visible(f"tool-intent: not advertised: {where}: {reason}"))


def _known_tool(artifact: Artifact, name: str) -> dict[str, Any]:
    known = artifact.policy.catalog.get(name, ())
    described = next((t for t in reversed(known) if t.schema is not None), None)
    if described is None:
        near = nearest(name, artifact.policy.catalog)
        meant = f"; did you mean `{near}`?" if near else ""
        fail(f"no catalog has a schema of `{visible(name)}`{meant}"
             " (give the tool's own with --input)")  # fmt: skip
    return {
        "name": name,
        "description": described.description,
        "inputSchema": described.schema,
    }


def _given_tool(text: str, name: str) -> dict[str, Any]:
    try:
        own = json.loads(text)
    except ValueError as error:
        fail(f"--input is not JSON: {error}")
    if not isinstance(own, dict) or not isinstance(own.get("inputSchema"), dict):
        fail('--input takes {"name", "description", "inputSchema"}')
    return {"name": name} | own


def _sources(given: list[str], format_: Format) -> None:
    rows: list[dict[str, Any]] = []
    if given:
        loaded = load_or_fail(given, found=False).policy
        rows = [
            {"source": s.shown, "rank": s.rank, "state": "loaded", "reason": ""}
            for s in loaded.sources
        ]
    else:
        candidates = discover(os.getcwd(), os.environ)
        rows = [
            {"source": c.shown, "rank": c.rank, "state": c.state, "reason": c.reason}
            for c in candidates
        ]
        seen = {row["source"] for row in rows}
        if any(c.state == "loaded" for c in candidates):
            loaded = load_or_fail([], found=True).policy
            rows += [
                {"source": s.shown, "rank": s.rank, "state": "loaded", "reason": "extended"}
                for s in loaded.sources
                if s.shown not in seen
            ]
    if format_ is Format.JSON:
        typer.echo(dump(rows))
        return
    width = max((len(row["source"]) for row in rows), default=0)
    styles = {"loaded": "green", "refused": "red", "missing": "red"}
    for row in rows:
        out.print(
            styled(f"{row['state']:<8}", styles.get(row["state"], "dim")),
            visible(f"{row['rank']:<10}{row['source']:<{width}}  {row['reason']}".rstrip()),
        )
    if all(row["state"] == "absent" for row in rows):
        out.print("No policy: every call would be allowed unjudged, so `decide` refuses to start.")


def _effective(artifact: Artifact, format_: Format) -> None:
    policy = artifact.policy
    rows = [row for item in policy.items if isinstance(item, Requirement) for row in _rows(item)]
    rules = [_rule(item) for item in policy.items if isinstance(item, Rule)]
    definitions: list[dict[str, Any]] = [
        {"field": d.name, "schema": d.schema, "policy": d.policy, "origin": str(d.origin)}
        for defined in policy.fields.values()
        for d in defined
    ]
    unlisted = [{"effect": u.effect, "origin": str(u.origin)} for u in policy.unlisted]
    if format_ is Format.JSON:
        typer.echo(dump({
            "policy": policy.digest, "requirements": rows, "rules": rules, "fields": definitions,
            "unlisted": unlisted,
        }))  # fmt: skip
        return
    out.print(f"policy {policy.digest}")
    for row in rows:
        need = "requires" if row["required"] else "may carry"
        where = f" in each {row['at']}" if row["at"] else ""
        but = f" except {', '.join(row['except'])}" if row["except"] else ""
        extra = f" {dump(row['schema'])}" if row["schema"] else ""
        out.print(
            visible(f"{row['tools']}{but} {need} {row['field']}{where}{extra}"),
            styled(f"[{row['effect']}]", "dim"),
            styled(row["origin"], "dim"),
        )
    for rule in rules:
        but = f" except {', '.join(rule['except'])}" if rule["except"] else ""
        floor = f", floor {rule['floor']}" if rule["floor"] else ""
        if rule["adjusted"]:
            floor += f", {rule['declared']} before {', '.join(rule['adjusted'])}"
        floor += "" if rule["session_monotone"] else ", not session-monotone"
        out.print(
            visible(f"rule {rule['rule']} on {', '.join(rule['targets'])}{but}: {rule['message']}"),
            styled(f"[{rule['effect']}{floor}]", "dim"),
            styled(rule["origin"], "dim"),
        )
    for definition in definitions:
        out.print(
            visible(f"field {definition['field']}: {dump(definition['schema'])}"),
            styled(definition["origin"], "dim"),
        )
    for one in unlisted or [{"effect": "allow", "origin": "unsaid"}]:
        out.print(f"unlisted tools: {one['effect']}", styled(one["origin"], "dim"))


def _rows(requirement: Requirement) -> Iterable[dict[str, Any]]:
    at = ".".join(requirement.at).replace(".[]", "[]")
    for use in requirement.uses:
        yield {
            "tools": requirement.key,
            "except": list(requirement.excepted),
            "at": at,
            "field": use.name,
            "required": use.required,
            "schema": _own(use),
            "effect": requirement.effect,
            "policy": requirement.policy,
            "origin": str(use.origin),
        }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "rule": rule.id,
        "targets": list(rule.targets),
        "except": list(rule.excepted),
        "effect": rule.effect,
        "floor": rule.floor,
        "message": message_of(rule.tree),
        "policy": rule.policy,
        "origin": str(rule.origin),
        "rank": rule.origin.rank,
        "declared": rule.declared,
        "adjusted": [str(place) for place in rule.adjusted],
        "session_monotone": session_monotone(rule),
    }


def _own(use: FieldUse) -> Any:
    return use.schema if isinstance(use.schema, bool) else dict(use.schema)
