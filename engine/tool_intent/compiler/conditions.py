"""The typed representation of rules: what is read, what is asked of it, what is reported.

Values may be unknown, so a condition is true, false or unknown; see `compiler.expressions` for how
that becomes plain Python, and `compiler.walk_rules` for the plain evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from tool_intent.runtime.model import Effect, Origin
from tool_intent.runtime.regex import Pattern
from tool_intent.runtime.session import Outcome

#: The arguments that play a role, each as a path of names and "[]".
ArgumentPaths: TypeAlias = tuple[tuple[str, ...], ...]
#: How two values are compared: as places in a file system, or as what they are.
How: TypeAlias = Literal["path", "plain"]
#: What a value is, as far as evaluation depends on it.
Sort: TypeAlias = Literal["text", "path", "command", "scalar", "list", "record", "any"]


@dataclass(frozen=True, slots=True)
class Const:
    """A text, number or truth value, or a duration in milliseconds."""

    value: str | int | float | bool


@dataclass(frozen=True, slots=True)
class Texts:
    """A list of texts that is known beforehand: a word list, a list of literals."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A list literal with something in it that is not."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class FieldText:
    """A text field: normalised, empty where absent. `depth` says in which of the places around
    the one being judged it is carried: an index into the chain from the call inwards, None where
    nothing carries it."""

    name: str
    depth: int | None


@dataclass(frozen=True, slots=True)
class FieldValue:
    """A field that is no text."""

    name: str
    depth: int | None


@dataclass(frozen=True, slots=True)
class Role:
    """What plays a role; `at` are the arguments, None where nothing is known to, and () where that
    is looked up when the call comes."""

    name: str
    at: ArgumentPaths | None


@dataclass(frozen=True, slots=True)
class Argument:
    """A raw argument, or with "[]" among the steps the list of all that the path leads to."""

    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of the place being judged."""

    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class ToolName:
    pass


@dataclass(frozen=True, slots=True)
class Session:
    """What the session of the call was told."""


@dataclass(frozen=True, slots=True)
class Context:
    name: str


@dataclass(frozen=True, slots=True)
class WholeCall:
    """The call as words: the tool, and what its arguments say."""


@dataclass(frozen=True, slots=True)
class CallList:
    """`call.paths` or `call.urls`."""

    name: str


@dataclass(frozen=True, slots=True)
class CommandPart:
    """An attribute of the command."""

    name: str
    at: ArgumentPaths | None


@dataclass(frozen=True, slots=True)
class Variable:
    """What a quantifier or `each` is at, and a member of it."""

    name: str
    steps: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """In the `where` of a history: a value of the call being judged, as `this` says."""

    value: Value


@dataclass(frozen=True, slots=True)
class Captured:
    """What an earlier call said, kept when it was judged: the n-th of its atom's `captures`."""

    number: int


@dataclass(frozen=True, slots=True)
class Apply:
    """A function that gives no truth value."""

    function: str
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class CountOf:
    variable: str
    source: Value
    condition: Condition


@dataclass(frozen=True, slots=True)
class CountEarlier:
    history: History


Value: TypeAlias = (
    Const | Texts | Items | FieldText | FieldValue | Role | Argument | Entry | ToolName | Context
    | Session | WholeCall | CallList | CommandPart | Variable | Judged | Captured | Apply
    | CountOf | CountEarlier
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Truth:
    """A value that is itself true or false."""

    value: Value


@dataclass(frozen=True, slots=True)
class Has:
    value: Value


@dataclass(frozen=True, slots=True)
class Compare:
    operator: str
    left: Value
    right: Value
    how: How


@dataclass(frozen=True, slots=True)
class In:
    left: Value
    right: Value
    how: How


@dataclass(frozen=True, slots=True)
class Infix:
    """`left FUNCTION right`. `sort` is what the left value is; a list on the right means any."""

    function: str
    left: Value
    right: Value | Pattern
    sort: Sort


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    part: Condition


@dataclass(frozen=True, slots=True)
class Quantified:
    """`cost` is what one element may cost at most, in steps."""

    kind: Literal["any", "all", "none"]
    variable: str
    source: Value
    condition: Condition
    cost: int
    reads_arguments: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    history: History


Condition: TypeAlias = (
    Truth | Has | Compare | In | Infix | Every | Some | Negation | Quantified | Earlier
)


@dataclass(frozen=True, slots=True)
class Join:
    """`earlier == judged`: a value of the earlier call and one of the call being judged."""

    earlier: Value
    judged: Value
    how: How


@dataclass(frozen=True, slots=True)
class Atom:
    """Earlier calls that a history or a `since` is about, as far as the earlier call decides it:
    what every call of the session is looked at for when it is judged. `where` is the whole
    condition; `filter`, `joins` and `rest` are its parts, `rest` over `captures`. `fields` are
    those of the earlier call that it reads, as the rank numbered `view` sees that call."""

    number: int
    targets: tuple[str, ...]
    where: Condition | None
    filter: Condition | None
    joins: tuple[Join, ...]
    captures: tuple[Value, ...]
    rest: Condition | None
    fields: tuple[str, ...]
    view: int = 0


@dataclass(frozen=True, slots=True)
class Past:
    """An atom with the outcome that its calls must have come to."""

    atom: Atom
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class History:
    """Earlier calls of the session. `calls` or `seconds` bound how far it looks back."""

    past: Past
    since: Past | None
    calls: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What an interpolation shows: a value, or the element that decided a quantifier."""

    value: Value
    witness: Quantified | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A rule for one tool. It fires unless `guard` is false, or what it requires is true, or what
    it forbids is false. `places` are the kinds of place it is judged at, `each` the list it is
    judged for every element of. `view` is the number of the rank whose view of the call it reads.
    """

    id: str
    effect: Effect
    guard: Condition | None
    kind: Literal["require", "forbid", "effect"]
    condition: Condition | None
    places: tuple[tuple[str, ...], ...]
    each: tuple[str, Value] | None
    message: tuple[str | Shown, ...]
    fix: tuple[str | Shown, ...] | None
    field: str | None
    origin: Origin
    who: str | None
    view: int = 0


def children(node: Any) -> tuple[Any, ...]:
    """The values and conditions right under one."""
    match node:
        case Items(values) | Apply(arguments=values):
            return values
        case Every(parts) | Some(parts):
            return parts
        case Truth(value) | Has(value) | Judged(value):
            return (value,)
        case Negation(part):
            return (part,)
        case Compare(left=left, right=right) | In(left=left, right=right):
            return (left, right)
        case Infix(left=left, right=right):
            return (left,) if isinstance(right, Pattern) else (left, right)
        case Quantified(source=source, condition=condition):
            return (source, condition)
        case CountOf(source=source, condition=condition):
            return (source, condition)
    return ()
