"""What policy files say, flattened: the input of the compiler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.tree import Condition
from tool_intent.rules.tree import Rule as RuleTree
from tool_intent.runtime.model import Effect, Origin, Rank

#: A JSON Schema for one scalar: a mapping of 2020-12 keywords, or a boolean schema.
FieldSchema: TypeAlias = Mapping[str, Any] | bool


@dataclass(frozen=True, slots=True)
class Source:
    """A file the policy came from. `digest` is the SHA-256 of its bytes, in hexadecimal."""

    path: str
    shown: str
    rank: Rank
    digest: str


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
    `excepted` are names, globs and groups."""

    id: str
    tree: RuleTree
    scopes: Scopes
    targets: tuple[str, ...]
    excepted: tuple[str, ...]
    effect: Effect
    floor: Effect | None
    origin: Origin
    policy: str


@dataclass(frozen=True, slots=True)
class Unlisted:
    """What one file says of tools that no key matches."""

    effect: Effect
    origin: Origin


@dataclass(frozen=True, slots=True)
class CatalogTool:
    """What a catalog knows of one tool: groups, roles (`path`, `content`, `command`, `url`) mapped
    to argument paths, and its argument schema (None where unknown)."""

    name: str
    catalog: str
    description: str
    groups: tuple[str, ...]
    roles: Mapping[str, tuple[str, ...]]
    schema: Mapping[str, Any] | None


#: Refusals of one tool in a row after which the model is told to stop, where no file says.
MAX_RETRIES: Final = 5


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """Everything that applies, with the place that says it.

    `fields[name]` lists definitions, the extender's first. `groups` maps `@name` to names, globs
    and groups. `broken` holds the errors of files that were found and cannot be used: each call
    is then denied. `digest` is `sha256:…` over all of it and the Unicode version. `max_retries` is
    the smallest that any file says.
    """

    items: tuple[Requirement | Rule, ...] = ()
    fields: Mapping[str, tuple[FieldDefinition, ...]] = field(default_factory=dict)
    unlisted: tuple[Unlisted, ...] = ()
    max_retries: int = MAX_RETRIES
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    catalog: Mapping[str, tuple[CatalogTool, ...]] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    broken: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    digest: str = ""

    @property
    def empty(self) -> bool:
        """No entry, no rule, nothing held against unlisted tools: it asks for nothing."""
        says = any(u.effect != "off" for u in self.unlisted)
        return not self.items and not says and not self.broken
