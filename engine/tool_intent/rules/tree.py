"""The syntax tree of the rule language: frozen nodes, each with its span.

Spans are left out of comparison, so two texts that say the same give equal trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from tool_intent.runtime.model import Effect, Json
from tool_intent.runtime.session import Outcome


class Span(NamedTuple):
    """1-based lines and columns in code points; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


#: The span of a node that no text gave.
NOWHERE = Span(0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Node:
    span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


# Conditions and what they are made of.


@dataclass(frozen=True, slots=True)
class TextLiteral(Node):
    value: str


@dataclass(frozen=True, slots=True)
class NumberLiteral(Node):
    """`text` keeps the spelling (`1_000`)."""

    value: int | float
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class DurationLiteral(Node):
    """`milliseconds` is what `text` (`90s`, `2h`) means."""

    milliseconds: int
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class RegexLiteral(Node):
    """`pattern` as it stands between the slashes, escapes and all."""

    pattern: str
    flags: str = ""


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class ListLiteral(Node):
    items: tuple[Condition, ...]


#: A step of a path: a member's name, an index, or None for `[]`, every element.
Step: TypeAlias = str | int | None


@dataclass(frozen=True, slots=True)
class Path(Node):
    """`root` and then steps: `args.steps[].name` is `("args", ("steps", None, "name"))`."""

    root: str
    steps: tuple[Step, ...] = ()
    step_spans: tuple[Span, ...] = field(default=(), kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call(Node):
    function: str
    arguments: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Compare(Node):
    operator: Literal["==", "!=", "<", "<=", ">", ">="]
    left: Condition
    right: Condition
    operator_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`left in right`, or `left not in right` when `negated`."""

    left: Condition
    right: Condition
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Infix(Node):
    """`left FUNCTION right`, with `not` before the function when `negated`."""

    function: str
    left: Condition
    right: Condition
    negated: bool = False
    function_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Has(Node):
    path: Path


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Condition


@dataclass(frozen=True, slots=True)
class And(Node):
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    operands: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Quantifier(Node):
    """`any(variable in source: condition)`; `count` gives a number, the others a truth value."""

    kind: Literal["any", "all", "none", "count"]
    variable: str
    source: Condition
    condition: Condition


@dataclass(frozen=True, slots=True)
class Target(Node):
    """A tool's name, a glob (`mcp__*`) or a group (`@write`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Window(Node):
    """How far history looks back: so many calls, or so many milliseconds; one of them is set."""

    calls: int | None = None
    milliseconds: int | None = None
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Since(Node):
    targets: tuple[Target, ...]
    outcome: Outcome | None = None
    where: Condition | None = None


@dataclass(frozen=True, slots=True)
class History(Node):
    """`earlier TARGETS [OUTCOME] [where …] [since last …] within WINDOW`. An outcome of None was
    left unsaid and means `tried`."""

    targets: tuple[Target, ...]
    outcome: Outcome | None
    where: Condition | None
    since: Since | None
    window: Window


@dataclass(frozen=True, slots=True)
class Count(Node):
    """`count(earlier …)`; `kind` is what was written before the bracket."""

    kind: Literal["any", "all", "none", "count"]
    history: History


Condition: TypeAlias = (
    TextLiteral | NumberLiteral | DurationLiteral | RegexLiteral | BoolLiteral | ListLiteral
    | Path | Call | Compare | Member | Infix | Has | Not | And | Or | Quantifier | Count | History
)  # fmt: skip


# Statements.


@dataclass(frozen=True, slots=True)
class Interpolation(Node):
    """What stands between braces in a message."""

    expression: Condition


@dataclass(frozen=True, slots=True)
class Message(Node):
    """A text shown to the model: plain parts and interpolations, in order."""

    parts: tuple[str | Interpolation, ...]


@dataclass(frozen=True, slots=True)
class Verdict(Node):
    """`require` and `forbid` have a condition; `effect` has none, and its effect and message are
    said. An `effect` of None was left unsaid and means `deny`."""

    kind: Literal["require", "forbid", "effect"]
    condition: Condition | None
    unless: Condition | None
    effect: Effect | None
    message: Message | None
    effect_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Floor(Node):
    effect: Effect


@dataclass(frozen=True, slots=True)
class EachIn(Node):
    variable: str
    source: Path


@dataclass(frozen=True, slots=True)
class EarlierCall(Node):
    """A call an example says went before."""

    tool: str
    outcome: Outcome | None
    args: Mapping[str, Json] = field(hash=False)


@dataclass(frozen=True, slots=True)
class Example(Node):
    label: Literal["bad", "ok"]
    tool: str
    args: Mapping[str, Json] = field(hash=False)
    context: Mapping[str, Json] | None = field(default=None, hash=False)
    after: tuple[EarlierCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """`comments` are the lines of the comments above and inside a statement, `#` and all; an
    empty one is a blank line between comments."""

    comments: tuple[str, ...] = field(default=(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Words(Statement):
    """A list of texts: either written out (`items`) or read from `files`."""

    name: str
    items: tuple[TextLiteral, ...] = ()
    files: tuple[TextLiteral, ...] = ()
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Define(Statement):
    name: str
    expression: Condition
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Option(Statement):
    """A value that a policy may set, between `low` and `high` where those are given."""

    name: str
    value: Json = field(hash=False)
    low: NumberLiteral | None = None
    high: NumberLiteral | None = None
    name_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rule(Statement):
    id: str
    targets: tuple[Target, ...]
    excepted: tuple[Target, ...]
    each: EachIn | None
    when: Condition | None
    unless: Condition | None
    verdict: Verdict
    floor: Floor | None = None
    fix: Message | None = None
    see: TextLiteral | None = None
    examples: tuple[Example, ...] = ()
    id_span: Span = field(default=NOWHERE, kw_only=True, compare=False, repr=False)


AnyStatement: TypeAlias = Words | Define | Option | Rule


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file's statements in order; `comments` are those after the last of them."""

    statements: tuple[AnyStatement, ...]
    comments: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(s for s in self.statements if isinstance(s, Rule))


def parts(condition: Condition) -> tuple[Condition, ...]:
    """The conditions right under one, those of a history's `where` included."""
    match condition:
        case ListLiteral(items=found) | Call(arguments=found):
            return found
        case And(operands=found) | Or(operands=found):
            return found
        case Compare(left=a, right=b) | Member(left=a, right=b) | Infix(left=a, right=b):
            return (a, b)
        case Has(path=path):
            return (path,)
        case Not(operand=operand):
            return (operand,)
        case Quantifier(source=source, condition=inner):
            return (source, inner)
        case Count(history=history):
            return (history,)
        case History(where=where, since=since):
            after = since.where if since is not None else None
            return tuple(c for c in (where, after) if c is not None)
        case _:
            return ()


def conditions(rule: Rule) -> tuple[Condition, ...]:
    """A rule's own conditions, outermost, in the order they are written."""
    found = (rule.when, rule.unless, rule.verdict.condition, rule.verdict.unless)
    each = () if rule.each is None else (rule.each.source,)
    return each + tuple(c for c in found if c is not None)


def walk(condition: Condition) -> Iterator[Condition]:
    """A condition and all under it, outermost first."""
    yield condition
    for part in parts(condition):
        yield from walk(part)
