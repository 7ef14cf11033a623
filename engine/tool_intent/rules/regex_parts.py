"""Taking a pattern apart: alternatives that find together what it finds, and how long each gets.

Only whether there is a match is ever asked, so `a(?:b|c)` is `ab` or `ac`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from tool_intent.rules.regex_emit import Texts, emit
from tool_intent.rules.regex_literals import required
from tool_intent.rules.regex_tree import (
    Alternate,
    Assertion,
    Bracket,
    Char,
    Concat,
    Flags,
    Group,
    Node,
    Opaque,
    Perl,
    Repeat,
    Span,
    children,
    walk,
)
from tool_intent.runtime.regex_parts import PartImage

#: A pattern of more alternatives stays in one piece.
MAX_PARTS: Final = 64
#: A match of more bytes is as good as one without a bound.
MAX_REACH: Final = 4096
#: Two alternatives within a sequence are not worth a program of each.
_WORTH: Final = 3
_WIDEST: Final = 4
_HIGHEST: Final = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")


def parts(root: Node, head: str) -> tuple[PartImage, ...]:
    """The alternatives of a pattern of a rule; `head` sets the flags that hold from its start."""
    stands = all(map(_can_stand, walk(root)))
    nodes = [part for branch in _branches(root) for part in _distributed(branch)]
    # Without stand-ins each part would hold the tables of its classes.
    if len(nodes) > MAX_PARTS or (not stands and any(map(_has_table, walk(root)))):
        nodes = [root]
    fold = "i" in head or any(map(_sets_fold, walk(root)))
    return tuple(_part(node, head, stands, fold) for node in nodes)


def _part(node: Node, head: str, stands: bool, fold: bool) -> PartImage:
    """What `Part` is made of."""
    literals, any_case = required(node)
    reach = _longest(node, fold) or 0
    texts: Texts = "stand-ins" if stands else "all"
    return (
        head + emit(node, texts),
        head + emit(node, "ascii"),
        stands,
        literals,
        any_case,
        _lead(node, head, texts),
        reach if reach <= MAX_REACH else 0,
    )


def _lead(node: Node, head: str, texts: Texts) -> str:
    """What every match begins with, if the literals that are looked for are in it."""
    lead: list[Node] = []
    has_text = has_edge = False
    for item in _flat(node):
        if _is_fixed(item):
            has_text = True
        elif not has_text and not has_edge and _is_edge(item):
            has_edge = True
        elif not isinstance(item, Assertion | Flags):
            break
        lead.append(item)
    front = Concat(tuple(lead))
    sought = required(node)
    return head + emit(front, texts) if sought[0] and required(front) == sought else ""


def _flat(node: Node) -> Iterator[Node]:
    """The items of a sequence, and those of groups that are sequences without flags."""
    if isinstance(node, Concat):
        for item in node.items:
            yield from _flat(item)
    elif isinstance(node, Group) and node.head == "(?:" and _is_plain(node.body):
        yield from _flat(node.body)
    else:
        yield node


def _is_plain(node: Node) -> bool:
    return isinstance(node, Concat) and not _changes_flags([node])


def _is_fixed(node: Node) -> bool:
    """Whether a node matches some fixed texts and nothing else."""
    if isinstance(node, Char):
        return True
    is_made_of = isinstance(node, Concat | Alternate | Group)
    return is_made_of and all(map(_is_fixed, children(node)))


def _is_edge(node: Node) -> bool:
    """Whether a node matches one character at the most, as the neighbour of a word does."""
    if isinstance(node, Group) and isinstance(node.body, Alternate):
        branches = [_items(branch) for branch in node.body.branches]
        return all(len(items) == 1 and _is_narrow(items[0]) for items in branches)
    return _is_narrow(node)


def _is_narrow(node: Node) -> bool:
    return isinstance(node, Assertion | Bracket | Opaque | Perl)


def _branches(root: Node) -> tuple[Node, ...]:
    """The alternatives of the whole pattern; a flag in front holds for all of them."""
    if not isinstance(root, Alternate):
        return (root,)
    first, *others = map(_items, root.branches)
    front = first[:1] if first and isinstance(first[0], Flags) else ()
    branches = [Concat(items) for items in (first[len(front) :], *others)]
    if _changes_flags(branches):
        return (root,)
    return tuple(Concat((*front, *branch.items)) for branch in branches)


def _items(node: Node) -> tuple[Node, ...]:
    return node.items if isinstance(node, Concat) else (node,)


def _distributed(node: Node) -> Iterator[Node]:
    """A sequence for each alternative of its widest group."""
    at = _widest(node)
    if at is None or not isinstance(node, Concat):
        yield node
        return
    group = node.items[at]
    assert isinstance(group, Group)
    assert isinstance(group.body, Alternate)
    for branch in group.body.branches:
        yield Concat((*node.items[:at], Group(group.head, branch), *node.items[at + 1 :]))


def _widest(node: Node) -> int | None:
    if not isinstance(node, Concat):
        return None
    sizes = {
        len(item.body.branches): n
        for n, item in enumerate(node.items)
        if isinstance(item, Group)
        and isinstance(item.body, Alternate)
        and not _changes_flags(item.body.branches)
    }
    return sizes[max(sizes)] if sizes and max(sizes) >= _WORTH else None


def _changes_flags(branches: Sequence[Node]) -> bool:
    """Whether one of several alternatives may set flags for those that follow."""
    return any(isinstance(node, Flags) for branch in branches for node in walk(branch))


def _can_stand(node: Node) -> bool:
    r"""Whether a node tells characters beyond ASCII apart by `\w`, `\d` and `\s` at the most."""
    if isinstance(node, Bracket):
        return all(map(_is_told_by_class, node.items))
    if isinstance(node, Char):
        return node.code < 128
    return not isinstance(node, Opaque) or _is_told_by_class(node)


def _is_told_by_class(item: Perl | Opaque | Span) -> bool:
    if isinstance(item, Span):
        return item.high < 128
    return isinstance(item, Perl) or item.text.startswith((".", "[:"))


def _has_table(node: Node) -> bool:
    return isinstance(node, Perl) or (
        isinstance(node, Bracket) and any(isinstance(item, Perl) for item in node.items)
    )


def _sets_fold(node: Node) -> bool:
    text = node.text if isinstance(node, Flags) else node.head if isinstance(node, Group) else ""
    return "i" in text.partition("-")[0]


def _longest(node: Node, fold: bool) -> int | None:
    """How many bytes of UTF-8 a match has at the most, or None without a bound."""
    if isinstance(node, Concat):
        return _sum([_longest(item, fold) for item in node.items])
    if isinstance(node, Alternate):
        found = [_longest(branch, fold) for branch in node.branches]
        return None if None in found else max(n for n in found if n is not None)
    if isinstance(node, Group):
        return _longest(node.body, fold)
    if isinstance(node, Repeat):
        one, times = _longest(node.body, fold), _most(node.text)
        return None if one is None or times is None else one * times
    if isinstance(node, Assertion | Flags):
        return 0
    return _WIDEST if fold else _bytes(node)


def _bytes(node: Node) -> int:
    """The most bytes of a class that does not fold."""
    if isinstance(node, Char):
        return len(chr(node.code).encode())
    if isinstance(node, Bracket) and not node.negated:
        highest = [item.high if isinstance(item, Span) else None for item in node.items]
        if all(high is not None and high < 128 for high in highest):
            return 1
    return _WIDEST


def _sum(found: list[int | None]) -> int | None:
    return None if None in found else sum(n for n in found if n is not None)


def _most(operator: str) -> int | None:
    """How often a repetition may repeat, or None without a bound."""
    if operator[0] == "?":
        return 1
    found = _HIGHEST.match(operator)
    if found is None:
        return None
    low, comma, high = found.groups()
    return int(high) if high else None if comma else int(low)
