"""`show --why` and `show --floor`: who says what of a rule, and the least that is sure of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import isinf
from typing import Any

import typer

from tool_intent.authoring.monotone import session_monotone
from tool_intent.cli.options import Format
from tool_intent.cli.terminal import fail, out, styled, visible
from tool_intent.compiler.lower_rules import message_of
from tool_intent.policy.model import EffectivePolicy, Requirement, Rule, Schedule
from tool_intent.policy.schedules import at
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import SENIORITY, STRENGTH, Effect, Rank
from tool_intent.runtime.wire import dump


def tell_why(policy: EffectivePolicy, id_: str, format_: Format) -> None:
    """Everything that bears on the effect of one rule, at each rank it is judged at."""
    rules = [item for item in policy.items if isinstance(item, Rule)]
    found = [rule for rule in rules if rule.id == id_]
    if not found:
        near = nearest(id_, [rule.id for rule in rules])
        fail(f"no rule is called `{visible(id_)}`" + (f"; did you mean `{near}`?" if near else ""))
    rows = [_why(rule, policy) for rule in _by_rank(found)]
    if format_ is Format.JSON:
        typer.echo(dump(rows))
        return
    for row in rows:
        _print_why(row)


def tell_floor(policy: EffectivePolicy, now: float, format_: Format) -> None:
    """Each entry and rule with the least that weaker ranks can make of it at a time."""
    rows = [*_entry_rows(policy, now), *_rule_rows(policy, now)]
    if format_ is Format.JSON:
        typer.echo(dump(rows))
        return
    for row in rows:
        later = "" if row["least"] == row["effect"] else f" ({row['effect']} in the end)"
        out.print(
            visible(f"{row['rank']:<10}{row['what']}:"),
            styled(row["least"], "bold"),
            visible(later.strip()),
            visible(f"waived by {', '.join(row['waived_by'])}" if row["waived_by"] else ""),
            styled(row["origin"], "dim"),
        )
    if not rows:
        out.print("No entry and no rule: nothing is sure.")


def _entry_rows(policy: EffectivePolicy, now: float) -> Sequence[dict[str, Any]]:
    """Entries of `tools:` are never lowered by a weaker rank."""
    return [
        {
            "what": f"{item.key} requires {', '.join(u.name for u in item.uses if u.required)}",
            "rank": item.origin.rank,
            "effect": item.effect,
            "least": item.effect,
            "waived_by": _waived_by("fields/missing", item.origin.rank, policy, now),
            "origin": str(item.origin),
        }
        for item in policy.items
        if isinstance(item, Requirement) and any(use.required for use in item.uses)
    ]


def _rule_rows(policy: EffectivePolicy, now: float) -> Sequence[dict[str, Any]]:
    found = [item for item in policy.items if isinstance(item, Rule)]
    return [
        {
            "what": f"rule {rule.id}",
            "rank": rule.origin.rank,
            "effect": rule.effect,
            "least": _least(rule, now),
            "waived_by": _waived_by(rule.id, rule.origin.rank, policy, now),
            "origin": str(rule.origin),
        }
        for rule in _by_rank(found)
    ]


def _waived_by(rule: str, rank: Rank, policy: EffectivePolicy, now: float) -> list[str]:
    """The waivers in force that lower a rule for calls in their scope."""
    return [
        waiver.id
        for waiver in policy.waivers
        if waiver.rule == rule and rank in waiver.counts and now < waiver.counts[rank].until
    ]


def _least(rule: Rule, now: float) -> Effect:
    """What weaker ranks can bring a rule to at a time, at the point where it is weakest."""
    today = [at(steps, now) for steps in rule.schedule.values()]
    return min([rule.lowest or rule.effect, *today], key=STRENGTH.__getitem__)


def _by_rank(rules: Sequence[Rule]) -> list[Rule]:
    return sorted(rules, key=lambda rule: SENIORITY[rule.origin.rank])


def _why(rule: Rule, policy: EffectivePolicy) -> dict[str, Any]:
    told = [w.to_dict() for w in policy.warnings if f"`{rule.id}`" in w.message]
    return {
        "rule": rule.id,
        "rank": rule.origin.rank,
        "origin": str(rule.origin),
        "policy": rule.policy,
        "message": message_of(rule.tree),
        "declared": rule.declared,
        "adjusted": [str(place) for place in rule.adjusted],
        "effect": rule.effect,
        "schedule": _schedule(rule.schedule),
        "floor": rule.floor,
        "least": rule.lowest or rule.effect,
        "options": dict(rule.scopes.options),
        "session_monotone": session_monotone(rule),
        "ignored": told,
    }


def _schedule(schedule: Mapping[str, Schedule]) -> list[dict[str, Any]]:
    rows = []
    for point, steps in schedule.items():
        ends = [_day(since) for since, _ in steps[1:]]
        for (since, effect), until in zip(steps, [*ends, None], strict=True):
            rows.append(
                {"point": point or None, "from": _day(since), "until": until, "effect": effect}
            )
    return rows


def _day(since: float) -> str | None:
    if isinf(since):
        return None
    return datetime.fromtimestamp(since, UTC).isoformat().replace("+00:00", "Z")


def _print_why(row: Mapping[str, Any]) -> None:
    out.print(
        styled(row["rule"], "bold"),
        visible(f"at rank {row['rank']}: {row['message']}"),
        styled(row["origin"], "dim"),
    )
    said = f"  declared {row['declared']}"
    if row["adjusted"]:
        said += f", adjusted to {row['effect']} by {', '.join(row['adjusted'])}"
    out.print(visible(said))
    for step in row["schedule"]:
        when = f" from {step['from']}" if step["from"] else ""
        when = when or (f" before {step['until']}" if step["until"] else "")
        where = f" at {step['point']}" if step["point"] else ""
        out.print(visible(f"  {step['effect']}{when}{where}"))
    floor = f"floor {row['floor']}" if row["floor"] else "no floor"
    out.print(visible(f"  {floor}: weaker ranks can bring it to {row['least']}"))
    for name, value in row["options"].items():
        out.print(visible(f"  option {name} is {value}"))
    if not row["session_monotone"]:
        out.print("  not session-monotone: what weaker ranks refuse may keep it quiet later")
    for told in row["ignored"]:
        out.print(visible(f"  not counted: {told['file']}:{told['line']}: {told['message']}"))
