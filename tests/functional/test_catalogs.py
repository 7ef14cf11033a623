"""The shipped catalogs: well-formed, and what the agents themselves say."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from ..agents.installed import AGENTS, installed, node

CATALOGS: Final = Path(__file__).parents[2] / "policies" / "catalog"
PI_TOOLS: Final = {
    "bash": ["@exec"],
    "edit": ["@edit"],
    "find": ["@read"],
    "grep": ["@read"],
    "ls": ["@read"],
    "read": ["@read"],
    "write": ["@write"],
}
GROUPS: Final = {
    "pi-0.73": PI_TOOLS,
    "pi-1": PI_TOOLS | {"codemode": ["@net"], "powershell": ["@exec"], "tool_search": []},
}
PI_ROLES: Final = {
    "bash": {"command": "command"},
    "edit": {"path": "path", "content": "edits[].newText"},
    "read": {"path": "path"},
    "write": {"path": "path", "content": "content"},
}
#: Seconds that one extraction may take.
DEADLINE: Final = 60


def load(name: str) -> dict[str, Any]:
    catalog = yaml.safe_load((CATALOGS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert isinstance(catalog, dict)
    return catalog


def test_every_shipped_catalog_of_pi_has_its_expectations_here() -> None:
    assert {path.stem for path in CATALOGS.glob("pi-*.yaml")} == GROUPS.keys()


@pytest.mark.parametrize("name", GROUPS)
def test_a_catalog_lists_the_agents_tools_with_their_groups(name: str) -> None:
    catalog = load(name)
    assert catalog["catalog"] == name
    assert {tool: known["groups"] for tool, known in catalog["tools"].items()} == GROUPS[name]


@pytest.mark.parametrize("name", GROUPS)
def test_a_catalog_maps_roles_to_arguments_that_the_schemas_define(name: str) -> None:
    tools = load(name)["tools"]
    assert {tool: tools[tool]["roles"] for tool in PI_ROLES} == PI_ROLES
    for known in tools.values():
        jsonschema.Draft202012Validator.check_schema(known["schema"])
        for path in known["roles"].values():
            assert defined(known["schema"], path), path


def defined(schema: dict[str, Any], path: str) -> bool:
    """Whether the schema has a property at an argument path such as `edits[].newText`."""
    for step in path.split("."):
        schema = schema.get("properties", {}).get(step.removesuffix("[]"), {})
        if step.endswith("[]"):
            schema = schema.get("items", {})
    return bool(schema)


@pytest.mark.parametrize("name", GROUPS)
def test_a_catalog_holds_nothing_that_a_strict_loader_refuses(name: str) -> None:
    text = (CATALOGS / f"{name}.yaml").read_text(encoding="utf-8")
    assert not any(
        isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None)
        for event in yaml.parse(text)
    )
    for value in values(load(name)):
        assert isinstance(value, str | int | float), value


def values(node: object) -> Iterator[object]:
    """Every scalar of a document, keys included."""
    if isinstance(node, dict):
        for key, value in node.items():
            assert isinstance(key, str), key
            yield from values(value)
    elif isinstance(node, list):
        for item in node:
            yield from values(item)
    else:
        yield node


@pytest.mark.slow
@pytest.mark.parametrize("name", GROUPS)
def test_a_catalog_is_byte_for_byte_what_the_agent_registers(name: str) -> None:
    folder = installed(name)
    command = [node(name), str(AGENTS / "extract_catalog.mjs"), name, str(folder)]
    run = subprocess.run(command, capture_output=True, timeout=DEADLINE, check=False)
    assert run.returncode == 0, run.stderr.decode()
    assert run.stdout == (CATALOGS / f"{name}.yaml").read_bytes()


@pytest.mark.parametrize("name", GROUPS)
def test_a_lock_file_names_no_place_to_fetch_from(name: str) -> None:
    assert '"resolved"' not in (AGENTS / name / "package-lock.json").read_text(encoding="utf-8")
