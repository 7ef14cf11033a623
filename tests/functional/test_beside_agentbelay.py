"""Ten attempts to get past an organisation's policy: what agentbelay does, and what is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tool_intent.compiler.loading import load
from tool_intent.runtime.model import Call

HERE: Final = Path(__file__).parent
SAID: Final = yaml.safe_load((HERE / "beside.yaml").read_text(encoding="utf-8"))
ATTEMPTS: Final[list[dict[str, Any]]] = SAID["attempts"]


def theirs(attempt: dict[str, Any], repo: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What agentbelay makes of the call, by the policy it finds in the repository."""
    from agentbelay import Guard, PolicyError

    (repo.parent / "org.yaml").write_text(SAID["org"]["agentbelay"], encoding="utf-8")
    (repo / "belay.yaml").write_text(attempt["agentbelay"], encoding="utf-8")
    monkeypatch.chdir(repo)
    try:
        guard = Guard.from_file("belay.yaml")
    except PolicyError:
        return "error"
    decision = guard.check(attempt["call"]["tool"], attempt["call"]["args"])
    return "allow" if decision.allowed else str(decision.action)


def ours(attempt: dict[str, Any], repo: Path) -> str:
    """What is decided here, by the policies that are found."""
    machine = repo.parent / "machine"
    machine.mkdir()
    (machine / "org.yaml").write_text(SAID["org"]["ours"], encoding="utf-8")
    (repo / ".tool-intent").mkdir()
    (repo / ".tool-intent" / "policy.yaml").write_text(attempt["ours"], encoding="utf-8")
    home = repo.parent / "home"
    environ = {"HOME": str(home), "TOOL_INTENT_CACHE": "off"}
    artifact = load(cwd=str(repo), environ=environ, machine=str(machine), account=str(home))
    call = attempt["call"]
    return artifact.decide(Call(1, call["tool"], call["args"], {"cwd": str(repo)})).decision


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt["attempt"])
def test_what_comes_of_an_attempt_in_both(
    attempt: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = tmp_path / "repo"
    (repo / "prod").mkdir(parents=True)
    for name, target in attempt.get("link", {}).items():
        os.symlink(target, repo / name)
    assert [theirs(attempt, repo, monkeypatch), ours(attempt, repo)] == attempt["answers"]


def test_the_page_shows_what_comes_of_each() -> None:
    page = (HERE.parents[1] / "docs" / "organisation.md").read_text(encoding="utf-8")
    for attempt in ATTEMPTS:
        one, other = attempt["answers"]
        assert f"| {attempt['attempt']} | {one} | {other} |" in page
