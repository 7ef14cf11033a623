r"""`\b` without look-around: at the outer edges of a pattern it becomes a neighbour to match.

RE2's own `\b` is ASCII. In a rule it is Unicode, so `\bword` is read as `(?:\A|\W)word`, and
`word\b` as `word(?:\z|\W)`, `\W` in its Unicode meaning. Only whether there is a match is ever
asked, so matching the neighbour too is harmless at an edge and wrong anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from tool_intent.rules.regex_tree import (
    OTHER,
    WORD,
    Alternate,
    Assertion,
    Concat,
    Flags,
    Group,
    Node,
    PatternError,
    Perl,
    Repeat,
    children,
    class_kinds,
)

Side: TypeAlias = Literal["left", "right"]

_ENDS: Final = {"left": {"^", "\\A"}, "right": {"$", "\\z"}}
_PROPOSE: Final = "say it with `mentions`, which finds whole words, or write the neighbours out"
_CASE: Final = "(?-i:"


def translate(root: Node) -> Node:
    r"""The tree without `\b`; raises PatternError where one cannot be translated."""
    for side in ("left", "right"):
        root = _edge(root, side)
    _refuse(root)
    return root


def _edge(node: Node, side: Side) -> Node:
    if isinstance(node, Alternate):
        return Alternate(tuple(_edge(branch, side) for branch in node.branches))
    if isinstance(node, Group):
        return Group(node.head, _edge(node.body, side))
    if isinstance(node, Concat):
        return _sequence(node, side)
    return node


def _sequence(node: Concat, side: Side) -> Node:
    """The sequence with the `\\b` at its edge replaced; seen from the right for the right edge."""
    items = list(_seen(node.items, side))
    lead = 0
    while lead < len(items) and isinstance(items[lead], Assertion | Flags):
        lead += 1
    head, rest = items[:lead], items[lead:]
    bounds = [item for item in head if isinstance(item, Assertion) and item.text == "\\b"]
    if bounds:
        head = [item for item in head if item not in bounds]
        head, rest = _bounded(head, rest, bounds[0], side)
    elif rest and isinstance(rest[0], Group) and not any(isinstance(i, Assertion) for i in head):
        # Behind `^` a group is no outer edge: its neighbour would be matched inside the text.
        rest[0] = _edge(rest[0], side)
    return Concat(tuple(_seen([*head, *rest], side)))


def _bounded(
    head: list[Node], rest: list[Node], bound: Assertion, side: Side
) -> tuple[list[Node], list[Node]]:
    asserted = {item.text for item in head if isinstance(item, Assertion)}
    kinds = _kinds(rest, side)
    if asserted and not (asserted <= _ENDS[side] and kinds == WORD):
        raise PatternError(
            f"`\\b` beside `{min(asserted)}` needs a word character beside it",
            _PROPOSE,
            bound.offset,
        )
    if asserted:
        return head, rest
    if kinds == WORD:
        return [*head, _neighbour(side)], rest
    if kinds == OTHER:
        return [*head, Perl("w")], rest
    if rest and isinstance(rest[0], Group) and None not in kinds:
        return head, [_pushed(rest[0], bound, side), *rest[1:]]
    raise PatternError(
        "`\\b` needs word characters only, or none, beside it; here it could be either",
        _PROPOSE,
        bound.offset,
    )


def _pushed(group: Group, bound: Assertion, side: Side) -> Group:
    """The group with the `\\b` moved into each of its alternatives."""
    body = group.body
    branches = body.branches if isinstance(body, Alternate) else (body,)
    inner = tuple(_sequence(_with(branch, bound, side), side) for branch in branches)
    return Group(group.head, inner[0] if len(inner) == 1 else Alternate(inner))


def _with(branch: Node, bound: Assertion, side: Side) -> Concat:
    items = branch.items if isinstance(branch, Concat) else (branch,)
    return Concat((bound, *items) if side == "left" else (*items, bound))


def _neighbour(side: Side) -> Node:
    # `(?-i:` keeps RE2 from folding a class of two thousand letters.
    edge = Assertion("\\A" if side == "left" else "\\z", 0)
    return Group(_CASE, Alternate((Concat((edge,)), Concat((Perl("W"),)))))


def _kinds(items: Iterable[Node], side: Side) -> frozenset[str | None]:
    """What the first character (the last, seen from the right) can be; None for no character."""
    found: set[str | None] = set()
    for item in items:
        kinds = _node_kinds(item, side)
        found |= kinds - {None}
        if None not in kinds:
            return frozenset(found)
    return frozenset(found | {None})


def _node_kinds(node: Node, side: Side) -> frozenset[str | None]:
    if isinstance(node, Concat):
        return _kinds(_seen(node.items, side), side)
    if isinstance(node, Group):
        return _node_kinds(node.body, side)
    if isinstance(node, Alternate):
        return frozenset().union(*(_node_kinds(branch, side) for branch in node.branches))
    if isinstance(node, Repeat):
        kinds = _node_kinds(node.body, side)
        return kinds if node.low else kinds | {None}
    if isinstance(node, Assertion | Flags):
        return frozenset([None])
    return frozenset(class_kinds(node))


def _seen(items: Sequence[Node], side: Side) -> Sequence[Node]:
    return items if side == "left" else items[::-1]


def _refuse(node: Node) -> None:
    if isinstance(node, Assertion):
        if node.text == "\\b":
            raise PatternError(
                "`\\b` is only read at the outer edge of a pattern or of an alternative",
                _PROPOSE,
                node.offset,
            )
        if node.text == "\\B":
            raise PatternError(
                "`\\B` is ASCII in RE2 and not read in rules",
                "write the neighbour out, as in `\\wing`",
                node.offset,
            )
    for child in children(node):
        _refuse(child)
