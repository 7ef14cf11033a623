"""What std/shell and std/secrets find in commands, bad ones and those of every day."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import compiled, load
from tool_intent.policy.load import load as read_policies
from tool_intent.policy.sources import Root, pack_path
from tool_intent.runtime.model import Call
from tool_intent.runtime.paths import Place

HERE: Final = Path(__file__).parent
CASES: Final = yaml.safe_load((HERE / "commands.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def artifact() -> Artifact:
    # Not a folder for what is temporary, whose files may go without a word.
    return load(["std/shell", "std/secrets"], cwd=str(HERE), found=False)


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")


@pytest.mark.parametrize(
    ("command", "breaks"),
    [
        ("rm -rf build", []),
        ("rm -rf /usr/src/app/build", []),
        ("rm -rf /usr/src", ["shell/delete-outside", "shell/delete-root"]),
        ("rm -rf /usr", ["shell/delete-outside", "shell/delete-root"]),
    ],
)
def test_a_workspace_below_a_folder_of_the_system_is_a_workspace(
    command: str, breaks: list[str]
) -> None:
    policy = read_policies([Root(pack_path("std/shell"), "repo", "std/shell")])
    here = compiled(policy, Place("/usr/src/app", "/usr/src/app", "/home/ada", False))
    args = {"command": command, "intent": "Free /usr and /usr/src", "rationale": "build is old."}
    decision = here.decide(Call(1, "bash", args, {}, None, 0.0), here.new_history())
    assert sorted({f.rule for f in decision.findings}) == breaks, decision.message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"])
def test_a_command_breaks_these_rules_and_no_other(
    artifact: Artifact, case: dict[str, Any]
) -> None:
    args = {
        "command": case["command"],
        "intent": "Proceed",
        "rationale": case.get("reason", "Why."),
    }
    call = Call(1, "bash", args, {}, None, 0.0)
    decision = artifact.decide(call, artifact.new_history())
    assert sorted({f.rule for f in decision.findings}) == sorted(case["breaks"]), decision.message
