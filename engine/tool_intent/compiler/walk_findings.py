"""What rules say that the tree walker found to fire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tool_intent.compiler import conditions as c
from tool_intent.compiler.walk_doubts import cause, iterated
from tool_intent.compiler.walk_rules import Frame, Verdict, holds, value, verdicts
from tool_intent.runtime import causes
from tool_intent.runtime.findings import fired, shown_value
from tool_intent.runtime.model import Finding
from tool_intent.runtime.reading import Seq


def walk_rule(sentence: c.Sentence, frame: Frame) -> Iterator[Finding]:
    """The findings of one rule on one call."""
    for verdict in verdicts(sentence, frame):
        if verdict.fired is not False:
            yield finding(sentence, verdict)


def finding(sentence: c.Sentence, verdict: Verdict) -> Finding:
    """What a rule that fires says at a place."""
    frame = replace(verdict.frame, observer=None)
    return fired(
        (sentence.id, sentence.effect, sentence.field, sentence.origin, sentence.who),
        verdict.at,
        _text(sentence.message, frame),
        None if sentence.fix is None else _text(sentence.fix, frame),
        why=_why(sentence, frame) if verdict.fired is None else None,
    )


def _why(sentence: c.Sentence, frame: Frame) -> str:
    """The first thing that is unknown: of the list that an `each` goes through where no element
    of it is at hand, or else of the guard, or of the condition."""
    if sentence.each is not None and sentence.each[0] not in frame.variables:
        return iterated(sentence.each[1], frame) or causes.SOMETHING
    asked = (x for x in (sentence.guard, sentence.condition) if x is not None)
    return next((why for x in asked if (why := cause(x, frame))), causes.SOMETHING)


def _text(parts: tuple[str | c.Shown, ...], frame: Frame) -> str:
    return "".join(p if isinstance(p, str) else shown_value(_shown(p, frame)) for p in parts)


def _shown(shown: c.Shown, frame: Frame) -> Any:
    if shown.witness is None:
        return value(shown.value, frame)
    node = shown.witness
    listed = value(node.source, frame)
    if isinstance(listed, tuple) and not isinstance(listed, Seq):
        listed = Seq(listed, True)
    if not isinstance(listed, Seq):
        return None
    for item in listed.items:
        inside = replace(frame, variables={**frame.variables, node.variable: item})
        answer = holds(node.condition, inside)
        if (answer is not True) if node.kind == "all" else (answer is not False):
            return value(shown.value, inside)
    return None
