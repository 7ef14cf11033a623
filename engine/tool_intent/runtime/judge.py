"""One call judged by one program: copy, find everything, decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from tool_intent.runtime.arguments import is_plain_name, is_plain_scalar, snapshot
from tool_intent.runtime.decision import Decision, decided
from tool_intent.runtime.extend import collisions
from tool_intent.runtime.model import STRENGTH, Finding, Scalar
from tool_intent.runtime.permissions import settled
from tool_intent.runtime.pointer import escape, tokens
from tool_intent.runtime.program import Program
from tool_intent.runtime.strip import Carrier, Steps, places
from tool_intent.runtime.text import normalise

if TYPE_CHECKING:
    from tool_intent.runtime.paths import Place
    from tool_intent.runtime.session import SessionView
    from tool_intent.runtime.state import State

_NO_CARRIERS: tuple[Carrier, ...] = ()


class Around(NamedTuple):
    """What rules can ask about, besides the call itself: where it is made, what the surface tells
    of it, the time (seconds since the epoch), what its session did before, the point of enforcement
    ("" where nothing is enforced), and whether a call that passes uses up waivers there."""

    place: Place
    context: Mapping[str, Any] | None = None
    now: float | None = None
    view: SessionView | None = None
    point: str = ""
    spends: bool = True


def judge(
    program: Program,
    id: Scalar,
    args: Any,
    policy: str,
    schema: Any = None,
    around: Around | None = None,
) -> Decision:
    """The decision on a call of the program's tool. `args` is not changed.

    `schema` is the tool's own argument schema, where the host knows it better than the catalog;
    `around` is given where there are rules or waivers, or a history to keep.
    """
    if args.__class__ is dict and schema is None and not program.taken:
        copy = args.copy()
        known = program.known
        for key, value in copy.items():
            if key not in known and not is_plain_name(key):
                break
            if value.__class__ is str:
                if not value.isascii():
                    break
            elif not is_plain_scalar(value):
                break
        else:
            # Nothing but plain scalars under plain names: a shallow copy is deep, and nothing in
            # it is odd or ambiguous.
            found = program.judge(copy)
            if around is not None:
                found = _by_rules(program, copy, program.carriers, found or [], around)
            findings = () if not found else in_order(found, copy)
            return decided(id, program.tool, findings, copy, program.carriers, policy)
    return _judge_with_care(program, id, args, policy, schema, around)


def not_an_object(args: Any) -> Finding:
    """The finding for arguments that are no object."""
    return Finding(
        "args/not-an-object",
        "deny",
        "",
        f"the arguments must be an object, not {_KINDS.get(type(args), type(args).__name__)}",
        "Send the arguments as one JSON object.",
    )


def not_judged(tool: object, id: Scalar, policy: str, error: Exception) -> Decision:
    """The denial of a call that could not be judged; `error` is what went wrong inside."""
    finding = Finding(
        "engine/rule-error",
        "deny",
        "",
        f"tool-intent failed while judging this call ({type(error).__name__})",
        "A person must look into it: the call itself may be right.",
    )
    return decided(id, str(tool), (finding,), None, _NO_CARRIERS, policy)


def _judge_with_care(
    program: Program, id: Scalar, args: Any, policy: str, schema: Any, around: Around | None
) -> Decision:
    if not isinstance(args, dict):
        if around is not None and around.view is not None:
            around.view.tried(state_of(program, {}, _NO_CARRIERS, around))
        finding = not_an_object(args)
        return decided(id, program.tool, (finding,), None, _NO_CARRIERS, policy)
    copy, odd_keys, found = snapshot(args)
    found += program.judge(copy) or ()
    if odd_keys:
        found += _misspelt(program, copy)
    carriers = program.carriers
    taken = program.taken if schema is None else set(collisions(schema, carriers))
    if taken:
        mine = {pointer for c in carriers for pointer in _colliding(c, taken, copy)}
        found = [f for f in found if f.at not in mine or f.rule == "args/ambiguous"]
        found += _collided(program, taken)
        carriers = without(carriers, taken)
    if around is not None:
        found = _by_rules(program, copy, carriers, found, around)
    return decided(id, program.tool, in_order(found, copy), copy, carriers, policy)


def _by_rules(
    program: Program,
    args: dict[str, Any],
    carriers: tuple[Carrier, ...],
    found: list[Finding],
    around: Around,
) -> list[Finding]:
    """`found` and what the rules find, as permitted; the call then counts as tried."""
    state = state_of(program, args, carriers, around)
    if around.view is not None and around.context:
        hear_user(around.view, around.context.get("messages"))
    more = None if program.rules is None else program.rules(state)
    if more:
        found = found + more
    if found:
        found = _as_permitted(program, found, state, around)
        # Afterwards: of two that say the same, what lowers one must not lower the other.
        if more or program.waivers:
            found = once_each(found)
    if around.view is not None:
        around.view.tried(state)
    return found


def hear_user(view: SessionView, messages: Any) -> None:
    """Note what the user said: a text, or a list of texts; anything else says nothing."""
    for text in (messages,) if isinstance(messages, str) else messages or ():
        if isinstance(text, str):
            view.hear_user(text)


def _as_permitted(
    program: Program, found: list[Finding], state: State, around: Around
) -> list[Finding]:
    if program.permissions:
        found = settled(found, program.permissions, around.now, around.point)
    if program.waivers:
        from tool_intent.runtime.waivers import waived

        spends = bool(around.point) and around.spends
        found = waived(found, program.waivers, state, around.now, spends=spends)
    return found


def state_of(
    program: Program, args: dict[str, Any], carriers: tuple[Carrier, ...], around: Around
) -> State:
    """A call of the program's tool, as rules read it."""
    from tool_intent.runtime.state import State

    context = around.context or {}
    place = around.place
    cwd = context.get("cwd")
    if isinstance(cwd, str):
        place = place._replace(cwd=cwd if cwd.startswith("/") else None)
    views = program.views
    if views and carriers is not program.carriers:
        left = {(c.at, f) for c in carriers for f in c.fields}
        taken = {(c.at, f) for c in program.carriers for f in c.fields} - left
        views = tuple(v._replace(carriers=without(v.carriers, taken)) for v in views)
    return State(
        program.tool, args, carriers, program.roles, context, around.now, around.view, place, views
    )


def once_each(found: list[Finding]) -> list[Finding]:
    """Findings that say the same of one place, once, with the strongest effect."""
    kept: dict[tuple[str, str, str], Finding] = {}
    for finding in found:
        key = (finding.rule, finding.at, finding.message)
        before = kept.get(key)
        if before is None or STRENGTH[before.effect] < STRENGTH[finding.effect]:
            kept[key] = finding
    return list(kept.values())


def _misspelt(program: Program, args: dict[str, Any]) -> Iterable[Finding]:
    for carrier, numbers in zip(program.carriers, program.misspelt, strict=True):
        templates = dict(zip(carrier.fields, numbers, strict=True))
        for pointer, place in places(args, carrier.at):
            for key in place:
                meant = None if key in templates else normalise(key)
                if meant in templates:
                    yield program.templates[templates[meant]].at(f"{pointer}/{escape(key)}")


def _collided(program: Program, taken: Set[tuple[Steps, str]]) -> Iterable[Finding]:
    for carrier, numbers in zip(program.carriers, program.collision, strict=True):
        for name, number in zip(carrier.fields, numbers, strict=True):
            if (carrier.at, name) in taken:
                template = program.templates[number]
                yield template.at(template.name)


def _colliding(
    carrier: Carrier, taken: Set[tuple[Steps, str]], args: dict[str, Any]
) -> Iterable[str]:
    """Where the tool's own arguments stand that go by a field's name: they are not judged."""
    for name in carrier.fields:
        if (carrier.at, name) in taken:
            for pointer, _ in places(args, carrier.at):
                yield f"{pointer}/{escape(name)}"


def without(carriers: tuple[Carrier, ...], taken: Set[tuple[Steps, str]]) -> tuple[Carrier, ...]:
    """The carriers less the fields that are the tool's own arguments, and no reasons."""
    return tuple(c.without([f for f in c.fields if (c.at, f) in taken]) for c in carriers)


def in_order(found: list[Finding], args: dict[str, Any]) -> tuple[Finding, ...]:
    """By the place's position in the arguments, then by rule id."""
    if len(found) > 1:
        found.sort(key=lambda f: (_position(f.at, args), f.rule))
    return tuple(found)


def _position(pointer: str, args: dict[str, Any]) -> list[int]:
    """Where a pointer points, member by member; what is absent comes after what is there."""
    at: list[int] = []
    value: Any = args
    for token in tokens(pointer):
        if value.__class__ is dict:
            at.append(list(value).index(token) if token in value else len(value))
            value = value.get(token)
        elif value.__class__ is list and token.isdecimal():
            at.append(int(token))
            value = value[int(token)] if int(token) < len(value) else None
        else:
            at.append(0)
            value = None
    return at


_KINDS = {
    type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "text",
    list: "a list",
}  # fmt: skip
