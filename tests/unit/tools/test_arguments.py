"""Arguments are held against the schema, by name, with an answer that tells how to mend them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.tools import Builtin, Result, Tool, ToolError, Workspace, tools
from tool_intent.tools.arguments import checked

_CASES = yaml.safe_load(Path(__file__).with_name("arguments.yaml").read_text())
_TOOLS = tools(Workspace("/"))

_scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text()
_names = st.sampled_from(["path", "offset", "limit", "content", "edits", "command", "timeout", "x"])
_entry = st.dictionaries(st.sampled_from(["oldText", "newText", "why"]), st.text() | st.integers())
_args = st.dictionaries(_names, st.text() | _scalars | st.lists(_entry | st.text(), max_size=3))


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case['tool']} {case['args']}")
def test_a_faulty_argument_is_refused_by_name(builtin: Builtin, case: dict[str, Any]) -> None:
    text, ok = builtin.run(case["tool"], case["args"])
    assert not ok
    assert [part for part in case["says"] if part not in text] == [], text


@pytest.mark.parametrize("tool", _TOOLS.values(), ids=lambda tool: tool.name)
def test_each_schema_is_a_json_schema_and_keeps_strict_mode(tool: Tool) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.schema)
    assert _keywords(tool.schema) <= {
        "type", "properties", "required", "items", "additionalProperties", "description",
    }  # fmt: skip


def _keywords(schema: Any) -> set[str]:
    inner = [
        *schema.get("properties", {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ]
    return set(schema).union(*map(_keywords, inner))


@settings(deadline=None)
@given(st.sampled_from(list(_TOOLS.values())), _args)
def test_arguments_are_accepted_exactly_if_the_schema_accepts_them(
    tool: Tool, args: dict[str, Any]
) -> None:
    try:
        accepted = checked(tool.name, tool.schema, args) == args
    except ToolError:
        accepted = False
    assert accepted == jsonschema.Draft202012Validator(tool.schema).is_valid(args)


def test_a_tool_by_itself_raises_what_run_returns_as_a_result(builtin: Builtin) -> None:
    with pytest.raises(ToolError, match="path is missing") as raised:
        builtin.tools["read"].execute({})
    assert builtin.run("read", {}) == Result(str(raised.value), False)


def test_the_tools_are_the_four_of_pi_and_bash_says_it_is_not_confined(builtin: Builtin) -> None:
    assert list(builtin.tools) == ["read", "write", "edit", "bash"]
    assert "not confined" in builtin.tools["bash"].description


def test_a_changed_schema_or_result_reaches_nobody_else(builtin: Builtin, root: Path) -> None:
    builtin.tools["read"].schema["required"].append("intent")
    assert Builtin(Workspace(root)).tools["read"].schema["required"] == ["path"]
    with pytest.raises(AttributeError):
        builtin.run("read", {}).ok = True  # type: ignore[misc]


def test_a_workspace_must_be_a_folder(root: Path) -> None:
    (root / "file").touch()
    for bad in (root / "missing", root / "file"):
        with pytest.raises(NotADirectoryError, match="is no folder; create it or name another"):
            Workspace(bad)


def test_arguments_with_lone_surrogates_are_refused(builtin: Builtin, root: Path) -> None:
    (root / "a").write_text("a")
    edits = [{"oldText": "a", "newText": "\ud800"}]
    for tool, args, says in [
        ("read", {"path": "\udc80"}, "path holds a lone surrogate"),
        ("write", {"path": "a", "content": "xy\ud800"}, "content holds a lone surrogate at cha"),
        ("edit", {"path": "a", "edits": edits}, "edits[0].newText holds a lone surrogate"),
        ("bash", {"command": "echo \udcff"}, "command holds a lone surrogate"),
    ]:
        text, ok = builtin.run(tool, args)
        assert (ok, says in text) == (False, True), text
    assert (root / "a").read_text() == "a"
