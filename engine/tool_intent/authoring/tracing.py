"""The evaluation of a rule as a tree of steps: what each part of its text came to, and which parts
decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from tool_intent.authoring.shown import shortened, shown
from tool_intent.compiler import conditions as c
from tool_intent.compiler.sources import Sources
from tool_intent.compiler.walk_doubts import cause
from tool_intent.compiler.walk_rules import Frame
from tool_intent.rules import tree as t
from tool_intent.rules.printer import print_condition
from tool_intent.runtime.causes import is_unknown

Status: TypeAlias = Literal["true", "false", "unknown", "skipped", "value"]

#: Evaluations of one rule at one place that are kept; a longer one is cut short.
_MOST_KEPT: Final = 20_000
#: Elements of a list, or earlier calls, that are shown of each condition on them.
_MOST_SHOWN: Final = 5
_LONGEST_TEXT: Final = 120

_CONDITIONS = (
    c.Truth, c.Has, c.Compare, c.In, c.Infix, c.Every, c.Some, c.Negation, c.Quantified, c.Earlier,
)  # fmt: skip
_REPEATED = (c.Quantified, c.CountOf, c.Earlier, c.CountEarlier)
#: What says nothing that the text does not say.
_LITERAL = (c.Const, c.Texts, c.Items)


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a rule's text and what it came to.

    `status` is `value` for what is neither true nor false; `value` is then shown. `reason` says why
    an unknown one is unknown. `decides` marks what the outcome rests on. `element` says which
    element or earlier call the part was asked of. `texts` are the nodes of the rule it is from.
    `omitted` counts elements left out.
    """

    text: str
    status: Status
    value: str
    decides: bool
    reason: str | None
    element: str | None
    parts: tuple[Step, ...]
    omitted: int
    texts: tuple[t.Condition, ...]


class Tracer:
    """Observes the walker, and gives what it saw as steps."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._open: list[_Evaluation] = []
        self._roots: list[_Evaluation] = []
        self._kept = 0

    def begun(self, node: c.Condition | c.Value, frame: Frame) -> None:
        evaluation = _Evaluation(node, frame)
        self._kept += 1
        if self._kept <= _MOST_KEPT:
            (self._open[-1].parts if self._open else self._roots).append(evaluation)
        self._open.append(evaluation)

    def ended(self, answer: Any) -> None:
        self._open.pop().answer = answer

    def take(self, outcome: bool | None = True) -> tuple[Step, ...]:
        """The steps since the last taking, one tree for each condition evaluated.

        `outcome` says what was to be decided: with True each of them had a part in it, with False
        only the last, which made the others idle, with None those that are unknown.
        """
        roots, self._roots, self._kept = self._roots, [], 0
        asked = [root for root in roots if isinstance(root.node, _CONDITIONS)]
        decisive = asked if outcome else asked[-1:]
        if outcome is None:
            decisive = [root for root in asked if root.answer is None]
        for root in decisive:
            _mark(root)
        return tuple(step for root in roots for step in self._steps(root, None))

    def _steps(self, seen: _Evaluation, element: str | None) -> Iterator[Step]:
        """The step of an evaluation; those of its parts where no text says it as a whole."""
        if isinstance(seen.node, c.Variable) and not seen.node.steps and seen.answer is not None:
            return  # what it is at is said beside what is asked of it
        texts = self._sources.of(seen.node)
        parts = tuple(self._parts(seen, texts))
        if not texts or isinstance(seen.node, _LITERAL):
            why = _cause(seen, parts)
            yield from (
                replace(p, element=p.element or element, reason=p.reason or why) for p in parts
            )
            return
        shown_parts, omitted = _chosen(seen, parts)
        yield Step(
            _text(texts),
            _status(seen),
            shown(seen.answer),
            seen.decides,
            _cause(seen, parts),
            element,
            shown_parts,
            omitted,
            texts,
        )

    def _parts(self, seen: _Evaluation, texts: tuple[t.Condition, ...]) -> Iterator[Step]:
        for part in seen.parts:
            own = self._sources.of(part.node)
            if any(one is two for one in own for two in texts):
                # A value that stands as a condition is one step, not two.
                yield from self._parts(part, texts)
                continue
            yield from self._steps(part, _element(seen, part))
        if isinstance(seen.node, c.Every | c.Some):
            for node in seen.node.parts[len(seen.parts) :]:
                yield from self._skipped(node)

    def _skipped(self, node: c.Condition) -> Iterator[Step]:
        texts = self._sources.of(node)
        if texts:
            yield Step(_text(texts), "skipped", "", False, None, None, (), 0, texts)
        else:
            for inner in c.children(node):
                if isinstance(inner, _CONDITIONS):
                    yield from self._skipped(inner)


class _Evaluation:
    __slots__ = ("answer", "decides", "frame", "node", "parts")

    def __init__(self, node: Any, frame: Frame) -> None:
        self.node = node
        self.frame = frame
        self.parts: list[_Evaluation] = []
        self.answer: Any = None
        self.decides = False


def _mark(seen: _Evaluation) -> None:
    """Mark what an outcome rests on: the parts that came to what the whole came to."""
    seen.decides = True
    turned = isinstance(seen.node, c.Negation) or (
        isinstance(seen.node, c.Quantified) and seen.node.kind == "none"
    )
    wanted = seen.answer
    if turned and wanted is not None:
        wanted = not wanted
    for part in seen.parts:
        if isinstance(part.node, _CONDITIONS) and part.answer is wanted:
            _mark(part)


def _status(seen: _Evaluation) -> Status:
    if not isinstance(seen.node, _CONDITIONS):
        return "unknown" if seen.answer is None else "value"
    return "unknown" if seen.answer is None else "true" if seen.answer else "false"


def _cause(seen: _Evaluation, parts: Iterable[Step]) -> str | None:
    """Why it is unknown, where none of its parts says why."""
    if any(p.reason for p in parts):
        return None
    return cause(seen.node, seen.frame) if is_unknown(seen.answer) else None


def _chosen(seen: _Evaluation, parts: tuple[Step, ...]) -> tuple[tuple[Step, ...], int]:
    """The parts to show: of a long list those that decided, and how many are left out."""
    if not isinstance(seen.node, _REPEATED) or len(parts) <= _MOST_SHOWN + 1:
        return parts, 0
    first = [p for p in parts if p.element is None]
    repeated = sorted((p for p in parts if p.element is not None), key=lambda p: not p.decides)
    kept = repeated[:_MOST_SHOWN]
    return (*first, *kept), len(repeated) - len(kept)


def _element(whole: _Evaluation, part: _Evaluation) -> str | None:
    """What of a list, or which earlier call, a part was asked of."""
    match whole.node:
        case c.Quantified(variable=name) | c.CountOf(variable=name) if isinstance(
            part.node, _CONDITIONS
        ):
            return f"{name} = {shown(part.frame.variables.get(name))}"
        case c.Earlier() | c.CountEarlier():
            state, judged = part.frame.state, part.frame.judged
            history = None if judged is None else judged.history
            for record in reversed([] if history is None else history.records):
                if record.state is state and history is not None:
                    return f"call {record.number + 1}, {state.tool}"
    return None


def _text(texts: tuple[t.Condition, ...]) -> str:
    """The text as it is written; a name with what it stands for."""
    printed = list(dict.fromkeys(print_condition(text) for text in reversed(texts)))
    return shortened(", which is ".join(printed), _LONGEST_TEXT)
