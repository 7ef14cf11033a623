"""The names that compiled rules call by, loaded where a policy has rules."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from tool_intent.runtime import looking
from tool_intent.runtime.comparing import compare, contains
from tool_intent.runtime.findings import Said, fired, shown_value
from tool_intent.runtime.functions import (
    apply,
    found_in,
    infix,
    like_path,
    step_into,
    under_path,
)
from tool_intent.runtime.matching import Matcher
from tool_intent.runtime.model import Origin
from tool_intent.runtime.reading import Seq, present
from tool_intent.runtime.regex import ANYTHING, Pattern, finder, holder
from tool_intent.runtime.session import Past
from tool_intent.runtime.shelves import AtomCode, Reads
from tool_intent.runtime.words import words as word_count

#: Tools that are remembered to be meant by a history, or not.
_MOST_TOOLS = 1_000


AtomImage: TypeAlias = tuple[tuple[str, ...], tuple[bool, ...], tuple[str, ...], int, Reads | None]


class AtomsImage(NamedTuple):
    """What a policy looks for in history, as data that `marshal` takes: for each atom its targets,
    which keys are compared as places, the fields it reads, whose view of the call it takes, and the
    roles and arguments it reads (None: any); and the groups of the policy."""

    code: CodeType
    constants: tuple[Any, ...]
    searches: tuple[tuple[Any, ...], ...]
    atoms: tuple[AtomImage, ...]
    groups: dict[str, tuple[str, ...]]
    #: Whether a rule asks what was seen, so that it is kept who said what.
    hears: bool = False


def rule_names(
    searches: tuple[tuple[Any, ...], ...], facts: tuple[tuple[Any, ...], ...] = ()
) -> dict[str, Any]:
    """What the source of rules refers to, besides constants."""
    names: dict[str, Any] = {f"S{n}": _fact(f) for n, f in enumerate(facts)}
    return (
        names
        | {
            "ANYTHING": ANYTHING,
            "Past": Past,
            "Said": Said,
            "Seq": Seq,
            "all_maybe": looking.all_maybe,
            "all_sure": looking.all_sure,
            "any_maybe": looking.any_maybe,
            "any_sure": looking.any_sure,
            "apply": apply,
            "as_list": looking.as_list,
            "compare": compare,
            "contains": contains,
            "count_earlier": looking.count_earlier,
            "count_of": looking.count_of,
            "earlier": looking.earlier,
            "fired": fired,
            "has_text": looking.has_text,
            "has_value": looking.has_value,
            "holder": holder,
            "infix": infix,
            "like_path": like_path,
            "under_path": under_path,
            "word_count": word_count,
            "matches": found_in,
            "present": present,
            "shown": shown_value,
            "step_into": step_into,
            "truth": looking.truth,
            "witness": looking.witness,
        }
        | {f"R{n}": finder(Pattern(*p)) for n, p in enumerate(searches)}
    )


class Doubt:
    """Names what a rule could not tell. Its source is compiled when a rule first fires for that:
    most never do."""

    __slots__ = ("_names", "_source", "_why")

    def __init__(self, source: str, names: dict[str, Any]) -> None:
        """`source` is a function in the names of compiled rules."""
        self._source = source
        self._names = names
        self._why: Callable[..., Any] | None = None

    def __call__(self, *given: Any) -> str:
        """What was unknown, for the call, the place and what variables are at."""
        if self._why is None:
            from tool_intent.runtime.doubts import NAMES

            self._names.update(NAMES)
            # Our own code: from the compiler, or a checked cache.
            # Our own source, out of the same image as the code of the rules.
            self._why = eval(self._source, self._names)  # noqa: S307
        why: str = self._why(*given)
        return why


def atom_codes(image: AtomsImage) -> list[AtomCode]:
    """The linked atoms of a policy."""
    names = rule_names(image.searches)
    names |= {f"C{n}": constant for n, constant in enumerate(image.constants)}
    exec(image.code, names)  # noqa: S102  (our own code: from the compiler, or a checked cache)
    matcher = Matcher(image.groups)
    return [
        AtomCode(
            _meaning(matcher, targets),
            names[f"filter{n}"],
            names[f"keys{n}"],
            by_place,
            names[f"captures{n}"],
            fields,
            view,
            reads,
        )
        for n, (targets, by_place, fields, view, reads) in enumerate(image.atoms)
    ]


def _meaning(matcher: Matcher, targets: tuple[str, ...]) -> Callable[[str], bool]:
    known: dict[str, bool] = {}

    def meant(tool: str) -> bool:
        if tool not in known:
            if len(known) >= _MOST_TOOLS:
                known.clear()
            known[tool] = any(matcher.means(target, tool) for target in targets)
        return known[tool]

    return meant


def _fact(fact: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a rule says of itself, its origin as one."""
    name, effect, field, origin, who = fact
    return (name, effect, field, None if origin is None else Origin(*origin), who)
