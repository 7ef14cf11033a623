"""Rules of a policy, lowered for one tool: which apply, where they are judged, what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tool_intent.compiler import conditions as c
from tool_intent.compiler.lower_values import Names, condition, value
from tool_intent.compiler.sources import Sources
from tool_intent.policy.model import Rule, Scopes
from tool_intent.rules import tree as t
from tool_intent.rules.printer import print_condition
from tool_intent.runtime.strip import Carrier, innermost
from tool_intent.runtime.views import View


class Seen(NamedTuple):
    """What the rules of one rank see of a tool: every field of theirs and of stronger ranks with
    whether it is text, the tool as they see it, the rank's number, and what their policy prints to
    a model."""

    fields: Mapping[str, bool]
    view: View
    number: int
    printed: Callable[[], tuple[str, ...]] = tuple


def sentence(
    rule: Rule,
    seen: Seen,
    atoms: dict[Any, c.Atom],
    who: str | None,
    sources: Sources | None = None,
) -> c.Sentence:
    """A rule for one tool. `atoms` holds what is looked for in history, and grows; `sources` is
    told where each node is from.
    """
    fields, carriers = seen.fields, seen.view.carriers
    tree = rule.tree
    named, reads_entry = _names_read(tree, rule, fields)
    # Entries are what fields are carried by: a rule that reads them alone is judged at each.
    of_entries = {name for carrier in carriers for name in carrier.carried}
    places = innermost(carriers, of_entries if reads_entry and not named else named)
    depths, keys = _found_at(carriers, places, named)
    names = Names(
        rule.scopes, fields, depths, seen.view.roles, atoms, rule.origin.file, sources=sources,
        view=seen.number, printed=seen.printed, keys=keys,
    )  # fmt: skip
    each = None
    if tree.each is not None:
        each = (tree.each.variable, value(tree.each.source, names))
        names = names.binding(tree.each.variable, "any")
    guard = _guard(tree, names)
    verdict = tree.verdict
    required = None if verdict.condition is None else condition(verdict.condition, names)
    if required is not None and verdict.unless is not None:
        released = condition(verdict.unless, names)
        required = (
            c.Some((required, released))
            if verdict.kind == "require"
            else c.Every((required, c.Negation(released)))
        )
    elif verdict.unless is not None:
        guard = _both(guard, c.Negation(condition(verdict.unless, names)))
    decisive = [x for x in (required, guard) if x is not None]
    message = verdict.message
    shown = (_default_message(tree),) if message is None else _message(message, names, decisive)
    fix = None if tree.fix is None else _message(tree.fix, names, decisive)
    return c.Sentence(
        rule.id,
        rule.effect,
        guard,
        verdict.kind,
        required,
        places,
        each,
        shown,
        fix,
        next((keys.get(name, name) for name in named), None) if len(named) == 1 else None,
        rule.origin,
        who,
        seen.number,
    )


def when(
    node: t.Condition,
    at: tuple[str, ...],
    seen: Seen,
    atoms: dict[Any, c.Atom],
    file: str,
    sources: Sources | None = None,
) -> c.Condition:
    """The `when:` of an entry, asked at each of the entry's places."""
    fields = seen.fields
    named = {name for part in t.walk(node) for name in _bare_names(part) if name in fields}
    depths, keys = _found_at(seen.view.carriers, (at,), named)
    names = Names(
        Scopes(), fields, depths, seen.view.roles, atoms, file, sources=sources, view=seen.number,
        printed=seen.printed, keys=keys,
    )  # fmt: skip
    return condition(node, names)


def _guard(tree: t.Rule, names: Names) -> c.Condition | None:
    guard = None if tree.when is None else condition(tree.when, names)
    if tree.unless is not None:
        guard = _both(guard, c.Negation(condition(tree.unless, names)))
    return guard


def _both(left: c.Condition | None, right: c.Condition) -> c.Condition:
    return right if left is None else c.Every((left, right))


def _names_read(
    tree: t.Rule, rule: Rule, fields: Mapping[str, bool]
) -> tuple[dict[str, None], bool]:
    """The fields that a rule names itself, not those of earlier calls, in the order of the text;
    and whether it reads `entry`."""
    found: dict[str, None] = {}
    reads_entry = False
    waiting = list(t.conditions(tree))
    seen: set[int] = set()
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, t.History):
            since = None if node.since is None else node.since.where
            where = [w for w in (node.where, since) if w is not None]
            for name in (n for w in where for part in t.walk(w) for n in _judged_names(part)):
                reads_entry = reads_entry or name == "entry"
                if name in fields:
                    found[name] = None
            continue
        reads_entry = reads_entry or (isinstance(node, t.Path) and node.root == "entry")
        for name in _bare_names(node):
            if name in rule.scopes.defines and id(rule.scopes.defines[name]) not in seen:
                seen.add(id(rule.scopes.defines[name]))
                waiting.append(rule.scopes.defines[name])
            elif _is_field(name, rule, fields):
                found[name] = None
        waiting += t.parts(node)
    return found, reads_entry


def _is_field(name: str, rule: Rule, fields: Mapping[str, bool]) -> bool:
    scopes = rule.scopes
    named = name in scopes.words or name in scopes.options or name in scopes.defines
    return name in fields and not named


def _bare_names(node: t.Condition) -> list[str]:
    return [node.root] if isinstance(node, t.Path) and not node.steps else []


def _judged_names(node: t.Condition) -> list[str]:
    if not isinstance(node, t.Path) or node.root != "this" or not node.steps:
        return []
    first = str(node.steps[0])
    if first == "entry" or len(node.steps) == 1:
        return [first]
    return []


def _found_at(
    carriers: Sequence[Carrier],
    places: Sequence[tuple[str, ...]],
    named: Mapping[str, None] | set[str],
) -> tuple[dict[str, int], dict[str, str]]:
    """For each field, how many objects below the call the nearest place that carries it is, and
    what it goes by there.

    Where places of several kinds disagree, it is looked for by its name from the inside (-1).
    """
    depths: dict[str, int] = {}
    keys: dict[str, str] = {}
    for name in named:
        found = {_found(carriers, place, name) for place in places} - {None}
        if len(found) == 1:
            ((depths[name], keys[name]),) = (one for one in found if one is not None)
        elif found:
            depths[name] = -1
    return depths, keys


def _found(
    carriers: Sequence[Carrier], place: tuple[str, ...], name: str
) -> tuple[int, str] | None:
    around = [c for c in carriers if name in c.carried and place[: len(c.at)] == c.at]
    if not around:
        return None
    nearest = max(around, key=lambda carrier: len(carrier.at))
    at = nearest.at
    # Objects on the way: the call, then one for each step that leads to an object.
    deep = sum(1 for n in range(1, len(at) + 1) if _is_object(at, n, place))
    return deep, nearest.keys(name)[0]


def _is_object(at: tuple[str, ...], n: int, place: tuple[str, ...]) -> bool:
    """Whether the first `n` steps lead to an object rather than to a list."""
    following = (at + place[len(at) :])[n : n + 1]
    return following != ("[]",)


def _message(
    message: t.Message, names: Names, decisive: list[c.Condition]
) -> tuple[str | c.Shown, ...]:
    witnesses = {q.variable: q for root in decisive for q in _quantifiers(root)}
    parts: list[str | c.Shown] = []
    for part in message.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        expression = part.expression
        if isinstance(expression, t.Path) and expression.root in witnesses:
            steps = tuple("[]" if s is None else s for s in expression.steps)
            shown = c.Variable(expression.root, steps)
            parts.append(c.Shown(shown, witnesses[expression.root]))
        else:
            parts.append(c.Shown(value(expression, names), None))
    return tuple(parts)


def _quantifiers(node: Any) -> list[c.Quantified]:
    found = [node] if isinstance(node, c.Quantified) else []
    return found + [q for child in c.children(node) for q in _quantifiers(child)]


def message_of(tree: t.Rule) -> str:
    """What a rule says, with what it interpolates between braces."""
    message = tree.verdict.message
    if message is None:
        return _default_message(tree)
    return "".join(
        part if isinstance(part, str) else f"{{{print_condition(part.expression)}}}"
        for part in message.parts
    )


def _default_message(tree: t.Rule) -> str:
    verdict = tree.verdict
    if verdict.condition is None:
        return "This rule fires." if tree.when is None else f"{print_condition(tree.when)}."
    shown = print_condition(verdict.condition)
    return f"This must hold: {shown}." if verdict.kind == "require" else f"Forbidden: {shown}."
