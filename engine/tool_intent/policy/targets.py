"""The tools and groups that policies name: whether anything can ever match them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from yaml import Node

from tool_intent.policy.catalogs import merged
from tool_intent.policy.entries import FileReader
from tool_intent.policy.files import CatalogFile, PolicyFile
from tool_intent.policy.model import CatalogTool
from tool_intent.policy.names import ToolNames, circle, tool_names
from tool_intent.policy.positions import Report
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import SENIORITY, Rank

_Parts = Sequence[tuple[PolicyFile, Rank, FileReader]]


def check_targets(
    parts: _Parts,
    catalogs: Sequence[tuple[CatalogFile, Rank]],
    tools: Mapping[str, tuple[CatalogTool, ...]],
    report: Report,
) -> dict[str, tuple[str, ...]]:
    """The union of all groups; names in `parts` that can match nothing go to `report`.

    An undeclared group is an error, since it never matches anything. It must be declared at the
    same rank or a stronger one: what weaker files say resolves no name of a stronger one.
    """
    declared: list[tuple[Rank, Mapping[str, tuple[str, ...]]]] = [
        (rank, file.catalog.groups) for file, rank in catalogs
    ]
    for _, rank, part in parts:
        declared.append((rank, {g: tuple(name for name, _ in m) for g, m in part.groups()}))
    known = {
        rank: set(merged(g for r, g in declared if SENIORITY[r] <= SENIORITY[rank]))
        for rank in {rank for _, rank, _ in parts}
    }
    names = tool_names(tuple(sorted(tools)), tuple(sorted(merged(g for _, g in declared))))
    for file, rank, part in parts:
        _check_file(file, part, known[rank], names, report)
    groups = merged(groups for _, groups in declared)
    _check_circle(groups, parts, report)
    return groups


def _check_file(
    file: PolicyFile, part: FileReader, groups: set[str], names: ToolNames, report: Report
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


def _check_circle(groups: Mapping[str, tuple[str, ...]], parts: _Parts, report: Report) -> None:
    way = circle(groups)
    for file, _, part in parts if way else ():
        for name, members in part.groups():
            for member, node in members:
                if (name, member) in pairwise(way):
                    report.error(
                        "policy/group-cycle", file.shown, file.document.span(node),
                        "groups contain each other: " + " -> ".join(way), "remove one of them",
                    )  # fmt: skip
