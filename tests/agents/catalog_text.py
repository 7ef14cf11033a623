"""What the extracting scripts of this folder share: a catalog from tool definitions, as YAML."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn

import yaml

#: What a schema says of itself, and not of the arguments.
_ABOUT_ITSELF: Final = ("$schema",)


class Meaning(NamedTuple):
    """What a tool's definition does not say: its groups, and which argument plays which role."""

    groups: tuple[str, ...] = ()
    roles: Mapping[str, str | list[str]] = {}


def catalog_text(
    name: str,
    source: Mapping[str, str],
    tools: Iterable[Mapping[str, Any]],
    meanings: Mapping[str, Meaning],
    prefix: str = "",
) -> str:
    """The YAML of a catalog; `tools` have a `name`, a `description` and a `schema`.

    Of a description the first line is kept: what follows teaches the model. Exits with 2 where a
    tool has no meaning or a meaning no tool.
    """
    tools = sorted(tools, key=lambda tool: str(tool["name"]))
    found = {str(tool["name"]) for tool in tools}
    if found != meanings.keys():
        new, gone = sorted(found - meanings.keys()), sorted(meanings.keys() - found)
        fail(f"{name} has the new tools {new} and lacks {gone}: say their groups and roles")
    entries = {f"{prefix}{tool['name']}": _entry(tool, meanings[tool["name"]]) for tool in tools}
    catalog = {"catalog": name, "source": dict(source), "tools": entries}
    head = f"# Made by {source['how'].partition(',')[0]}: run it again instead of editing this.\n"
    return head + yaml.safe_dump(catalog, sort_keys=False, allow_unicode=True, width=100)


def _entry(tool: Mapping[str, Any], meaning: Meaning) -> dict[str, Any]:
    schema = {key: value for key, value in tool["schema"].items() if key not in _ABOUT_ITSELF}
    lines = str(tool["description"]).strip().splitlines()
    return {
        "description": lines[0] if lines else "",
        "groups": list(meaning.groups),
        "roles": dict(meaning.roles),
        "schema": schema,
    }


def fail(message: str) -> NoReturn:
    """Say why there is no catalog, and exit with 2."""
    print(f"{sys.argv[0]}: {message}", file=sys.stderr)
    sys.exit(2)
