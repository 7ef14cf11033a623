"""The tools and groups that policies name: what they mean at each rank, and whether anything can
ever match them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from yaml import Node

from tool_intent.policy.catalogs import merged
from tool_intent.policy.entries import FileReader
from tool_intent.policy.files import CatalogFile, PolicyFile
from tool_intent.policy.names import ToolNames, circle
from tool_intent.policy.positions import Report
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import SENIORITY, Rank

_Parts: TypeAlias = Sequence[tuple[PolicyFile, Rank, FileReader]]
_Groups: TypeAlias = Mapping[str, tuple[str, ...]]
Declared: TypeAlias = Sequence[tuple[Rank, _Groups]]


def declared_groups(parts: _Parts, catalogs: Sequence[tuple[CatalogFile, Rank]]) -> Declared:
    """What each catalog and each file says of groups, with its rank."""
    found: list[tuple[Rank, _Groups]] = [(rank, file.catalog.groups) for file, rank in catalogs]
    for _, rank, part in parts:
        found.append((rank, {g: tuple(name for name, _ in m) for g, m in part.groups()}))
    return found


def seen_from(rank: Rank, declared: Declared) -> dict[str, tuple[str, ...]]:
    """The groups as this rank and the stronger ones declare them."""
    return merged(groups for r, groups in declared if SENIORITY[r] <= SENIORITY[rank])


def check_targets(
    parts: _Parts, declared: Declared, groups: _Groups, names: ToolNames, report: Report
) -> None:
    """Names in `parts` that can match nothing go to `report`.

    An undeclared group is an error, since it never matches anything. It must be declared at the
    same rank or a stronger one: what weaker files say resolves no name of a stronger one.
    `groups` are those of all ranks.
    """
    known = {rank: frozenset(seen_from(rank, declared)) for rank in {rank for _, rank, _ in parts}}
    for file, rank, part in parts:
        _check_file(file, part, known[rank], names, report)
    _check_circle(groups, parts, report)


def members_of(name: str, groups: _Groups) -> list[str]:
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
            continue
        servers = names.servers(name)
        if len(servers) > 1:
            report.error(
                "policy/ambiguous-tool", file.shown, file.document.span(node),
                f"`{name}` is a tool of several servers: {', '.join(servers)}",
                f"write mcp__{servers[0]}__{name}, or mcp__*__{name} for all of them",
            )  # fmt: skip
            continue
        near = stray_tool(name, names, file.names_catalog)
        if near is not None:
            report.warning(
                "policy/unknown-tool", file.shown, file.document.span(node),
                f"no tool of the loaded catalogs matches `{name}`",
                f"did you mean `{near}`?" if near else "see the catalogs for the tools' names",
            )  # fmt: skip


def stray_tool(name: str, names: ToolNames, closed: bool) -> str | None:
    """None where a name or glob may match a tool; else the name most likely meant, "" where none
    is near. Unless the catalogs are `closed`, a name that is like none is some other tool's."""
    if not _is_checked(name) or names.matches(name):
        return None
    servers = names.servers(name)
    if len(servers) > 1:
        return f"mcp__{servers[0]}__{name}"
    near = names.nearest(name)
    return near or ("" if closed else None)


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
