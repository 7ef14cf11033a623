"""What the names of a rule or condition may mean: fields, groups and tools, as the place of its
file lets it see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tool_intent.policy.files import CatalogFile, PolicyFile
from tool_intent.policy.names import ToolNames
from tool_intent.policy.targets import Declared, members_of, seen_from, stray_tool
from tool_intent.rules.environment import Environment, ToolFacts
from tool_intent.rules.types import ANY, BOOL, FLOAT, INT, ROLES, TEXT, Type
from tool_intent.runtime.model import SENIORITY, Rank

_KINDS: Mapping[frozenset[str], Type] = {
    frozenset(): TEXT,
    frozenset({"string"}): TEXT,
    frozenset({"integer"}): INT,
    frozenset({"number"}): FLOAT,
    frozenset({"integer", "number"}): FLOAT,
    frozenset({"boolean"}): BOOL,
}
_Fields = Mapping[str, frozenset[str]]


class Environments:
    """The environment of each file at each rank, worked out once for all that see the same."""

    def __init__(
        self,
        ranked: Sequence[tuple[PolicyFile, Rank]],
        catalogs: Sequence[tuple[CatalogFile, Rank]],
        declared: Declared,
        names: ToolNames,
    ) -> None:
        self._ranked = ranked
        self._catalogs = catalogs
        self._declared = declared
        self._names = names
        self._tools: dict[Rank, Mapping[str, tuple[ToolFacts, ...]]] = {}
        self._groups: dict[Rank, Mapping[str, frozenset[str]]] = {}
        self._made: dict[object, Environment] = {}

    def of(self, file: PolicyFile, rank: Rank) -> Environment:
        """What names mean in `file`, found at `rank`: what its own and stronger ranks say."""
        fields, is_open = self._fields(file, rank)
        key = (rank, frozenset(fields.items()), is_open, file.names_catalog)
        if key not in self._made:
            self._made[key] = Environment(
                fields={name: _KINDS.get(types, ANY) for name, types in fields.items()},
                groups=self._groups_at(rank),
                tools=self._tools_at(rank),
                open_fields=is_open,
                targets=lambda name: stray_tool(name, self._names, file.names_catalog),
            )
        return self._made[key]

    def _fields(self, file: PolicyFile, rank: Rank) -> tuple[_Fields, bool]:
        """The fields a file may name, with their types, and whether it may name others too.

        A rule file declares none: it knows those of the policies that extend it, or else those
        found at its rank and at stronger ones. Alone it takes any.
        """
        if not file.is_rules:
            return file.fields(), False
        policies = [(f, r) for f, r in self._ranked if not f.is_rules]
        around = [f for f, r in policies if r == rank and file in f.closure()]
        around = around or [f for f, r in policies if SENIORITY[r] <= SENIORITY[rank]]
        fields = dict(file.fields())
        for policy in around:
            for name, types in policy.fields().items():
                fields[name] = fields.get(name) or types
        return fields, not around

    def _tools_at(self, rank: Rank) -> Mapping[str, tuple[ToolFacts, ...]]:
        if rank not in self._tools:
            facts: dict[str, list[ToolFacts]] = {}
            for file in self._catalogs_at(rank):
                for tool in file.catalog.tools:
                    roles = {role: path for role, path in tool.roles.items() if role in ROLES}
                    facts.setdefault(tool.name, []).append(ToolFacts(roles, tool.schema))
            self._tools[rank] = {name: tuple(found) for name, found in facts.items()}
        return self._tools[rank]

    def _catalogs_at(self, rank: Rank) -> Iterable[CatalogFile]:
        found = {id(f): f for f, r in self._catalogs if SENIORITY[r] <= SENIORITY[rank]}
        return found.values()

    def _groups_at(self, rank: Rank) -> Mapping[str, frozenset[str]]:
        if rank not in self._groups:
            seen = seen_from(rank, self._declared)
            self._groups[rank] = {name: frozenset(members_of(name, seen)) for name in seen}
        return self._groups[rank]
