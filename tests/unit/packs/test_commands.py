"""What std/shell and std/secrets find in commands, bad ones and those of every day."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.runtime.model import Call

HERE: Final = Path(__file__).parent
CASES: Final = yaml.safe_load((HERE / "commands.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def artifact() -> Artifact:
    # Not a folder for what is temporary, whose files may go without a word.
    return load(["std/shell", "std/secrets"], cwd=str(HERE), found=False)


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")


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
