"""`init` and `check`: writing policies."""

from __future__ import annotations

import os
from pathlib import Path
from time import time
from typing import Annotated, Any

import typer

from tool_intent.authoring.costs import BUDGET, RuleCost, rule_costs
from tool_intent.cli.diagnostics import rendered
from tool_intent.cli.lock import drift
from tool_intent.cli.options import Format
from tool_intent.cli.terminal import err, fail, out, styled, visible
from tool_intent.policy import homes
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.opening import is_waivers
from tool_intent.policy.roots import remember
from tool_intent.policy.sources import Candidate, Root, SourceError, discover, named
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.wire import dump

_STARTER = """\
# What agents must say with their tool calls here. Reference: docs/policy.md of tool-intent.
version: 1
policy: "{name}"
extends: std/baseline        # intent and rationale on write, edit (each edit), bash and read

# fields:                    # a field of your own, or a tighter one
#   rationale: {{minLength: 20}}
#   ticket: {{description: The ticket this serves., pattern: '^[A-Z]+-[0-9]+$'}}

# tools:                     # names, globs (mcp__*__*) or groups (@read @write @edit @exec @net)
#   "@exec": {{require: [ticket]}}
#   "@read": {{require: [intent], effect: warn}}

# unlisted: warn             # tools that no key matches: allow (if unsaid), note, warn, ask, deny
"""


def init(
    folder: Annotated[
        Path, typer.Argument(help="The repository; its .tool-intent/ is made.", show_default=True)
    ] = Path(),
) -> None:
    """Write a first policy, .tool-intent/policy.yaml. An existing one is never touched.

    Example: tool-intent init
    """
    target = folder / ".tool-intent" / "policy.yaml"
    name = folder.resolve().name
    plain = name if name and all(c.isalnum() or c in "-_." for c in name) else "my-policy"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(_STARTER.format(name=plain))
    except FileExistsError:
        fail(f"{target} is already there; edit it, or remove it first")
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}")
    note = remember(str(folder.resolve()), os.environ, homes.account_home())
    if note is not None:
        err.print(visible(f"tool-intent: {note}"))
    out.print(f"Wrote {visible(str(target))}. Next:")
    out.print("  tool-intent check            # is it right?")
    out.print("  tool-intent show --effective # what it asks for")
    out.print("""  tool-intent run write '{"path": "a.txt", "content": "x"}'   # see it refuse""")


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Policy files, folders or packs; without, those that are found."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    cost: Annotated[
        bool, typer.Option("--cost", help="Also what each rule may cost one call at the most.")
    ] = False,
    format_: Annotated[Format, typer.Option("--format", help="For people, or JSON.")] = Format.TEXT,
) -> None:
    """Check policy files: 0 clean, 1 errors (or warnings with --strict), 2 a file cannot be read.

    Example: tool-intent check .tool-intent/policy.yaml
    """
    from tool_intent.policy.load import load
    from tool_intent.policy.waiver_findings import findings, root_of

    roots, refused = _roots(paths or [])
    policy = load(roots, refused)
    waivers = findings(policy, time(), root_of(roots))
    costs = sorted(rule_costs(policy), key=lambda c: -c.steps) if cost else []
    over = tuple(c.diagnostic() for c in costs if c.over)
    found = sorted(
        {
            *policy.broken,
            *policy.warnings,
            *waivers,
            *_emptiness(policy, roots),
            *over,
            *drift(roots),
        },
        key=lambda d: (d.file, d.line, d.column, d.message),
    )
    if format_ is Format.JSON:
        said = [d.to_dict() for d in found]
        typer.echo(dump({"diagnostics": said} | _costs_data(costs) if cost else said))
    else:
        _report_costs(costs)
        _report(found, len(roots))
    if any(d.code in ("policy/unreadable", "waivers/unreadable") for d in found):
        raise typer.Exit(2)
    if any(strict or d.severity == "error" for d in found):
        raise typer.Exit(1)


def _costs_data(costs: list[RuleCost]) -> dict[str, Any]:
    rows = [
        {"rule": c.rule.id, "tool": c.tool, "steps": c.steps, "over": c.over,
         "origin": str(c.rule.origin)}
        for c in costs
    ]  # fmt: skip
    return {"budget": BUDGET, "costs": rows}


def _report_costs(costs: list[RuleCost]) -> None:
    if costs:
        out.print(f"steps that one call may take at the most; the budget of a rule is {BUDGET:,}")
    for one in costs:
        line = f"{one.steps:>14,}  {one.rule.id} on {one.tool}"
        out.print(styled(line, "yellow" if one.over else ""), styled(str(one.rule.origin), "dim"))


def _emptiness(policy: EffectivePolicy, roots: list[Root]) -> tuple[Diagnostic, ...]:
    if not policy.empty or all(is_waivers(root.path) for root in roots):
        return ()
    message = "the policy asks for nothing: `decide` would refuse it"
    help_ = "require a field of some tool under `tools:`"
    where = roots[0].shown
    return (Diagnostic("policy/empty", "warning", where, 1, 1, 1, 1, message, help_),)


def _roots(paths: list[str]) -> tuple[list[Root], list[Candidate]]:
    if not paths:
        candidates = discover(os.getcwd(), os.environ)
        loaded = [c.root for c in candidates if c.state == "loaded"]
        refused = [c for c in candidates if c.unusable]
        if not loaded and not refused:
            looked = "".join(f"\n  {c.shown}" for c in candidates)
            fail(f"no policy found; looked for{looked}\n`tool-intent init` writes a first one")
        return loaded, refused
    roots: list[Root] = []
    for path in paths:
        try:
            roots += named(path, os.getcwd())
        except SourceError as error:
            fail(f"{error.message}{f' ({error.help})' if error.help else ''}")
    return roots, []


def _report(found: list[Diagnostic], files: int) -> None:
    if found:
        out.print(visible(rendered(found)))
    errors = sum(d.severity == "error" for d in found)
    warnings = len(found) - errors
    out.print(
        f"{_count(errors, 'error')}, {_count(warnings, 'warning')} in {_count(files, 'file')}"
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
