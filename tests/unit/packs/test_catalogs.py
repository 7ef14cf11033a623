"""The shipped catalogs of agents and servers beside pi, and what the packs say of their tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.policy import catalogs
from tool_intent.rules.types import ROLES
from tool_intent.runtime.model import Call

NAMES: Final = ("claude-code", "codex", "mcp-filesystem")
GROUPS: Final = {
    "claude-code": {
        "@read": {"Read", "Glob", "Grep"},
        "@write": {"Write"},
        "@edit": {"Edit", "NotebookEdit"},
        "@exec": {"Bash", "Monitor"},
        "@net": {"WebFetch", "WebSearch"},
    },
    "codex": {
        "@read": {"view_image"},
        "@edit": {"apply_patch"},
        "@exec": {"exec_command", "write_stdin"},
    },
    "mcp-filesystem": {
        "@read": {
            "mcp__filesystem__directory_tree",
            "mcp__filesystem__get_file_info",
            "mcp__filesystem__list_directory",
            "mcp__filesystem__list_directory_with_sizes",
            "mcp__filesystem__read_file",
            "mcp__filesystem__read_media_file",
            "mcp__filesystem__read_multiple_files",
            "mcp__filesystem__read_text_file",
            "mcp__filesystem__search_files",
        },
        "@write": {
            "mcp__filesystem__create_directory",
            "mcp__filesystem__move_file",
            "mcp__filesystem__write_file",
        },
        "@edit": {"mcp__filesystem__edit_file"},
    },
}
PATCH: Final = "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch"
#: What an argument holds in a call of every day.
ORDINARY: Final = {
    "command": "git status",
    "cmd": "git status",
    "chars": "git status\n",
    "url": "https://docs.python.org/3/library/re.html",
    "path": "src/app.py",
    "file_path": "src/app.py",
    "notebook_path": "notes/fees.ipynb",
    "paths": ["src/app.py", "src/fees.py"],
    "source": "src/app.py",
    "destination": "src/main.py",
    "edits": [{"oldText": "a = 1", "newText": "a = 2"}],
}


def tools(name: str) -> dict[str, Any]:
    text = Path(catalogs.path_of(name)).read_text("utf-8")
    found = yaml.safe_load(text)["tools"]
    assert isinstance(found, dict)
    return found


def every_tool() -> list[tuple[str, str]]:
    return [(name, tool) for name in catalogs.names() for tool in tools(name)]


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    cwd = str(tmp_path_factory.mktemp("workspace"))
    return load(["std/shell", "std/secrets", "std/anti-fluff"], cwd=cwd, found=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_catalog_reads_clean_and_puts_its_tools_in_their_groups(name: str) -> None:
    read = catalogs.read_catalog(Path(catalogs.path_of(name)).read_bytes(), name)
    assert read.diagnostics == ()
    assert {group: set(members) for group, members in read.groups.items()} == GROUPS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_role_is_played_by_an_argument_that_the_schema_has(name: str) -> None:
    for tool, known in tools(name).items():
        jsonschema.Draft202012Validator.check_schema(known["schema"])
        assert known["roles"].keys() <= ROLES.keys(), tool
        for paths in known["roles"].values():
            for path in [paths] if isinstance(paths, str) else paths:
                assert defined(known["schema"], path), (tool, path)


def defined(schema: dict[str, Any], path: str) -> bool:
    """Whether a schema has a property at an argument path such as `edits[].newText`."""
    for step in path.split("."):
        schema = schema.get("properties", {}).get(step.removesuffix("[]"), {})
        if step.endswith("[]"):
            schema = schema.get("items", {})
    return bool(schema)


@pytest.mark.parametrize(("catalog", "tool"), every_tool())
def test_the_packs_have_nothing_to_say_of_a_tools_ordinary_call(
    packs: Artifact, catalog: str, tool: str
) -> None:
    schema = tools(catalog)[tool]["schema"]
    ordinary = ORDINARY | ({"command": PATCH} if tool == "apply_patch" else {})
    args = {
        name: ordinary.get(name, sample(schema["properties"][name]))
        for name in schema.get("required", ())
    }
    decision = packs.decide(Call(1, tool, args, {}, None, 0.0), packs.new_history())
    assert decision.findings == ()


def sample(schema: dict[str, Any]) -> Any:
    """A value of a schema's type."""
    values = {"number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    return schema["enum"][0] if "enum" in schema else values.get(schema.get("type", ""), "text")
