"""Waivers: what they make of findings, and what is told of them."""

from __future__ import annotations

from datetime import datetime
from math import inf
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import yaml

from tool_intent.compiler.loading import compiled
from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.sources import Candidate, Root
from tool_intent.policy.vouching import Vouched
from tool_intent.policy.waiver_findings import findings
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import SENIORITY, Call
from tool_intent.runtime.paths import Place

CASES = yaml.load(
    (Path(__file__).parents[2] / "conformance" / "waivers.yaml").read_text("utf-8"),
    yaml.BaseLoader,
)
POLICIES = {
    rank: f'rule {rank[0]}/a on write deny "Not at {rank} rank."'
    for rank in ("org", "team", "repo")
}
REST = 'owner: "@lena", reason: Moving, expires: 2026-12-31'
NOON = "2026-12-01T12:00:00Z"


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


class Stack:
    """Policies and waivers by rank, in a folder that is a repository with files in docs/."""

    def __init__(self, folder: Path, case: dict[str, Any]) -> None:
        self.folder = folder
        self.case = case
        (folder / "docs").mkdir()
        (folder / "docs" / "a.md").write_text("")
        (folder / "src").mkdir()
        (folder / "src" / "a.py").write_text("")
        (folder / "docs" / "out").symlink_to(folder / "src")
        self.roots: list[Root] = []
        for name, text in case.get("policies", POLICIES).items():
            body = f"rules: |\n{indent(text, '  ')}" if text.startswith("rule ") else text
            self._put(f"{name}.yaml", f"version: 1\n{body}\npolicy: {name}\n", name)
        for rank, text in case.get("waivers", {}).items():
            self._put(f"{rank}/waivers.yaml", f"waivers:\n{indent(text, '  ')}\n", rank)
        self.roots.sort(key=lambda root: SENIORITY[root.rank])

    def _put(self, name: str, text: str, rank: str) -> None:
        path = self.folder / "policies" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("$}", f"{REST}}}"), encoding="utf-8")
        self.roots.append(Root(str(path), rank.partition("_")[0], name))

    def load(self) -> EffectivePolicy:
        writable = self.case.get("writable") == "true"
        return load(
            self.roots,
            doubts=lambda *_: "it belongs to you" if writable else None,
            signers=self._signer,
            now=self.now or seconds(NOON),
        )

    @property
    def now(self) -> float | None:
        text = self.case.get("now", NOON)
        return seconds(text) if text else None

    def _signer(self, path: str, data: bytes) -> Vouched | str | None:
        said = self.case.get("signed", {}).get(Path(path).parent.name)
        if said is None or not said[0].isdigit():
            return said
        return Vouched("appsec", seconds(said))

    def judged(self, policy: EffectivePolicy) -> Decision:
        call = self.case.get("call", {"tool": "write", "args": {"path": "docs/a.md"}})
        context = {"agent": call["agent"]} if "agent" in call else {}
        place = Place(str(self.folder), str(self.folder), "/home/someone", False)
        asked = Call(1, call["tool"], call["args"], context, None, self.now)
        return compiled(policy, place).decide(asked)


def shown(decision: Decision) -> dict[str, str]:
    said = {}
    for one in decision.findings:
        assert one.origin is not None
        mark = "" if one.waived is None else f" {one.waived} {one.was}"
        said[f"{one.origin.rank} {one.rule}"] = f"{one.effect}{mark}"
    return said


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_waivers_lower_what_they_may(case: dict[str, Any], tmp_path: Path) -> None:
    stack = Stack(tmp_path, case)
    policy = stack.load()
    assert policy.broken == ()
    decision = stack.judged(policy)
    usual = {f"{rank} {rank[0]}/a": "deny" for rank in case.get("policies", POLICIES)}
    expected = {k: v for k, v in usual.items() if "policies" not in case} | case["found"]
    found = shown(decision)
    assert expected.items() <= found.items()
    if "policies" not in case:
        assert found.keys() == expected.keys()
    unwaived = {k: v for k, v in found.items() if k not in case["found"]}
    assert all(" " not in effect for effect in unwaived.values()), unwaived
    told = findings(policy, stack.now or 0, str(tmp_path))
    wanted = case.get("told", [])
    assert len(told) == len(wanted), told
    for diagnostic, want in zip(told, wanted, strict=True):
        assert f"{diagnostic.code} {diagnostic.message}".startswith(want)
    for diagnostic, want in zip(told, case.get("help", []), strict=False):
        assert diagnostic.help == want


def test_there_are_cases_of_every_kind() -> None:
    assert len(CASES) >= 40
    assert len({case["name"] for case in CASES}) == len(CASES)


def test_every_finding_of_a_waiver_has_its_place(tmp_path: Path) -> None:
    text = "- {id: W-1, rule: r/a, scope: {paths: [docs/**]},\n   owner: a, expires: 2026-13-01}\n"
    policy = Stack(tmp_path, {"waivers": {"repo": text}}).load()
    (missing,) = policy.waiver_findings
    assert missing.render(text.splitlines()).startswith("repo/waivers.yaml:2:5: error: `reason`")


def test_the_decision_says_what_waived_it(tmp_path: Path) -> None:
    stack = Stack(tmp_path, CASES[0])
    data = stack.judged(stack.load()).to_dict()
    marks = [(f["rule"], f["effect"], f.get("waived"), f.get("was")) for f in data["findings"]]
    assert ("r/a", "note", "W-1", "deny") in marks
    assert ("o/a", "deny", None, None) in marks
    unwaived = next(f for f in data["findings"] if f["rule"] == "o/a")
    assert unwaived.keys() == {"rule", "effect", "at", "message", "fix", "origin"}


def test_waivers_are_part_of_what_a_policy_is(tmp_path: Path) -> None:
    stack = Stack(tmp_path, CASES[0])
    before = stack.load()
    path = tmp_path / "policies" / "repo" / "waivers.yaml"
    path.write_text(path.read_text().replace("Moving", "Staying"))
    after = stack.load()
    assert before.digest != after.digest
    assert [s.shown for s in after.sources if s.shown.endswith("waivers.yaml")] == [
        "repo/waivers.yaml"
    ]


def test_a_waivers_file_that_cannot_be_read_is_told_and_lowers_nothing(tmp_path: Path) -> None:
    stack = Stack(tmp_path, {"waivers": {"repo": CASES[0]["waivers"]["repo"]}})
    path = tmp_path / "policies" / "repo" / "waivers.yaml"
    path.unlink()
    path.mkdir()
    policy = stack.load()
    assert policy.broken == ()
    assert [d.code for d in policy.waiver_findings] == ["waivers/unreadable"]
    assert shown(stack.judged(policy))["repo r/a"] == "deny"


def test_a_place_of_waivers_that_is_refused_breaks_no_policy(tmp_path: Path) -> None:
    stack = Stack(tmp_path, {})
    refused = Candidate("/x/waivers.yaml", "team", "x/waivers.yaml", "refused", "it is a folder")
    policy = load(stack.roots, [refused], now=seconds(NOON))
    assert policy.broken == ()
    (told,) = policy.waiver_findings
    assert told.message == "`x/waivers.yaml` cannot be read: it is a folder"


def test_a_policy_that_is_broken_waives_nothing(tmp_path: Path) -> None:
    case = {
        "policies": {
            "repo": 'rule r/a on write deny "No."',
            "repo_2": "tols: {}\nwaivers:\n  - {id: W-1, rule: r/a, scope: {paths: [docs/**]}, $}",
        }
    }
    stack = Stack(tmp_path, case)
    policy = stack.load()
    assert [d.code for d in policy.broken] == ["policy/unknown-key"]
    assert policy.waivers == ()
    assert stack.judged(policy).decision == "deny"


def test_a_policy_with_a_waiver_of_tomorrow_may_mean_something_else_tomorrow(
    tmp_path: Path,
) -> None:
    case = next(c for c in CASES if c["name"] == "what was created tomorrow is not believed")
    stack = Stack(tmp_path, case)
    assert stack.load().volatile
    later = load(stack.roots, now=seconds("2026-12-02T00:00:00Z"))
    assert (later.volatile, len(later.waivers)) == (False, 1)
    assert later.waivers[0].counts["repo"].until < inf


def test_what_the_environment_names_waives_nothing(tmp_path: Path) -> None:
    stack = Stack(tmp_path, CASES[0])
    stack.roots = [root._replace(grants=False) for root in stack.roots]
    policy = stack.load()
    assert shown(stack.judged(policy))["repo r/a"] == "deny"
    (told,) = policy.waiver_findings
    assert "the environment names it, and that grants nothing; it is not signed" in told.message


def test_whether_a_waiver_counts_shows_in_the_digest(tmp_path: Path) -> None:
    stack = Stack(tmp_path, CASES[0])
    counted = stack.load()
    stack.roots = [root._replace(grants=False) for root in stack.roots]
    assert stack.load().digest != counted.digest
