"""What is known outside a rule file: fields, groups, the tools' roles and argument schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple, TypeAlias

from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import nearest
from tool_intent.rules.patterns import PatternSlip, check_pattern
from tool_intent.rules.types import ANY, OPEN_RECORD, ROLES, TEXT, Type, from_schema

#: Takes a pattern and its flags; answers what is wrong where RE2 cannot run it.
PatternCheck: TypeAlias = Callable[[str, str], PatternSlip | None]
#: Takes a target that is no group; None where it may match a tool, else the tool or group that
#: was most likely meant, "" where none is near.
TargetCheck: TypeAlias = Callable[[str], str | None]

#: The groups that catalogs may put tools in.
GROUPS: Final = ("@read", "@write", "@edit", "@exec", "@net")


class ToolFacts(NamedTuple):
    """What is known of a tool: its roles (`path`, `content`, `command`, `url`), each with the paths
    of the arguments that play it, and its argument schema, None where nobody has seen it."""

    roles: Mapping[str, tuple[str, ...]] = {}
    schema: Mapping[str, Any] | None = None


class _Known(NamedTuple):
    """What was worked out of targets, by their names."""

    facts: dict[tuple[str, ...], tuple[ToolFacts, ...] | None]
    roles: dict[tuple[str, ...], Mapping[str, Type]]
    arguments: dict[tuple[str, ...], Type]


@dataclass(frozen=True, slots=True)
class Environment:
    """What a file's names may mean.

    `groups` maps each known group to its tools, empty where they are not known. `tools` maps each
    known tool to what each catalog that has it knows. With `open_fields` any other bare name is a
    text field once `has` has found it there. `options` are named values that come from elsewhere.
    Without `targets` a target is expected to match a tool of `tools`, if there are any.
    """

    fields: Mapping[str, Type] = field(default_factory=lambda: {"intent": TEXT, "rationale": TEXT})
    groups: Mapping[str, frozenset[str]] = field(
        default_factory=lambda: dict.fromkeys(GROUPS, frozenset())
    )
    tools: Mapping[str, tuple[ToolFacts, ...]] = field(default_factory=dict)
    options: Mapping[str, Type] = field(default_factory=dict)
    open_fields: bool = True
    pattern: PatternCheck = check_pattern
    targets: TargetCheck | None = None
    _known: _Known = field(
        default_factory=lambda: _Known({}, {}, {}), init=False, repr=False, compare=False
    )

    def facts(self, targets: Iterable[t.Target]) -> tuple[ToolFacts, ...] | None:
        """What is known of every tool that the targets can mean; None where one of them can mean
        tools that nothing is known of, and without targets."""
        if not self.tools:
            return None
        names = tuple(target.name for target in targets)
        if names not in self._known.facts:
            self._known.facts[names] = self._facts(names)
        return self._known.facts[names]

    def roles(self, targets: Iterable[t.Target]) -> Mapping[str, Type]:
        """The roles that can be named: all where some tool is unknown, else those of any tool."""
        facts = self.facts(targets)
        if facts is None:
            return ROLES
        names = tuple(target.name for target in targets)
        if names not in self._known.roles:
            roles = {role for fact in facts for role in fact.roles if role in ROLES}
            self._known.roles[names] = {role: ROLES[role] for role in sorted(roles)}
        return self._known.roles[names]

    def arguments(self, targets: Iterable[t.Target]) -> Type:
        """The record `args`: of several tools' members, those that differ are of type any, and
        those that one of them may lack are optional."""
        facts = self.facts(targets)
        if not facts:
            return OPEN_RECORD
        names = tuple(target.name for target in targets)
        if names not in self._known.arguments:
            self._known.arguments[names] = _arguments(facts)
        return self._known.arguments[names]

    def _facts(self, targets: tuple[str, ...]) -> tuple[ToolFacts, ...] | None:
        out: list[ToolFacts] = []
        for target in targets:
            for name in self._names(target):
                if name not in self.tools:
                    return None
                out += self.tools[name]
        return tuple(out) if targets else None

    def _names(self, target: str) -> Iterable[str]:
        if target.startswith("@"):
            return sorted(self.groups.get(target, ())) or (target,)
        return (target,)

    def stray(self, target: str) -> str | None:
        """None where a target can match a known tool, or no tools are known; else the name most
        likely meant, "" where none is near."""
        if target.startswith("@"):
            return None if target in self.groups else nearest(target, self.groups) or ""
        if self.targets is not None:
            return self.targets(target)
        if not self.tools or any(fnmatchcase(name, target) for name in self.tools):
            return None
        return nearest(target, self.tools) or ""


#: For a `.rules` file checked by itself.
DEFAULT: Final = Environment()


def field_type(schema: Mapping[str, Any] | bool) -> Type:
    """The type of a field: text unless its schema says otherwise."""
    found = from_schema(schema) if isinstance(schema, Mapping) and "type" in schema else TEXT
    return TEXT if found.kind in {"string", "any"} else found


def _arguments(facts: tuple[ToolFacts, ...]) -> Type:
    records = [from_schema({"type": "object", **(fact.schema or {})}) for fact in facts]
    if any(fact.schema is None for fact in facts):
        return OPEN_RECORD
    names = dict.fromkeys(name for record in records for name, _ in record.members)
    members, optional = [], set()
    for name in names:
        found = [dict(record.members).get(name) for record in records]
        types = {type_ for type_ in found if type_ is not None}
        members.append((name, types.pop() if len(types) == 1 else ANY))
        if None in found or any(name in record.optional for record in records):
            optional.add(name)
    return Type(
        "record",
        members=tuple(members),
        optional=frozenset(optional),
        open=any(record.open and not record.members for record in records),
    )
