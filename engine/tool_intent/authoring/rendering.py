"""Explanations as text for people and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tool_intent.authoring.explain import Explanation, Judgement, Part, RuleExplained
from tool_intent.authoring.fields import FieldCheck
from tool_intent.authoring.shown import shortened
from tool_intent.authoring.tracing import Step
from tool_intent.runtime.model import Finding, Origin
from tool_intent.runtime.pointer import spoken

_OUTCOMES = {True: "fires", False: "is quiet", None: "fires: something is unknown"}
_HOLDS = {True: "ok", False: "broken", None: "-"}


def explanation_lines(explanation: Explanation, *, whole: bool = False) -> Iterator[str]:
    """For people: the decision, each field check, each rule. A rule that is quiet gets one line,
    unless the `whole` is asked for."""
    decision = explanation.decision
    yield f"{decision.decision} {shortened(decision.tool, 80)}"
    shown = {c.rule for c in explanation.fields} | {r.id for r in explanation.rules}
    for finding in decision.findings:
        if finding.rule not in shown and not whole:
            where = f" at {spoken(finding.at)}" if finding.at else ""
            yield f"  {finding.effect} {finding.rule}{where}: {finding.message}"
    yield from (_waived_line(finding) for finding in decision.findings if finding.waived)
    if explanation.before:
        yield f"  before it in the session: {_before(explanation)}"
    if explanation.fields:
        yield ""
        yield "fields"
        yield from (f"  {_field_line(check)}" for check in explanation.fields)
    for condition in explanation.conditions:
        where = f" at {spoken(condition.at)}" if condition.at else ""
        yield f"  an entry that asks only when{where}  {_origin(condition.origin)}"
        yield from _step_lines("", condition.step, 1)
    fired = [rule for rule in explanation.rules if rule.fires or whole]
    quiet = [rule for rule in explanation.rules if rule not in fired]
    for rule in fired:
        yield ""
        yield from rule_lines(rule)
    if quiet:
        yield ""
        yield "quiet"
        yield from (f"  {rule.id}: {_idle(rule)}  {_origin(rule.origin)}" for rule in quiet)
    if not explanation.fields and not explanation.rules:
        yield "  nothing of this is about the call"


def _waived_line(finding: Finding) -> str:
    where = f" at {spoken(finding.at)}" if finding.at else ""
    lowered = f"{finding.was} lowered to {finding.effect}"
    return f"  waiver {finding.waived}: {finding.rule}{where}, {lowered}"


def rule_lines(rule: RuleExplained) -> Iterator[str]:
    """A rule with its steps, `=>` before those that decided."""
    for judgement in rule.judgements:
        where = f" at {spoken(judgement.at)}" if judgement.at else ""
        element = f" for {judgement.element}" if judgement.element else ""
        outcome = _OUTCOMES[judgement.fired]
        yield f"{rule.effect} {rule.id} {outcome}{where}{element}  {_origin(rule.origin)}"
        yield from judgement_lines(judgement)


def judgement_lines(judgement: Judgement) -> Iterator[str]:
    """What a rule says at one place, and its steps."""
    if judgement.finding is not None:
        yield f"  {shortened(judgement.finding.message, 400)}"
    for part in judgement.parts:
        yield from _step_lines(part.clause, part.step, 1)


def _idle(rule: RuleExplained) -> str:
    """What a rule is quiet for: the first clauses that decided, at each of its places."""
    found = {
        f"{part.clause} is {part.step.status}"
        for judgement in rule.judgements
        for part in judgement.parts
        if part.step.decides
    }
    return ", ".join(sorted(found)) or "there is nothing that it could be asked of"


def _step_lines(clause: str, step: Step, depth: int) -> Iterator[str]:
    mark = "=>" if step.decides else "  "
    element = f"{step.element}: " if step.element else ""
    indent = "  " * depth
    if step.status == "value":
        yield f"            {indent}{element}{step.text} = {step.value}{_because(step)}"
    else:
        word = "not asked" if step.status == "skipped" else step.status
        label = f"{clause} " if clause else ""
        yield f"{mark} {word:<9}{indent}{element}{label}{step.text}{_because(step)}"
    for part in step.parts:
        yield from _step_lines("", part, depth + 1)
    if step.omitted:
        yield f"              {indent}… {step.omitted} more"


def _because(step: Step) -> str:
    return f"  ({step.reason})" if step.reason else ""


def _field_line(check: FieldCheck) -> str:
    given = "" if check.value is None else f" = {check.value}"
    return (
        f"{_HOLDS[check.holds]:<7}{spoken(check.at)}{given}: {check.says}"
        f" [{check.effect} {check.rule}]  {_origin(check.origin)}"
    )


def _before(explanation: Explanation) -> str:
    calls = [
        f"{call.number + 1} {shortened(call.tool, 40)} {call.outcome}"
        for call in explanation.before[-10:]
    ]
    more = len(explanation.before) - len(calls)
    return (f"{more} more, " if more else "") + ", ".join(calls)


def _origin(origin: Origin | None) -> str:
    return "" if origin is None else f"[{origin}]"


def explanation_data(explanation: Explanation) -> dict[str, Any]:
    """The same as data: `decision` as `decide` gives it, `fields`, `conditions`, `rules`."""
    return {
        "decision": explanation.decision.to_dict(),
        "before": [
            {"number": c.number + 1, "tool": c.tool, "outcome": c.outcome}
            for c in explanation.before
        ],
        "fields": [
            {
                "at": c.at, "rule": c.rule, "holds": c.holds, "says": c.says, "value": c.value,
                "effect": c.effect, "origin": _place(c.origin),
            }
            for c in explanation.fields
        ],
        "conditions": [
            {"at": c.at, "origin": _place(c.origin), "step": step_data(c.step)}
            for c in explanation.conditions
        ],
        "rules": [rule_data(rule) for rule in explanation.rules],
    }  # fmt: skip


def rule_data(rule: RuleExplained) -> dict[str, Any]:
    """A rule with its steps, as data."""
    return {
        "rule": rule.id,
        "effect": rule.effect,
        "origin": _place(rule.origin),
        "places": [
            {
                "at": j.at,
                "element": j.element,
                "fired": "unknown" if j.fired is None else j.fired,
                "message": None if j.finding is None else j.finding.message,
                "parts": [_part_data(part) for part in j.parts],
            }
            for j in rule.judgements
        ],
    }


def step_data(step: Step) -> dict[str, Any]:
    """One step and those under it."""
    return {
        "text": step.text,
        "status": step.status,
        "value": step.value if step.status == "value" else None,
        "decides": step.decides,
        "reason": step.reason,
        "element": step.element,
        "parts": [step_data(part) for part in step.parts],
        "omitted": step.omitted,
    }


def _part_data(part: Part) -> dict[str, Any]:
    return {"clause": part.clause, **step_data(part.step)}


def _place(origin: Origin | None) -> str | None:
    return None if origin is None else str(origin)
