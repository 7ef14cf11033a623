"""std/baseline asks exactly what pi-tool-intent asks: its four examples, whole and wanting."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tool_intent import Guard

#: The example calls of pi-tool-intent's README; `read` is the fourth tool it shadows.
EXAMPLES: dict[str, dict[str, Any]] = {
    "write": {
        "path": "src/auth.ts",
        "content": "...",
        "intent": "Add token refresh logic required by spec section 3.2.",
        "rationale": "The refresh endpoint is missing; integration tests fail without it.",
    },
    "edit": {
        "path": "src/main.ts",
        "edits": [
            {
                "oldText": "const x = 1;",
                "newText": "const x = 42;",
                "intent": "Use sentinel value documented in the spec.",
                "rationale": "The contract requires x=42; callers assert this value.",
            }
        ],
    },
    "bash": {
        "command": "npm test",
        "intent": "Verify no regressions before commit.",
        "rationale": "The feature touched test-heavy modules; regression check required.",
    },
    "read": {
        "path": "src/auth.ts",
        "offset": 1,
        "limit": 50,
        "intent": "See how tokens are stored.",
        "rationale": "The refresh logic has to use the same store.",
    },
}
WANTING = [None, "", " ", "\t\n", "\u200b", "\u2800", "\u0301"]


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Guard:
    return Guard.load("std/baseline", cwd=str(tmp_path_factory.mktemp("empty")))


def _carrier(tool: str, args: dict[str, Any]) -> dict[str, Any]:
    carrier: dict[str, Any] = args["edits"][0] if tool == "edit" else args
    return carrier


def _wanting() -> Iterator[tuple[str, str, str | None]]:
    for tool in EXAMPLES:
        for field in ("intent", "rationale"):
            for value in WANTING:
                yield tool, field, value


@pytest.mark.parametrize("tool", EXAMPLES)
def test_an_example_of_the_seed_passes_and_its_fields_are_stripped(guard: Guard, tool: str) -> None:
    decision = guard.check(tool, EXAMPLES[tool])
    bare = copy.deepcopy(EXAMPLES[tool])
    del _carrier(tool, bare)["intent"], _carrier(tool, bare)["rationale"]
    assert decision.allowed
    assert decision.findings == ()
    assert decision.args == bare


@pytest.mark.parametrize(("tool", "field", "value"), list(_wanting()))
def test_an_example_with_a_field_missing_or_blank_is_denied(
    guard: Guard, tool: str, field: str, value: str | None
) -> None:
    args = copy.deepcopy(EXAMPLES[tool])
    if value is None:
        del _carrier(tool, args)[field]
    else:
        _carrier(tool, args)[field] = value
    decision = guard.check(tool, args)
    place = "/edits/0" if tool == "edit" else ""
    assert decision.decision == "deny"
    assert [(f.rule, f.at) for f in decision.findings] == [("fields/missing", f"{place}/{field}")]


def test_a_reason_on_the_whole_edit_does_not_stand_for_one_on_each(guard: Guard) -> None:
    args = copy.deepcopy(EXAMPLES["edit"])
    edit = args["edits"][0]
    args |= {"intent": edit.pop("intent"), "rationale": edit.pop("rationale")}
    assert not guard.check("edit", args).allowed


def test_other_tools_are_left_alone_as_the_seed_leaves_them(guard: Guard) -> None:
    assert guard.check("grep", {"pattern": "x"}).findings == ()


def test_the_tools_are_shown_with_both_fields_required_first(guard: Guard) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    for tool in ("write", "bash", "read"):
        extended = guard.extend({"name": tool, "description": "x", "inputSchema": schema})
        assert extended["inputSchema"]["required"][:2] == ["intent", "rationale"]
        for field in ("intent", "rationale"):
            assert extended["inputSchema"]["properties"][field]["minLength"] == 1


def test_the_pack_ships_beside_the_package() -> None:
    assert (Path(__file__).parents[3] / "policies" / "packs" / "std" / "baseline.yaml").is_file()
