"""Waivers for so many calls: a use is taken where a call passes for it, and nowhere else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tool_intent.compiler.loading import load
from tool_intent.guard import standing
from tool_intent.guard.guard import Denied, Guard
from tool_intent.runtime import uses
from tool_intent.runtime.model import Call

NOW = 1_796_126_400.0
POLICY = """\
version: 1
policy: acme
tools:
  save: {require: [intent]}
rules: |
  rule acme/no on write, save
    deny "No."
  rule acme/nor on write
    when path == "both"
    deny "Nor this."
  rule acme/asks on write
    when path == "asks"
    ask "Sure?"
  rule acme/tells on read
    warn "Hm."
"""
WAIVERS = """\
waivers:
  - {id: W-1, rule: acme/no, owner: a, reason: b, expires: 2027-01-01, max_uses: 2}
  - {id: W-2, rule: acme/tells, owner: a, reason: b, expires: 2027-01-01, max_uses: 2}
  - {id: W-3, rule: fields/missing, owner: a, reason: b, expires: 2027-01-01, max_uses: 2}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".tool-intent").mkdir(parents=True)
    (folder / ".tool-intent" / "policy.yaml").write_text(POLICY)
    (folder / ".tool-intent" / "waivers.yaml").write_text(WAIVERS)
    monkeypatch.setattr(uses, "folder", lambda: str(tmp_path / "home" / "uses"))
    return folder


@pytest.fixture
def guard(project: Path) -> Guard:
    return Guard.load(cwd=str(project), now=NOW)


@pytest.fixture
def left(guard: Guard) -> Callable[[str], int]:
    """How many of two uses are left of a waiver."""
    digests = {w.id: w.digest for w in guard._artifact.policy.waivers}
    return lambda name: uses.left(digests[name], 2)


def test_a_call_that_passes_for_a_waiver_uses_it(guard: Guard, left: Callable[[str], int]) -> None:
    answers = [guard.check("write", {"path": "a"}).decision for _ in range(3)]
    assert answers == ["allow", "allow", "deny"]
    assert left("W-1") == 0
    (finding,) = guard.check("write", {"path": "a"}).findings
    assert (finding.effect, finding.waived) == ("deny", None)


def test_carrying_a_call_out_uses_it_once(guard: Guard, left: Callable[[str], int]) -> None:
    for number in (1, 0):
        guard.call("write", {"path": "a"}, lambda args: args)
        assert left("W-1") == number
    with pytest.raises(Denied):
        guard.call("write", {"path": "a"}, lambda args: args)


def test_a_call_that_is_denied_for_something_else_uses_nothing(
    guard: Guard, left: Callable[[str], int]
) -> None:
    decision = guard.check("write", {"path": "both"})
    assert {f.effect for f in decision.findings} == {"deny"}
    assert left("W-1") == 2


def test_a_call_that_somebody_must_approve_for_something_else_uses_nothing_and_is_denied(
    guard: Guard, left: Callable[[str], int]
) -> None:
    assert guard.check("write", {"path": "asks"}).decision == "deny"
    assert left("W-1") == 2


def test_a_finding_that_stops_nothing_uses_nothing(
    guard: Guard, left: Callable[[str], int]
) -> None:
    decision = guard.check("read", {"path": "a"})
    assert [(f.effect, f.waived) for f in decision.findings] == [("warn", None)]
    assert left("W-2") == 2


def test_a_call_that_needs_two_waivers_uses_both(guard: Guard, left: Callable[[str], int]) -> None:
    assert guard.check("save", {}).allowed
    assert (left("W-1"), left("W-3")) == (1, 1)
    assert guard.check("write", {"path": "a"}).allowed
    assert guard.check("save", {}).decision == "deny"
    assert (left("W-1"), left("W-3")) == (0, 1)


def test_looking_uses_nothing(project: Path, left: Callable[[str], int]) -> None:
    artifact = load(cwd=str(project), now=NOW)
    answers = [artifact.decide(Call(1, "write", {"path": "a"}, now=NOW)) for _ in range(5)]
    assert {answer.decision for answer in answers} == {"allow"}
    assert left("W-1") == 2


def test_looking_says_what_enforcing_would(guard: Guard, project: Path) -> None:
    artifact = load(cwd=str(project), now=NOW)
    call = Call(1, "write", {"path": "a"}, now=NOW)
    for _ in range(2):
        assert artifact.decide(call).decision == guard.check("write", {"path": "a"}).decision
    assert artifact.decide(call).decision == "deny"


def test_where_uses_cannot_be_counted_nothing_passes(
    guard: Guard, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "folder", lambda: str(project / ".tool-intent" / "policy.yaml" / "x"))
    assert guard.check("write", {"path": "a"}).decision == "deny"
    artifact = load(cwd=str(project), now=NOW)
    assert artifact.decide(Call(1, "write", {"path": "a"}, now=NOW)).decision == "deny"


def test_eight_threads_get_exactly_as_many_calls_through(guard: Guard) -> None:
    start = threading.Barrier(8)

    def work(_: int) -> int:
        start.wait(60)
        return sum(guard.check("write", {"path": "a"}).allowed for _ in range(3))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 2


def test_a_tool_without_rules_is_waived_by_a_guard_too(project: Path) -> None:
    (project / ".tool-intent" / "policy.yaml").write_text(
        "version: 1\ntools: {save: {require: [intent]}}\n"
    )
    guard = Guard.load(cwd=str(project), now=NOW)
    assert [guard.check("save", {}).allowed for _ in range(3)] == [True, True, False]


def test_a_guard_goes_by_the_time_it_is_given(project: Path) -> None:
    after = Guard.load(cwd=str(project), now=NOW + 90 * 86_400)
    assert not after.check("write", {"path": "a"}).allowed


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard looks at the disk before every call."""
    monkeypatch.setattr(standing, "INTERVAL", 0.0)


@pytest.mark.usefixtures("quick")
def test_a_waiver_that_is_removed_counts_no_more_and_denies_nothing_else(project: Path) -> None:
    guard = Guard.load(cwd=str(project), now=NOW)
    assert guard.check("write", {"path": "a"}).allowed
    (project / ".tool-intent" / "waivers.yaml").unlink()
    assert not guard.check("write", {"path": "a"}).allowed
    assert guard.check("other", {}).allowed, "no policy has gone"


@pytest.mark.usefixtures("quick")
def test_a_waiver_that_is_written_meanwhile_counts_in_the_next_session(project: Path) -> None:
    waivers = project / ".tool-intent" / "waivers.yaml"
    waivers.unlink()
    guard = Guard.load(cwd=str(project), now=NOW)
    assert not guard.check("write", {"path": "a"}).allowed
    waivers.write_text(WAIVERS)
    assert not guard.check("write", {"path": "a"}).allowed
    assert Guard.load(cwd=str(project), now=NOW).check("write", {"path": "a"}).allowed


def test_waivers_that_are_left_behind_are_no_policy(project: Path) -> None:
    Guard.load(cwd=str(project), now=NOW)
    (project / ".tool-intent" / "policy.yaml").unlink()
    (finding,) = Guard.load(cwd=str(project), now=NOW).check("write", {"path": "a"}).findings
    assert (finding.rule, finding.effect) == ("policy/missing", "deny")
