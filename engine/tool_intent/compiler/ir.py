"""The typed intermediate representation: what one tool's calls must satisfy.

Both evaluators, the compiled one and the walker, read this and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tool_intent.compiler.conditions import ArgumentPaths, Condition, Sentence
from tool_intent.runtime.model import Effect, Origin, Rank
from tool_intent.runtime.permissions import Schedules
from tool_intent.runtime.views import View
from tool_intent.runtime.waivers import Waiver

#: The kinds of scalar a field can have; `number` takes integers too.
Kind: TypeAlias = Literal["string", "number", "integer", "boolean"]


@dataclass(frozen=True, slots=True)
class Always:
    """Holds of every value, or of none."""

    holds: bool


@dataclass(frozen=True, slots=True)
class Test:
    """One JSON Schema keyword with its value. A value of a kind it does not speak of passes."""

    keyword: str
    value: Any


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    parts: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Constraint


@dataclass(frozen=True, slots=True)
class IfThenElse:
    condition: Constraint
    then: Constraint
    otherwise: Constraint


Constraint: TypeAlias = Always | Test | AllOf | AnyOf | OneOf | Not | IfThenElse


@dataclass(frozen=True, slots=True)
class Report:
    """A finding without its place. `name` is the last step of the place: "" or "/intent"."""

    rule: str
    effect: Effect
    name: str
    message: str
    fix: str | None
    origin: Origin | None
    who: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """One constraint of a field, and what to report when it does not hold."""

    constraint: Constraint
    report: Report


@dataclass(frozen=True, slots=True)
class Field:
    """One field at one kind of place. `missing` and `blank` are None where it is optional.

    `key` is what it goes by in the arguments; where it is `own`, that is an argument of the tool,
    which keeps it.
    """

    name: str
    kinds: tuple[Kind, ...]
    missing: Report | None
    blank: Report | None
    wrong_type: Report
    unreadable: Report
    misspelt: Report
    collision: Report
    checks: tuple[Check, ...]
    advertised: dict[str, Any]
    key: str
    own: bool


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of place: `at` as in `policy.model.Requirement`. `no_entry` is reported at the
    first container that yields none, `no_object` at an element that is no object; both are None
    where nothing is required there. With `when`, it counts where that may hold in the view of the
    rank numbered `view`."""

    at: tuple[str, ...]
    fields: tuple[Field, ...]
    no_entry: Report | None
    no_object: Report | None
    when: Condition | None = None
    view: int = 0


@dataclass(frozen=True, slots=True)
class Tool:
    """Everything that calls of one tool must satisfy. `always` is reported of each call.

    `places` are judged by themselves, `conditional` ones and `sentences` with all that is known of
    the call; `carried` are all the places together, for stripping and advertising. `views` are
    those of each rank of the policy, strongest first; none where all see the same. `permissions`
    are those of its rules, by id and rank; `waivers` those whose scope the tool is in. `kinds` are
    what its calls do, as far as groups tell: read, write, exec, net. `settings` say what is to
    become of fields that the tool itself may define.
    """

    name: str
    listed: bool
    always: tuple[Report, ...]
    places: tuple[Place, ...]
    conditional: tuple[Place, ...]
    sentences: tuple[Sentence, ...]
    carried: tuple[Place, ...]
    roles: Mapping[str, ArgumentPaths]
    known: frozenset[str]
    taken: tuple[tuple[tuple[str, ...], str], ...]
    views: tuple[View, ...] = ()
    permissions: Mapping[tuple[str, Rank], Schedules] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    kinds: tuple[str, ...] = ()
    settings: tuple[tuple[tuple[str, ...], str, str], ...] = ()
