"""Which part of a rule is unknown: what compiled rules call where one fires for it.

An answer is True, False or, where it is unknown, the text that says why. A value comes with the
text that says why it is unknown, None where it is known. Of several causes the first is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from tool_intent.runtime import causes
from tool_intent.runtime.budget import affordable
from tool_intent.runtime.functions import apply
from tool_intent.runtime.looking import as_list
from tool_intent.runtime.reading import Seq
from tool_intent.runtime.state import State

Answer: TypeAlias = bool | str
Told: TypeAlias = tuple[Any, str | None]


def every(parts: Iterable[Callable[[], Answer]]) -> Answer:
    """All hold."""
    return _joined((part() for part in parts), decides=False)


def some(parts: Iterable[Callable[[], Answer]]) -> Answer:
    """One holds."""
    return _joined((part() for part in parts), decides=True)


def turned(answer: Answer) -> Answer:
    """It does not hold."""
    return answer if isinstance(answer, str) else not answer


def leaf(answer: bool | None, why: Callable[[], str]) -> Answer:
    """A condition without conditions in it."""
    return why() if answer is None else answer


def quantified(
    kind: str,
    source: Told,
    holds: Callable[[Any], Answer],
    cost: int,
    reads: bool,
    state: State,
) -> Answer:
    """`any`, `all` or `none` of a list."""
    listed, why = source
    if not affordable(listed, cost, reads, state):
        return why or causes.BUDGET
    found = _joined((holds(item) for item in listed.items), decides=kind != "all")
    unknown = isinstance(found, str) or (not listed.complete and found is not (kind != "all"))
    if unknown:
        return because(why or found)
    return not found if kind == "none" else found


def counted(source: Told, holds: Callable[[Any], Answer]) -> Told:
    """How many elements of a list fit."""
    listed, why = source
    if not listed.complete:
        return None, why
    answers = [holds(item) for item in listed.items]
    unknown = next((a for a in answers if isinstance(a, str)), None)
    return (answers.count(True), None) if unknown is None else (None, why or unknown)


def because(answer: Answer | None) -> str:
    """The cause of what is unknown."""
    return answer if isinstance(answer, str) else causes.SOMETHING


def iterated(source: Told, name: str) -> Told:
    """A list whose elements are gone through; what is no list may hold anything."""
    value, why = source
    listed = as_list(value)
    if why is None and listed is not value and not isinstance(value, tuple):
        why = causes.source(name)
    return listed, why


def known(value: Any, why: str) -> Told:
    """A value whose cause is always the same."""
    return value, why if causes.is_unknown(value) else None


def asked(value: Any, why: Callable[[], str]) -> Told:
    """A value whose cause has to be looked for."""
    return value, why() if causes.is_unknown(value) else None


def applied(name: str, given: tuple[Told, ...]) -> Told:
    """A function that gives no truth value."""
    found = apply(name, tuple(value for value, _ in given))
    return asked(found, lambda: first(given) or causes.function(name))


def listed(given: tuple[Told, ...]) -> Told:
    """A list literal."""
    return Seq(tuple(value for value, _ in given), True), first(given)


def first(given: Iterable[Told]) -> str | None:
    """The first cause of several values."""
    return next((why for _, why in given if why is not None), None)


def compared(left: Told, right: Told, names: tuple[str, str], *, paths: bool) -> str:
    """Why a comparison is unknown."""
    return first((left, right)) or causes.comparison(left[0], right[0], names, paths=paths)


def contained(left: Told, right: Told, name: str, *, paths: bool) -> str:
    """Why `in` is unknown."""
    return first((left, right)) or causes.membership(left[0], name, paths=paths)


def sought(state: State, function: str, given: tuple[Told, ...], name: str) -> str:
    """Why an infix word is unknown."""
    return first(given) or causes.search(state, function, given[0][0], name)


def remembered(state: State, given: Iterable[Told]) -> str:
    """Why it is unknown what went before."""
    return first(given) or causes.history(is_kept=state.view is not None)


def _joined(answers: Iterable[Answer], *, decides: bool) -> Answer:
    why: str | None = None
    for answer in answers:
        if answer is decides:
            return answer
        if why is None and isinstance(answer, str):
            why = answer
    return not decides if why is None else why


#: What the source of causes calls by name.
NAMES: Final[dict[str, Any]] = {
    function.__name__: function
    for function in (
        applied, asked, because, compared, contained, counted, every, iterated, known, leaf, listed,
        quantified, remembered, some, sought, turned,
    )
} | {"causes": causes}  # fmt: skip
