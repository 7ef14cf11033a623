"""The tree walker for rules: Kleene's three values, evaluated plainly.

It explains decisions and is the oracle of the compiled form, so it knows no shortcut: history is
gone through call by call. Whoever wants to see each step gives the frame an observer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from tool_intent.compiler import conditions as c
from tool_intent.runtime.budget import affordable
from tool_intent.runtime.comparing import compare, contains
from tool_intent.runtime.functions import apply, infix, matches, step_into
from tool_intent.runtime.history import MOST_TRIED, Record, SessionHistory
from tool_intent.runtime.reading import Seq, present
from tool_intent.runtime.regex import Pattern
from tool_intent.runtime.spots import Spot
from tool_intent.runtime.state import State

Meant = Callable[[tuple[str, ...], str], bool]


class Observer(Protocol):
    """Is told of every evaluation. What is evaluated for a node comes between its two calls."""

    def begun(self, node: c.Condition | c.Value, frame: Frame) -> None:
        """A node is about to be evaluated."""

    def ended(self, answer: Any) -> None:
        """What the node begun last, and not ended yet, came to; None for unknown."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a condition is evaluated in: the call, the place, the variables, and inside a `where`
    the frame of the call being judged. `meant` says whether targets mean a tool; `observer` is told
    of every evaluation."""

    state: State
    spot: Spot
    meant: Meant
    history: SessionHistory | None = None
    variables: dict[str, Any] = field(default_factory=dict)
    judged: Frame | None = None
    captured: tuple[Any, ...] = ()
    observer: Observer | None = None


class Verdict(NamedTuple):
    """What a rule came to at one place: `fired` as `fires` gives it. `element` is what an `each`
    was at, None without one or where its list could not be told."""

    at: str
    element: Any
    fired: bool | None
    frame: Frame


def verdicts(sentence: c.Sentence, frame: Frame) -> Iterator[Verdict]:
    """What a rule comes to at each of its places, in the order they are judged."""
    frame = replace(frame, state=frame.state.seen(sentence.view))
    for spot in frame.state.spots(sentence.places):
        here = replace(frame, spot=spot)
        if sentence.each is None:
            yield Verdict(spot.at, None, fires(sentence, here), here)
            continue
        variable, source = sentence.each
        listed = value(source, here)
        if not isinstance(listed, Seq):
            listed = Seq((), False)
        for item in listed.items:
            inside = replace(here, variables={variable: item})
            yield Verdict(spot.at, item, fires(sentence, inside), inside)
        if not listed.complete:
            yield Verdict(spot.at, None, None, here)


def fires(sentence: c.Sentence, frame: Frame) -> bool | None:
    """Whether a rule fires at a place: True, False, or None where that is unknown, and it does."""
    guard = True if sentence.guard is None else holds(sentence.guard, frame)
    if guard is False:
        return False
    asked = None if sentence.condition is None else holds(sentence.condition, frame)
    broken = {
        "effect": True,
        "forbid": asked,
        "require": None if asked is None else not asked,
    }[sentence.kind]
    return False if broken is False else broken if guard else None


def holds(node: c.Condition, frame: Frame) -> bool | None:
    """Whether a condition holds: True, False, None for unknown."""
    if frame.observer is None:
        return _holds(node, frame)
    frame.observer.begun(node, frame)
    answer = _holds(node, frame)
    frame.observer.ended(answer)
    return answer


def value(node: c.Value, frame: Frame) -> Any:
    """A value, None for unknown."""
    if frame.observer is None:
        return _value(node, frame)
    frame.observer.begun(node, frame)
    found = _value(node, frame)
    frame.observer.ended(found)
    return found


def _holds(node: c.Condition, frame: Frame) -> bool | None:
    match node:
        case c.Every(inner):
            return _all(holds(p, frame) for p in inner)
        case c.Some(inner):
            return _any(holds(p, frame) for p in inner)
        case c.Negation(part):
            answer = holds(part, frame)
            return None if answer is None else not answer
        case c.Truth(inside):
            answer = value(inside, frame)
            return answer if isinstance(answer, bool) else None
        case c.Has(inside):
            return _has(inside, frame)
        case c.Compare(operator, left, right, how):
            one, two = value(left, frame), value(right, frame)
            if how == "plain":
                return compare(operator, one, two)
            return compare(operator, one, two, _home(left, frame), _home(right, frame))
        case c.In(left, right, how):
            state = frame.state if how == "path" else None
            return contains(value(right, frame), value(left, frame), state)
        case c.Infix(function, left, right, of):
            if isinstance(right, Pattern):
                return matches(right, value(left, frame))
            return infix(function, value(left, frame), value(right, frame), of, frame.state)
        case c.Quantified():
            return _quantified(node, frame)
        case c.Earlier(history):
            found = _earlier(history, frame)
            return _any(found)


def _home(node: c.Value, frame: Frame) -> State:
    """The call that a value is from, whose folder a relative path starts at."""
    return frame.judged.state if isinstance(node, c.Judged) and frame.judged else frame.state


def _value(node: c.Value, frame: Frame) -> Any:
    state, chain = frame.state, frame.spot.chain
    match node:
        case c.Const(given) | c.Texts(given):
            return given
        case c.Items(values):
            return Seq(tuple(value(v, frame) for v in values), True)
        case c.FieldText(name, depth):
            return state.text(chain, name, depth)
        case c.FieldValue(name, depth):
            return state.value(chain, name, depth)
        case c.Role(name, at):
            return state.role(at, name)
        case c.Argument(steps):
            return state.argument(steps)
        case c.Entry(steps):
            return state.entry(chain, steps)
        case c.ToolName():
            return state.tool
        case c.Context(name):
            # What an earlier call's surface told is not kept: context is the judged call's.
            return (frame.judged or frame).state.told(name)
        case c.Session():
            return (frame.judged or frame).state.view
        case c.WholeCall():
            return state.call_texts()
        case c.CallList(name):
            return state.call_list(name)
        case c.CommandPart(name, at):
            return state.attribute(name, at)
        case c.Variable(name, steps):
            found = frame.variables.get(name)
            for step in steps:
                found = step_into(found, step)
            return found
        case c.Judged(inner):
            assert frame.judged is not None
            return value(inner, frame.judged)
        case c.Captured(number):
            return frame.captured[number]
        case c.Apply(function, arguments):
            return apply(function, tuple(value(a, frame) for a in arguments))
        case c.CountOf(variable, source, condition):
            return _count(variable, source, condition, frame)
        case c.CountEarlier(history):
            found = list(_earlier(history, frame))
            return None if None in found else sum(1 for f in found if f)


def _has(node: c.Value, frame: Frame) -> bool | None:
    chain = frame.spot.chain
    match node:
        case c.FieldText():
            text = value(node, frame)
            return None if text is None else text != ""
        case c.FieldValue(name, depth):
            return frame.state.has_value(chain, name, depth)
        case c.Argument(steps):
            return present(frame.state.args, steps)
        case c.Entry(steps):
            return present(chain[-1], steps)
        case c.Role(name, at):
            return frame.state.has_role(at, name)
        case c.Variable(name, steps):
            return frame.state.has_member(frame.variables.get(name), steps)
        case c.Judged(inner):
            assert frame.judged is not None
            return _has(inner, frame.judged)
        case c.Context():
            return None if value(node, frame) is None else True
    return None if value(node, frame) is None else True


def _quantified(node: c.Quantified, frame: Frame) -> bool | None:
    listed = value(node.source, frame)
    if isinstance(listed, tuple) and not isinstance(listed, Seq):
        listed = Seq(listed, True)
    if not isinstance(listed, Seq) or not affordable(
        listed, node.cost, node.reads_arguments, frame.state
    ):
        return None
    answers = [
        holds(node.condition, replace(frame, variables={**frame.variables, node.variable: item}))
        for item in listed.items
    ]
    if not listed.complete:
        answers.append(None)
    if node.kind == "all":
        return _all(answers)
    found = _any(answers)
    if node.kind == "any" or found is None:
        return found
    return not found


def _count(variable: str, source: c.Value, condition: c.Condition, frame: Frame) -> int | None:
    listed = value(source, frame)
    if isinstance(listed, tuple) and not isinstance(listed, Seq):
        listed = Seq(listed, True)
    if not isinstance(listed, Seq) or not listed.complete:
        return None
    answers = [
        holds(condition, replace(frame, variables={**frame.variables, variable: item}))
        for item in listed.items
    ]
    return None if None in answers else sum(1 for a in answers if a)


def _earlier(history: c.History, frame: Frame) -> Iterator[bool | None]:
    """Whether each earlier call in the window is one, as far as can be told."""
    if frame.history is None:
        yield None
        return
    past = frame.history
    oldest, sure = past.bound(history.calls, history.seconds, frame.state.now)
    records = [r for r in past.records if r.number >= oldest]
    after_sure, after_possible = -1, -1
    if history.since is not None:
        for record in past.records:
            answer = _meant(history.since, record, frame)
            if answer is not False:
                after_possible = record.number
            if answer:
                after_sure = record.number
    tried = 0
    for record in reversed(records):
        answer = _meant(history.past, record, frame)
        if answer is False or record.number <= after_sure:
            continue
        tried += 1
        yield None if record.number <= after_possible or not sure else answer
    if history.past.atom.rest is not None and tried > MOST_TRIED:
        yield None


def _meant(past: c.Past, record: Record, frame: Frame) -> bool | None:
    atom = past.atom
    if not frame.meant(atom.targets, record.state.tool):
        return False
    assert frame.history is not None
    if past.outcome not in ("tried", frame.history.outcome_of(record.number)):
        return False
    if atom.where is None:
        return True
    state = record.state.seen(atom.view)
    return _any(
        holds(
            atom.where,
            Frame(state, spot, frame.meant, None, {}, frame, observer=frame.observer),
        )
        for spot in state.spots_of(atom.fields)
    )


def _all(answers: Iterable[bool | None]) -> bool | None:
    unknown = False
    for answer in answers:
        if answer is False:
            return False
        unknown = unknown or answer is None
    return None if unknown else True


def _any(answers: Iterable[bool | None]) -> bool | None:
    unknown = False
    for answer in answers:
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False
