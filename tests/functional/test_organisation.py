"""An organisation, a team and a repository, with stages and waivers, on a machine of their own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from .command import ASSETS
from .managed import WHY_NOT, Managed

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

WHY = {"intent": "Correct the rounding", "rationale": "PAY-7 shows cents lost in every third sum."}


@pytest.fixture
def machine(tmp_path: Path) -> Managed:
    """The machine of tests/assets/organisation, in its repository."""
    home, repo = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    shutil.copytree(ASSETS / "organisation" / "repo", repo)
    managed = Managed(home, repo)
    shutil.copytree(ASSETS / "organisation" / "machine", managed.machine, dirs_exist_ok=True)
    return managed


def decided(machine: Managed, day: str, tool: str, **args: Any) -> dict[str, Any]:
    """The decision on a call on a day."""
    call = json.dumps({"tool": tool, "args": args})
    done = machine("decide", "--now", f"{day}T12:00:00Z", stdin=call + "\n")
    assert done.code == 0, done
    return done.answers[0]


def found(decision: dict[str, Any]) -> dict[str, str]:
    return {f["rule"]: f["effect"] for f in decision["findings"]}


@pytest.mark.slow
def test_the_team_s_rule_is_waived_in_its_scope_until_the_last_day(machine: Managed) -> None:
    ledger = {"path": "ledger/sums.py", "content": "x", **WHY}
    assert found(decided(machine, "2026-12-02", "write", **ledger)) == {
        "team/ticket-on-ledger": "deny"
    }
    assert decided(machine, "2026-12-02", "write", ticket="PAY-7", **ledger)["findings"] == []
    fixture = ledger | {"path": "ledger/fixtures/a.json"}
    waived = decided(machine, "2026-12-20", "write", **fixture)
    assert waived["decision"] == "allow"
    assert [(f["waived"], f["was"]) for f in waived["findings"]] == [("W-17", "deny")]
    assert decided(machine, "2026-12-21", "write", **fixture)["decision"] == "deny"


@pytest.mark.parametrize(
    ("day", "effects"),
    [
        ("2026-11-30", {}),
        ("2026-12-02", {"org/says-why": "note"}),
        ("2026-12-16", {"org/says-why": "warn"}),
        ("2027-01-10", {"org/says-why": "deny"}),
    ],
)
def test_the_organisation_s_rule_comes_to_deny_by_stages(
    day: str, effects: dict[str, str], machine: Managed
) -> None:
    why = {"intent": "Correct the rounding", "rationale": "Because arithmetics matters."}
    assert found(decided(machine, day, "bash", command="ls", **why)) == effects


@pytest.mark.slow
def test_the_team_s_option_counts_and_the_repository_s_does_not(machine: Managed) -> None:
    why = {"intent": "Correct the rounding", "rationale": "Because arithmetics matters much."}
    assert found(decided(machine, "2027-01-10", "bash", command="ls", **why)) == {
        "org/says-why": "deny"
    }, "four words, and the team asks for five"
    policy = machine.cwd / ".tool-intent" / "policy.yaml"
    text = policy.read_text("utf-8")
    policy.write_text(f"{text}options: {{acme/org: {{least: 2}}}}\n", encoding="utf-8")
    assert found(decided(machine, "2027-01-10", "bash", command="ls", **why)) == {
        "org/says-why": "deny"
    }


def test_the_repository_lowers_a_rule_to_its_floor_and_its_own_waiver_counts_for_nothing(
    machine: Managed,
) -> None:
    push = decided(machine, "2026-12-02", "bash", command="git push --force origin me", **WHY)
    assert found(push)["org/no-force-push"] == "warn"
    told = machine("check")
    assert "W-18" in told.out, told
    why = machine("show", "--why", "org/no-force-push")
    assert "declared deny, adjusted to warn by .tool-intent/policy.yaml:6" in why.out


@pytest.mark.slow
def test_what_the_organisation_asks_of_a_field_stands(machine: Managed) -> None:
    short = {"intent": "Correct the rounding", "rationale": "Ten letters"}
    decision = decided(machine, "2026-12-02", "write", path="a", content="x", **short)
    (finding,) = [f for f in decision["findings"] if f["rule"] == "fields/minLength"]
    assert (finding["effect"], finding["origin"]) == ("deny", "/etc/tool-intent/org.yaml:9")


def test_a_policy_that_must_be_there_and_is_not_denies(machine: Managed) -> None:
    policy = machine.cwd / ".tool-intent" / "policy.yaml"
    text = policy.read_text("utf-8")
    policy.write_text(text.replace("policy: acme/payments\n", ""), encoding="utf-8")
    decision = decided(machine, "2026-12-02", "bash", command="ls", **WHY)
    assert found(decision)["policy/missing"] == "deny"


def test_a_broken_repository_denies_and_the_organisation_is_judged_by(machine: Managed) -> None:
    (machine.cwd / ".tool-intent" / "policy.yaml").write_text("version: 1\ntools: [\n")
    decision = decided(machine, "2026-12-02", "write", path="a", content="x")
    assert {"policy/broken", "fields/missing"} <= found(decision).keys()


@pytest.mark.slow
def test_the_floor_says_what_is_sure(machine: Managed) -> None:
    shown = machine("show", "--floor", "--now", "2026-12-16T00:00:00Z", "--format", "json")
    rows = json.loads(shown.out)
    least = {row["what"]: row["least"] for row in rows if row["rank"] == "org"}
    assert least["rule shell/delete-root"] == "deny"
    assert least["rule org/no-force-push"] == "warn"
    assert least["rule org/says-why"] == "note", "its floor, though it warns by now"
    waived = {row["what"]: row["waived_by"] for row in rows}
    assert waived["rule team/ticket-on-ledger"] == ["W-17"]
    assert waived["rule org/no-force-push"] == [], "the repository's own waiver"


@pytest.mark.slow
def test_who_can_write_the_organisation_s_files_is_held_to_their_full_effect(
    machine: Managed,
) -> None:
    shutil.chown(machine.machine / "org.yaml", 65534, 65534)
    why = {"intent": "Correct the rounding", "rationale": "Because arithmetics matters."}
    early = decided(machine, "2026-11-30", "bash", command="git push --force origin me", **why)
    assert found(early)["org/no-force-push"] == "deny", "neither the floor"
    assert found(early)["org/says-why"] == "deny", "nor the stages count"
    assert "org.yaml: it belongs to you" in machine("check").out


def test_what_the_user_cannot_write_is_not_compiled_where_the_user_can(machine: Managed) -> None:
    kept = machine.home / ".cache" / "tool-intent"
    decided(machine, "2026-12-02", "bash", command="ls", **WHY)
    assert not list(kept.glob("*"))
    shutil.chown(machine.machine / "org.yaml", 65534, 65534)
    decided(machine, "2026-12-02", "bash", command="ls", **WHY)
    assert list(kept.glob("*")), "where the user could write the policy itself, it is kept"
