"""The fields of a call and what is asked of each, as the decision found it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tool_intent.authoring.shown import shown
from tool_intent.compiler.ir import Check, Field, Tool
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Effect, Finding, Origin
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.strip import places


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """One thing asked of a field at one place (`at`, a JSON Pointer to the field).

    `holds` is None where it was not looked at: the field is absent or of another type. `says` is
    what is asked, or what is wrong where it does not hold; `value` is what was given, None for
    nothing.
    """

    at: str
    rule: str
    holds: bool | None
    says: str
    value: str | None
    effect: Effect
    origin: Origin | None


def field_checks(tool: Tool, args: Any, decision: Decision) -> tuple[FieldCheck, ...]:
    """Each check of each field at each place of a call, in the order of the policy."""
    if not isinstance(args, dict):
        return ()
    found: dict[str, list[Finding]] = {}
    for finding in decision.findings:
        found.setdefault(finding.at, []).append(finding)
    out: dict[FieldCheck, None] = {}
    for place in (*tool.places, *tool.conditional):
        for pointer, holder in places(args, place.at):
            for field in place.fields:
                at = f"{pointer}/{escape(field.key)}"
                given = [holder[field.key]] if field.key in holder else []
                out |= dict.fromkeys(_checks(field, at, given, found.get(at, ())))
    return tuple(out)


def _checks(
    field: Field, at: str, given: list[Any], found: Sequence[Finding]
) -> Iterator[FieldCheck]:
    value = shown(given[0]) if given else None
    own = [f for f in found if f.rule.startswith("fields/")]
    unusable = [f for f in own if f.rule in _UNUSABLE]
    for broken in unusable:
        yield FieldCheck(
            at, broken.rule, False, broken.message, value, broken.effect, broken.origin
        )
    if field.missing is not None and not unusable:
        report = field.missing
        yield FieldCheck(at, report.rule, True, report.message, value, report.effect, report.origin)
    for check in field.checks:
        holds = None if unusable or not given else not _is_broken(check, own)
        report = check.report
        yield FieldCheck(
            at, report.rule, holds, report.message, value, report.effect, report.origin
        )


def _is_broken(check: Check, found: Sequence[Finding]) -> bool:
    report = check.report
    return any((f.rule, f.message) == (report.rule, report.message) for f in found)


#: Findings after which nothing more is asked of a field.
_UNUSABLE = frozenset({"fields/missing", "fields/type", "fields/unreadable", "fields/collision"})
