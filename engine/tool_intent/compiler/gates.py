"""What is worth a search: literals of which a text must hold one to hold what is sought.

They serve ASCII texts. In the source, `<text>k` is what is looked at for literals, `<text>l` that
in lower case; `<text>m` says that looking for several costs more than the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tool_intent.compiler import conditions as c
from tool_intent.runtime.regex import FEW_LITERALS, Pattern

#: Phrases that are looked for one by one before a text is read for all of them.
_FEW_PHRASES = 8
#: Searches of one text from which it pays to look for the literals of all at once; literals that
#: are shorter stand in too many texts.
_MANY_SEARCHES = 8
_SHORTEST = 4


class Sought(NamedTuple):
    """A text that is searched, and literals of which any ASCII text that holds a match holds one,
    in lower case with `fold`; none where nothing is known."""

    text: c.Value
    literals: tuple[str, ...]
    fold: bool

    @property
    def several(self) -> bool:
        """Whether looking for them costs more than the search, on a text that is not short."""
        return len(self.literals) > FEW_LITERALS

    @property
    def is_rare(self) -> bool:
        """Whether most texts hold none of the literals."""
        return bool(self.literals) and min(map(len, self.literals)) >= _SHORTEST


def sought_in(node: Any) -> Sought | None:
    """What a search with a pattern or for a few phrases that are known beforehand looks for."""
    if not isinstance(node, c.Infix):
        return None
    if isinstance(node.right, Pattern):
        return Sought(node.left, node.right.literals, node.right.fold)
    phrases: tuple[str, ...] = ()
    if node.function == "mentions":
        match node.right:
            case c.Const(str(phrase)) if "/" not in phrase:
                phrases = (phrase,)
            case c.Texts(values):
                phrases = values
    if not 0 < len(phrases) <= _FEW_PHRASES:
        return None
    # A phrase is found where its words are. Its longest is part of an ASCII text, in lower case,
    # that holds it, so one that is not ASCII is in no such text.
    folded = [phrase.casefold().replace("\0", " ") for phrase in phrases]
    longest = {max(phrase.split(), key=len, default="") for phrase in folded}
    return Sought(node.left, tuple(sorted(w for w in longest if w and w.isascii())), fold=True)


def in_common(sought: Iterable[Sought]) -> dict[c.Value, frozenset[str]]:
    """By text, literals to look for at once before all else, in lower case; empty where there are
    too few. `sought` are searches that are asked for whatever a call says."""
    rare: dict[c.Value, list[Sought]] = {}
    for one in sought:
        if one.is_rare:
            rare.setdefault(one.text, []).append(one)
    # An argument may be long.
    texts = [
        t for t, s in rare.items() if isinstance(t, c.FieldText) or len(s) >= _MANY_SEARCHES // 2
    ]
    if sum(len(rare[text]) for text in texts) < _MANY_SEARCHES:
        return {}
    return {t: frozenset(x.lower() for one in rare[t] for x in one.literals) for t in texts}


def is_common(sought: Sought, common: Mapping[c.Value, frozenset[str]]) -> bool:
    """Whether a search finds nothing where none of the common literals is."""
    known = common.get(sought.text, frozenset())
    return bool(sought.literals) and known.issuperset(x.lower() for x in sought.literals)


def worth(name: str, sought: Sought) -> str:
    """Whether it is worth looking through a text that the source has read as `name`."""
    if not sought.literals:
        return f"{name} != ''"
    held = [f"{literal!r} in {name}{'l' if sought.fold else 'k'}" for literal in sought.literals]
    any_held = " or ".join([f"{name}m", *held] if sought.several else held)
    return f"({any_held})" if len(held) > 1 else any_held
