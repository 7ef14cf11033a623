"""Literals that a text must hold to match: a cheap test before the engine is asked.

They are of ASCII; other characters of a pattern count for nothing. If they are folded, `ſ` and the
Kelvin sign have to be looked for too where a text is not ASCII, as they fold to `s` and `k`.
"""

from __future__ import annotations

from typing import Final

from tool_intent.rules.regex_tree import (
    Alternate,
    Assertion,
    Char,
    Concat,
    Flags,
    Group,
    Node,
    Repeat,
)

MAX_LITERALS: Final = 64
#: A repetition of more is not written out.
_LONGEST_REPEAT: Final = 16


def required(root: Node) -> tuple[tuple[str, ...], bool]:
    """Literals of which a matching text holds at least one, and whether it is to be folded.

    If folded, the literals are lower-cased and found in any case. No literals: nothing is known.
    """
    found = _node(root)
    if not found:
        return (), False
    fold = _folds(root)
    return tuple(sorted({text.lower() for text in found} if fold else found)), fold


def _node(node: Node) -> frozenset[str] | None:
    if isinstance(node, Concat):
        return _sequence(node)
    if isinstance(node, Group):
        return _node(node.body)
    if isinstance(node, Repeat):
        return _node(node.body) if node.low else None
    if isinstance(node, Alternate):
        return _union(node)
    if isinstance(node, Char):
        char = _ascii(node)
        return frozenset([char]) if char else None
    return None


def _union(node: Alternate) -> frozenset[str] | None:
    out: frozenset[str] = frozenset()
    for branch in node.branches:
        found = _node(branch)
        if not found:
            return None
        out |= found
    return out if len(out) <= MAX_LITERALS else None


def _sequence(node: Concat) -> frozenset[str] | None:
    """The best of what its parts require: runs of characters, and parts on their own."""
    found: list[frozenset[str]] = []
    run = ""
    for item in node.items:
        text = _exact(item)
        if text:
            run += text
        elif not isinstance(item, Assertion | Flags):
            found += [frozenset([run])] if run else []
            run = ""
            part = _node(item)
            found += [part] if part else []
    found += [frozenset([run])] if run else []
    return max(found, key=_worth, default=None)


def _worth(literals: frozenset[str]) -> tuple[int, int]:
    return min(len(text) for text in literals), -len(literals)


def _exact(node: Node) -> str:
    """The one text that a node matches, empty where there are several."""
    if isinstance(node, Char):
        return _ascii(node)
    if isinstance(node, Group):
        return _exact(node.body)
    if isinstance(node, Concat):
        parts = [_exact(item) for item in node.items]
        return "".join(parts) if all(parts) else ""
    if isinstance(node, Repeat) and node.low <= _LONGEST_REPEAT:
        is_fixed = node.text.rstrip("?") == f"{{{node.low}}}"
        return _exact(node.body) * node.low if is_fixed else ""
    return ""


def _ascii(node: Char) -> str:
    return chr(node.code) if node.code < 128 else ""


def _folds(node: Node) -> bool:
    if isinstance(node, Char):
        return node.fold
    if isinstance(node, Concat):
        return any(_folds(item) for item in node.items)
    if isinstance(node, Alternate):
        return any(_folds(branch) for branch in node.branches)
    return isinstance(node, Group | Repeat) and _folds(node.body)
