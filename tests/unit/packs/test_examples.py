"""The shipped packs by their own examples: a `bad` call breaks its rule, an `ok` one does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
import yaml

from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.policy.sources import shipped
from tool_intent.rules.check import check_text
from tool_intent.rules.tree import Example, Rule
from tool_intent.runtime.decision import Decision
from tool_intent.runtime.model import Call
from tool_intent.runtime.sessions import Sessions

PACKS: Final = Path(shipped()) / "packs" / "std"
RULE_FILES: Final = sorted(PACKS.glob("*.rules"))
NAMES: Final = sorted(path.stem for path in PACKS.glob("*.yaml"))
#: A Monday noon; between the calls of an example nothing passes.
NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
#: The rules of std/anti-fluff by what they come to.
FLUFF: Final = {
    "deny": {
        "fluff/placeholder", "fluff/one-word", "fluff/instruction", "fluff/script", "fluff/echo",
        "fluff/same-text", "fluff/restates-the-call", "fluff/no-reason", "fluff/no-reason-to-read",
        "fluff/repeated",
    },
    "warn": {"fluff/label", "fluff/filler", "fluff/narration", "fluff/padding"},
    "note": {"fluff/unread-script"},
}  # fmt: skip
#: Packs that hold the rules of a file which has no pack of its own.
SHARED: Final = {"secrets-in-reason": "secrets"}


class Case(NamedTuple):
    """An example of a rule, and the pack that holds the rule."""

    pack: str
    rule: str
    example: Example


def rules_of(path: Path) -> tuple[Rule, ...]:
    tree, found = check_text(path.read_text("utf-8"), path.name)
    assert tree is not None, found
    return tree.rules


def cases() -> Iterator[Case]:
    for path in RULE_FILES:
        for rule in rules_of(path):
            for example in rule.examples:
                pack = SHARED.get(path.stem, path.stem)
                yield Case(f"std/{pack}", rule.id, example)


CASES: Final = list(cases())


def case_id(case: Case) -> str:
    return f"{case.rule}-{case.example.label}-{case.example.span.line}"


@pytest.fixture(scope="module")
def packs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Artifact]:
    """What each pack makes, in a workspace where no other policy is found."""
    cwd = str(tmp_path_factory.mktemp("workspace"))
    return {name: load([f"std/{name}"], cwd=cwd, found=False) for name in NAMES}


def decided(pack: Artifact, tool: str, args: Mapping[str, Any]) -> Decision:
    return pack.decide(Call("1", tool, dict(args), {}, None, NOW), pack.new_history())


def judged(pack: Artifact, case: Case) -> Decision:
    """The decision on an example's call, after its earlier calls, in a session of its own.

    An earlier call was let through, whatever the pack says of it: a person may have agreed.
    """
    sessions = Sessions(pack.new_history)
    for number, earlier in enumerate(case.example.after):
        sessions.judge(Call(number, earlier.tool, dict(earlier.args), {}, None, NOW), pack.decide)
        if earlier.outcome in ("passed", "failed"):
            sessions.outcome(None, number, earlier.outcome)
    context = dict(case.example.context or {})
    call = Call("judged", case.example.tool, dict(case.example.args), context, None, NOW)
    return sessions.judge(call, pack.decide)[0]


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_a_pack_checks_clean(path: Path) -> None:
    tree, found = check_text(path.read_text("utf-8"), path.name)
    assert found == ()
    assert tree is not None


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.stem)
def test_every_rule_says_how_to_mend_a_call_and_shows_a_good_and_a_bad_one(path: Path) -> None:
    for rule in rules_of(path):
        assert rule.fix is not None, rule.id
        assert {example.label for example in rule.examples} == {"bad", "ok"}, rule.id


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_an_example_breaks_its_rule_if_it_is_bad_and_only_then(
    packs: dict[str, Artifact], case: Case
) -> None:
    decision = judged(packs[case.pack.removeprefix("std/")], case)
    broken = {finding.rule for finding in decision.findings}
    assert (case.rule in broken) == (case.example.label == "bad"), decision.message


@pytest.mark.parametrize("case", [c for c in CASES if c.example.label == "ok"], ids=case_id)
def test_a_good_example_breaks_no_rule_of_any_pack(packs: dict[str, Artifact], case: Case) -> None:
    for name in ("shell", "secrets", "anti-fluff"):
        assert judged(packs[name], case).findings == (), name


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_says_its_own_name(name: str) -> None:
    pack = yaml.safe_load((PACKS / f"{name}.yaml").read_text("utf-8"))
    assert pack["policy"] == f"std/{name}"


def test_anti_fluff_has_rules_of_three_tiers_that_a_team_may_relax() -> None:
    rules = rules_of(PACKS / "anti-fluff.rules")
    found = {effect: {r.id for r in rules if r.verdict.effect == effect} for effect in FLUFF}
    assert found == FLUFF
    assert all(rule.floor is not None for rule in rules if rule.verdict.effect != "note")


def test_anti_fluff_is_quiet_where_neither_field_is_given(packs: dict[str, Artifact]) -> None:
    calls = {
        "bash": {"command": "npm test"},
        "read": {"path": "a.py"},
        "write": {"path": "a.py", "content": "x"},
        "edit": {"path": "a.py", "edits": [{"oldText": "a", "newText": "b"}]},
        "anything": {},
    }
    for tool, args in calls.items():
        decision = decided(packs["anti-fluff"], tool, args)
        assert (decision.decision, decision.findings) == ("allow", ()), tool


def test_anti_fluff_judges_each_entry_of_an_edit(packs: dict[str, Artifact]) -> None:
    good = {"intent": "Retry once", "rationale": "The broker drops the first call after 5 minutes."}
    entries = [{"oldText": "a", "newText": "b", **good}, {"oldText": "c", "newText": "d"}]
    entries[1] |= {"intent": "n/a", "rationale": "n/a"}
    decision = decided(packs["anti-fluff"], "edit", {"path": "a.py", "edits": entries})
    assert decision.decision == "deny"
    assert decision.findings
    assert all(finding.at.startswith("/edits/1") for finding in decision.findings)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", {"command": "ls"}),
        ("Bash", {"command": "ls"}),
        ("exec_command", {"cmd": "ls"}),
        ("Write", {"file_path": "a.py", "content": "x"}),
        ("WebFetch", {"url": "https://example.com", "prompt": "x"}),
        ("mcp__filesystem__write_file", {"path": "a.py", "content": "x"}),
    ],
)
def test_strict_wants_both_fields_of_all_that_changes_runs_or_asks(
    packs: dict[str, Artifact], tool: str, args: dict[str, str]
) -> None:
    decision = decided(packs["strict"], tool, args)
    missing = {f.at for f in decision.findings if f.rule == "fields/missing"}
    assert missing == {"/intent", "/rationale"}


def test_strict_takes_an_edits_reasons_from_its_entries(packs: dict[str, Artifact]) -> None:
    entry = {
        "oldText": "a",
        "newText": "b",
        "intent": "Retry once",
        "rationale": "The broker drops the first call after 5 minutes.",
    }
    assert decided(packs["strict"], "edit", {"path": "a.py", "edits": [entry]}).findings == ()


def test_strict_warns_of_a_tool_that_it_does_not_know(packs: dict[str, Artifact]) -> None:
    decision = decided(packs["strict"], "mcp__new__thing", {})
    assert decision.decision == "allow"
    assert [(f.rule, f.effect) for f in decision.findings] == [("tools/unlisted", "warn")]
