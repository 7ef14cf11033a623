"""The tools and groups that policies name: what they mean at each rank, and whether anything can
ever match them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from yaml import Node

from tool_intent.policy.catalogs import merged
from tool_intent.policy.entries import FileReader
from tool_intent.policy.files import CatalogFile, PolicyFile
from tool_intent.policy.model import CatalogTool, Requirement
from tool_intent.policy.names import ToolNames, circle, tool_names
from tool_intent.policy.positions import Report
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import SENIORITY, Rank

_Parts: TypeAlias = Sequence[tuple[PolicyFile, Rank, FileReader]]
_Groups: TypeAlias = Mapping[str, tuple[str, ...]]
_Declared: TypeAlias = Sequence[tuple[Rank, _Groups]]


def declared_groups(parts: _Parts, catalogs: Sequence[tuple[CatalogFile, Rank]]) -> _Declared:
    """What each catalog and each file says of groups, with its rank."""
    found: list[tuple[Rank, _Groups]] = [(rank, file.catalog.groups) for file, rank in catalogs]
    for _, rank, part in parts:
        found.append((rank, {g: tuple(name for name, _ in m) for g, m in part.groups()}))
    return found


def _seen_from(rank: Rank, declared: _Declared) -> dict[str, tuple[str, ...]]:
    """The groups as this rank and the stronger ones declare them."""
    return merged(groups for r, groups in declared if SENIORITY[r] <= SENIORITY[rank])


def check_targets(
    parts: _Parts,
    declared: _Declared,
    tools: Mapping[str, tuple[CatalogTool, ...]],
    report: Report,
) -> dict[str, tuple[str, ...]]:
    """The union of all groups; names in `parts` that can match nothing go to `report`.

    An undeclared group is an error, since it never matches anything. It must be declared at the
    same rank or a stronger one: what weaker files say resolves no name of a stronger one.
    """
    known = {rank: frozenset(_seen_from(rank, declared)) for rank in {rank for _, rank, _ in parts}}
    groups = merged(groups for _, groups in declared)
    names = tool_names(tuple(sorted(tools)), tuple(sorted(groups)))
    for file, rank, part in parts:
        _check_file(file, part, known[rank], names, report)
    _check_circle(groups, parts, report)
    return groups


def close_exceptions(
    items: Sequence[Requirement], declared: _Declared, groups: _Groups
) -> list[Requirement]:
    """The requirements, each excepting only what its own and stronger ranks say it excepts.

    A weaker file may add tools to a group; an `except` of a stronger file that names the group
    must not come to exempt them. Where the two differ the group is replaced by its members.
    """
    seen = {rank: _seen_from(rank, declared) for rank in {item.origin.rank for item in items}}
    differing = {rank: own for rank, own in seen.items() if own != groups}
    closed: list[Requirement] = []
    for item in items:
        own = differing.get(item.origin.rank)
        if own is not None and item.excepted:
            excepted: dict[str, None] = {}
            for name in item.excepted:
                mine = _members(name, own)
                same = mine == _members(name, groups)
                excepted.update(dict.fromkeys([name] if same else mine))
            item = replace(item, excepted=tuple(excepted))  # noqa: PLW2901
        closed.append(item)
    return closed


def _members(name: str, groups: _Groups) -> list[str]:
    """The names and globs in a group and the groups within it, sorted; else the name itself."""
    found: set[str] = set()
    seen: set[str] = set()
    ahead = [name]
    while ahead:
        member = ahead.pop()
        if not member.startswith("@"):
            found.add(member)
        elif member not in seen:
            seen.add(member)
            ahead += groups.get(member, ())
    return sorted(found)


def _check_file(
    file: PolicyFile, part: FileReader, groups: frozenset[str], names: ToolNames, report: Report
) -> None:
    listed = [pair for _, members in part.groups() for pair in members]
    for name, node in [*part.targets(), *listed]:
        if name.startswith("@"):
            if name not in groups:
                _unknown_group(file, name, node, groups, report)
        elif _is_checked(name) and not names.matches(name):
            near = names.nearest(name)
            if near is not None or file.names_catalog:
                report.warning(
                    "policy/unknown-tool", file.shown, file.document.span(node),
                    f"no tool of the loaded catalogs matches `{name}`",
                    f"did you mean `{near}`?" if near else "see the catalogs for the tools' names",
                )  # fmt: skip


def _unknown_group(
    file: PolicyFile, name: str, node: Node, groups: Iterable[str], report: Report
) -> None:
    near = nearest(name, groups)
    mend = f"did you mean `{near}`?" if near else f'declare it: groups: {{"{name}": [...]}}'
    report.error(
        "policy/unknown-group", file.shown, file.document.span(node),
        f"no group is called `{name}`: it would never match", mend,
    )  # fmt: skip


def _is_checked(name: str) -> bool:
    """Whether a catalog may be expected to know the tool: servers' tools it need not."""
    return bool(name.strip("*?")) and "mcp__" not in name and "/" not in name and "." not in name


def _check_circle(groups: _Groups, parts: _Parts, report: Report) -> None:
    way = circle(groups)
    for file, _, part in parts if way else ():
        for name, members in part.groups():
            for member, node in members:
                if (name, member) in pairwise(way):
                    report.error(
                        "policy/group-cycle", file.shown, file.document.span(node),
                        "groups contain each other: " + " -> ".join(way), "remove one of them",
                    )  # fmt: skip
