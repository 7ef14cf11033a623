"""Catalogs: what is known of agents' and servers' tools."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from tool_intent.policy import schema_errors, sources
from tool_intent.policy.model import CatalogTool
from tool_intent.policy.positions import Report, texts
from tool_intent.policy.yaml_nodes import parse
from tool_intent.rules.diagnostics import Diagnostic

#: Groups that every policy may name, whatever catalogs say; an edit is a way of writing.
STANDARD_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "@read": (), "@write": ("@edit",), "@edit": (), "@exec": (), "@net": (),
}  # fmt: skip


class Catalog(NamedTuple):
    """A catalog file: its tools, the groups it declares, and what is wrong with it."""

    name: str
    tools: tuple[CatalogTool, ...]
    groups: Mapping[str, tuple[str, ...]]
    diagnostics: tuple[Diagnostic, ...]


def names() -> list[str]:
    """The names of the shipped catalogs, sorted: their files' names without `.yaml`."""
    try:
        found = os.listdir(_folder())
    except FileNotFoundError:
        return []
    return sorted(name[:-5] for name in found if name.endswith(".yaml") and name[0] != ".")


def path_of(name: str) -> str:
    """The file of a shipped catalog."""
    return os.path.join(_folder(), f"{name}.yaml")


def _folder() -> str:
    return os.path.join(sources.shipped(), "catalog")


@functools.lru_cache(maxsize=64)
def read_catalog(data: bytes, file: str) -> Catalog:
    """The catalog in `data`. Cached by content: parsing one takes longer than most policies."""
    report = Report()
    document = parse(data, file, report, nulls=True)
    content = document.data
    if document.root is not None:
        schema_errors.check(document, "catalog", report)
    if not isinstance(content, dict):
        return Catalog(file, (), {}, report.of("error"))
    name = content.get("catalog")
    name = name if isinstance(name, str) else file
    groups = _declared(content.get("groups"))
    tools = content.get("tools")
    entries = tuple(
        _tool(name, tool, what, groups)
        for tool, what in (tools.items() if isinstance(tools, dict) else ())
        if isinstance(what, dict)
    )
    for entry in entries:
        for group in entry.groups:
            if entry.name not in groups.get(group, ()):
                groups[group] = (*groups.get(group, ()), entry.name)
    return Catalog(name, entries, groups, report.of("error"))


def _declared(groups: Any) -> dict[str, tuple[str, ...]]:
    found = groups.items() if isinstance(groups, dict) else ()
    return {name: tuple(texts(members)) for name, members in found}


def _tool(
    catalog: str, name: str, what: dict[str, Any], groups: Mapping[str, tuple[str, ...]]
) -> CatalogTool:
    within = [group for group, members in groups.items() if name in members]
    description, roles, schema = what.get("description"), what.get("roles"), what.get("schema")
    return CatalogTool(
        name=name,
        catalog=catalog,
        description=description if isinstance(description, str) else "",
        groups=tuple(dict.fromkeys([*texts(what.get("groups")), *within])),
        roles=_roles(roles) if isinstance(roles, dict) else {},
        schema=schema if isinstance(schema, dict) else None,
    )


def merged(groups: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """The union of group declarations, the standard groups included."""
    union: dict[str, dict[str, None]] = {
        name: dict.fromkeys(members) for name, members in STANDARD_GROUPS.items()
    }
    for declared in groups:
        for name, members in declared.items():
            union.setdefault(name, {}).update(dict.fromkeys(members))
    return {name: tuple(members) for name, members in union.items()}


def _roles(roles: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The argument paths of each role, one or several."""
    return {
        role: (paths,) if isinstance(paths, str) else tuple(p for p in paths if isinstance(p, str))
        for role, paths in roles.items()
        if isinstance(paths, str | list)
    }
