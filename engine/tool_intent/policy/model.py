"""What policy files say, flattened: the input of the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.tree import Condition
from tool_intent.rules.tree import Rule as RuleTree
from tool_intent.runtime.model import Effect, Keeping, Origin, Rank

#: Globs that leave nothing out.
_EVERYTHING: Final = frozenset({"*", "**", "/**", "**/*", "/**/*"})
#: An effect by time: from when (seconds since the epoch, -inf first) it is what.
Schedule: TypeAlias = tuple[tuple[float, Effect], ...]
#: A JSON Schema for one scalar: a mapping of 2020-12 keywords, or a boolean schema.
FieldSchema: TypeAlias = Mapping[str, Any] | bool


@dataclass(frozen=True, slots=True)
class Source:
    """A file the policy came from. `digest` is the SHA-256 of its bytes, in hexadecimal; it lies
    within one of the folders `held`, if there are any."""

    path: str
    shown: str
    rank: Rank
    digest: str
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """What one file says a field means. `origins` gives each keyword's place, by JSON Pointer
    into the schema ("" for the definition itself)."""

    name: str
    schema: FieldSchema
    origin: Origin
    origins: Mapping[str, Origin]
    policy: str


@dataclass(frozen=True, slots=True)
class FieldUse:
    """A field named by an entry of `tools:`, with the constraints written there, if any."""

    name: str
    required: bool
    schema: FieldSchema
    origin: Origin
    origins: Mapping[str, Origin]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One entry of `tools:`: what calls of the tools it matches carry, at one kind of place.

    `key` and `excepted` are names, globs (`*`, `?`) or groups (`@write`). `at` is () for the call
    itself, else the path to the places: member names, and "[]" for each element of a list, so
    `steps[].actions[]` is `("steps", "[]", "actions", "[]")`. `when` is the condition under which
    it asks for anything.
    """

    key: str
    at: tuple[str, ...]
    uses: tuple[FieldUse, ...]
    excepted: tuple[str, ...]
    effect: Effect
    origin: Origin
    policy: str
    when: Condition | None = None


@dataclass(frozen=True, slots=True)
class Scopes:
    """What the names of one rule file mean: `words` are lists of texts, `defines` stand for their
    expressions, `options` are values."""

    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    defines: Mapping[str, Condition] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence of the rule language, checked, with the names of its file. `targets` and
    `excepted` are names, globs and groups.

    `effect` is what it comes to in the end, `declared` what its sentence says, `floor` how far
    weaker ranks may lower it, None for not at all. `schedule` has the effect by time and by point
    of enforcement, "" standing for any other; it is empty where the effect never differs.
    `adjusted` are the places of what counted; `lowest` is how far weaker ranks may still bring it.
    """

    id: str
    tree: RuleTree
    scopes: Scopes
    targets: tuple[str, ...]
    excepted: tuple[str, ...]
    effect: Effect
    floor: Effect | None
    origin: Origin
    policy: str
    declared: Effect = "deny"
    lowest: Effect | None = None
    adjusted: tuple[Origin, ...] = ()
    schedule: Mapping[str, Schedule] = field(default_factory=dict)

    @property
    def off(self) -> bool:
        """Whether it is off at all times and everywhere, so that it is not judged."""
        effects = [effect for steps in self.schedule.values() for _, effect in steps]
        return all(effect == "off" for effect in [self.effect, *effects])


@dataclass(frozen=True, slots=True)
class Unlisted:
    """What one file says of tools that no key matches."""

    effect: Effect
    origin: Origin


@dataclass(frozen=True, slots=True)
class Collision:
    """What one file says of fields that a tool defines itself: `deny`, `reuse` or `prefix`."""

    how: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class CatalogTool:
    """What a catalog knows of one tool: groups, roles (`path`, `content`, `command`, `url`) mapped
    to argument paths, and its argument schema (None where unknown). `rank` is the catalog's: what
    a weaker one says means nothing to stronger rules."""

    name: str
    catalog: str
    description: str
    groups: tuple[str, ...]
    roles: Mapping[str, tuple[str, ...]]
    schema: Mapping[str, Any] | None
    rank: Rank = "shipped"


@dataclass(frozen=True, slots=True)
class Absent:
    """A policy that `must_extend` of a stronger rank demands and none of a weaker one extends."""

    name: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Scope:
    """The calls that a waiver is for: every path a call touches is like one of the globs `paths`,
    the tool is one of `tools` (names, globs, groups), the agent one of `agents`; () for any."""

    paths: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    @property
    def limits(self) -> bool:
        """Whether there is any call that it leaves out."""
        all_said = (self.paths, self.tools, self.agents)
        return any(said and not _EVERYTHING & {*said} for said in all_said)


class Counted(NamedTuple):
    """How a waiver counts for rules of one rank: for which tools, groups in its scope as that rank
    sees them, and when it is over (seconds since the epoch)."""

    tools: tuple[str, ...]
    until: float


@dataclass(frozen=True, slots=True)
class Waiver:
    """An exception from a rule, sound in itself. Dates are as written; `until` is when it is over.

    `counts` says for rules of which ranks it counts. `digest` (SHA-256, hexadecimal) is of all that
    it says.
    """

    id: str
    rule: str
    effect: Effect
    scope: Scope
    owner: str
    approved_by: tuple[str, ...]
    ticket: str | None
    reason: str
    created: str | None
    expires: str
    until: float
    max_uses: int | None
    origin: Origin
    digest: str
    counts: Mapping[Rank, Counted] = field(default_factory=dict)


def is_built_in(rule: str) -> bool:
    """Whether a finding's id is of fields, entries or tools, not of a sentence of a policy."""
    return rule.startswith(("fields/", "entries/", "tools/"))


#: Refusals of one tool in a row after which the model is told to stop, where no file says.
MAX_RETRIES: Final = 5


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """Everything that applies, with the place that says it.

    `fields[name]` lists definitions, the extender's first. `groups` maps `@name` to names, globs
    and groups. `broken` holds the errors of files that were found and cannot be used: each call
    is then denied, or asked where `on_broken` gives `ask` for the file. `absent` are policies that
    a stronger one demands. `waivers` are those that are sound, whether they count or not; what is
    wrong with them and others is in `waiver_findings`, and breaks nothing. A `volatile` policy may
    come to mean something else while its files stay the same. `max_retries` is the smallest that
    any file says; `keeping` is what all of them ask of the record. `collisions` are those that
    count. `digest` is `sha256:…` over all of it and the Unicode version.
    """

    items: tuple[Requirement | Rule, ...] = ()
    fields: Mapping[str, tuple[FieldDefinition, ...]] = field(default_factory=dict)
    unlisted: tuple[Unlisted, ...] = ()
    max_retries: int = MAX_RETRIES
    keeping: Keeping = field(default_factory=Keeping)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    catalog: Mapping[str, tuple[CatalogTool, ...]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    broken: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    digest: str = ""
    on_broken: Mapping[str, Effect] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    waiver_findings: tuple[Diagnostic, ...] = ()
    volatile: bool = False
    collisions: tuple[Collision, ...] = ()

    @property
    def empty(self) -> bool:
        """No entry, no rule, nothing held against unlisted tools: it asks for nothing."""
        says = any(u.effect != "off" for u in self.unlisted)
        return not self.items and not says and not self.broken and not self.absent
