"""Judging the calls of a host process: two policies at once, counting refusals, stripping."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tool_intent.compiler.loading import PolicyError
from tool_intent.guard.recording import ledger
from tool_intent.runtime import uses
from tool_intent.runtime.model import Call
from tool_intent.surfaces.judging import Judging, Unavailable

BASE = "version: 1\nextends: std/baseline\n"
TICKET = BASE + (
    "fields:\n  ticket: {description: The ticket., pattern: '^T-[0-9]+$'}\n"
    "tools:\n  write: {require: [ticket]}\n"
)
FREE = "version: 1\ntools:\n  write: {optional: [intent]}\n"
LOOKS_BACK = BASE + (
    "rules: |\n  rule history/read-first on edit\n"
    "    require earlier @read passed where path == this.path within 20 calls\n"
    '    else deny "Read it first."\n'
)
WHY = {"intent": "Keep the notes", "rationale": "The release asks for them"}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def policy(workspace: Path, text: str) -> None:
    path = workspace / ".tool-intent" / "policy.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def call(tool: str, id: str = "c", **args: Any) -> Call:
    return Call(id, tool, args, None, "s")


def rules(judging: Judging, made: Call) -> list[str]:
    return [f.rule for f in judging.decide(made).findings]


def test_without_a_policy_the_baseline_is_judged_by_and_that_is_said(workspace: Path) -> None:
    judging = Judging(str(workspace), point="pi")
    assert "no policy was found" in judging.state.notes[0]
    assert judging.state.asks
    assert judging.decide(call("bash", command="ls")).decision == "deny"


def test_a_policy_that_asks_for_nothing_is_said_to(workspace: Path) -> None:
    policy(workspace, "version: 1\n")
    judging = Judging(str(workspace), point="pi")
    assert not judging.state.asks
    assert "asks for nothing" in judging.state.notes[0]
    assert judging.decide(call("bash", command="ls")).decision == "allow"


def test_a_weaker_policy_on_disk_changes_nothing_for_a_session(workspace: Path) -> None:
    policy(workspace, BASE)
    judging = Judging(str(workspace), point="pi")
    first = judging.state.policies
    policy(workspace, FREE)
    assert len(judging.reload().policies) == 2
    assert judging.state.policies[0] == first[0]
    assert judging.decide(call("write", path="a", content="x")).decision == "deny"
    policy(workspace, BASE)
    assert judging.reload().policies == first


def test_what_a_new_policy_asks_besides_is_asked_and_told_once(workspace: Path) -> None:
    policy(workspace, BASE)
    judging = Judging(str(workspace), point="pi")
    policy(workspace, TICKET)
    judging.reload()
    judged = judging.decide(call("write", path="a", content="x"))
    assert sorted(f.at for f in judged.findings) == ["/intent", "/rationale", "/ticket"]
    assert judged.message is not None
    assert judged.message.count("intent is missing") == 1
    (advert,) = judging.extend({"name": "write", "inputSchema": {"type": "object"}}).adverts
    assert [(name, required) for name, _, required in advert.properties] == [
        ("intent", True), ("rationale", True), ("ticket", True),
    ]  # fmt: skip


def test_a_policy_that_breaks_meanwhile_denies_until_it_is_mended(workspace: Path) -> None:
    policy(workspace, BASE)
    judging = Judging(str(workspace), point="pi")
    good = call("write", path="a", content="x", **WHY)
    policy(workspace, "version: 1\ntools: [\n")
    judging.reload()
    assert rules(judging, good) == ["policy/broken"]
    assert judging.broken[0].startswith(".tool-intent/policy.yaml:")
    policy(workspace, BASE)
    judging.reload()
    assert rules(judging, good) == []


def test_fields_of_every_entry_ever_advertised_are_stripped(workspace: Path) -> None:
    policy(workspace, TICKET)
    judging = Judging(str(workspace), point="pi")
    judging.extend({"name": "bash", "inputSchema": {"type": "object"}})
    policy(workspace, TICKET.replace("write:", "bash:"))
    judging.reload()
    judging.extend({"name": "bash", "inputSchema": {"type": "object"}})
    policy(workspace, TICKET)
    judging.reload()
    strip = judging.decide(call("bash", command="ls", ticket="T-1", **WHY)).strip
    assert set(strip) == {("ticket",), ("intent",), ("rationale",)}


def test_fields_are_found_in_entries_and_the_tools_own_arguments_are_left(workspace: Path) -> None:
    policy(workspace, BASE)
    judging = Judging(str(workspace), point="pi")
    edits = [{"oldText": "a", "newText": "b"} | WHY, {"oldText": "c"} | WHY]
    strip = judging.decide(call("edit", path="a", edits=edits)).strip
    assert strip == tuple(("edits", n, name) for n in (0, 1) for name in ("intent", "rationale"))
    own = {"type": "object", "properties": {"intent": {"type": "string"}}}
    plan = judging.extend({"name": "bash", "inputSchema": own})
    assert plan.not_advertised == (("", "the tool defines `intent` itself"),)
    assert rules(judging, call("bash", command="ls", **WHY)) == ["fields/collision"]


@pytest.mark.parametrize(("how", "strip"), [("prefix", (("ti_intent",),)), ("reuse", ())])
def test_a_tool_s_own_argument_is_left_whatever_carries_the_reason(
    how: str, strip: Any, workspace: Path
) -> None:
    policy(workspace, f"version: 1\ncollision: {how}\ntools: {{bash: {{require: [intent]}}}}\n")
    judging = Judging(str(workspace), point="pi")
    judging.extend({"name": "bash", "inputSchema": {"type": "object"}})
    own = {"type": "object", "properties": {"intent": {"type": "string"}}}
    plan = judging.extend({"name": "bash", "inputSchema": own})
    assert plan.not_advertised == ()
    said = call("bash", command="ls", intent="own", ti_intent="why")
    assert judging.decide(said).strip == strip
    assert judging.decide(said).decision == "allow"


def test_refusals_in_a_row_are_counted_by_tool_and_session(workspace: Path) -> None:
    policy(workspace, BASE + "max_retries: 2\n")
    judging = Judging(str(workspace), point="pi")
    bare, good = call("bash", command="ls"), call("bash", command="ls", **WHY)
    assert [judging.decide(c).stop for c in (bare, good, bare)] == [False, False, False]
    assert not judging.decide(bare._replace(session="another")).stop
    assert not judging.decide(call("read", path="a")).stop
    stopped = judging.decide(bare)
    assert stopped.stop
    assert stopped.message is not None
    assert "This is refusal 2 of bash in a row. Do not send it again" in stopped.message
    assert "This is refusal 3 of bash in a row" in str(judging.refused("s", "bash"))
    assert judging.decide(bare).decision == "deny", "repetition weakens nothing"


def test_what_the_host_or_a_person_refuses_counts_too(workspace: Path) -> None:
    asks = 'rules: |\n  rule a/b on bash\n    ask "Really?"\n'
    policy(workspace, BASE + "max_retries: 2\n" + asks)
    judging = Judging(str(workspace), point="pi")
    asked, good = call("bash", command="ls", **WHY), call("write", path="a", **WHY)
    for expected in (None, "refusal 2 of bash"):
        assert judging.decide(asked).decision == "ask"
        assert (expected or "None") in str(judging.refused("s", "bash"))
    judging.decide(asked)
    judging.outcome("s", "c", ok=True)
    assert judging.refused("s", "bash") is None, "a person said yes: the row has ended"
    for expected in (None, "refusal 2 of write"):
        assert judging.decide(good, invalid=True).decision == "allow"
        assert (expected or "None") in str(judging.refused("s", "write"))
    judging.decide(good)
    assert judging.refused("s", "write") is None, "a call that passed ends the row"


def test_the_smallest_number_of_refusals_that_any_policy_says_holds(workspace: Path) -> None:
    policy(workspace, BASE + "max_retries: 4\n")
    judging = Judging(str(workspace), point="pi")
    policy(workspace, BASE + "max_retries: 2\n")
    assert judging.reload().max_retries == 2


def test_a_rule_has_the_effect_that_it_has_at_the_point_of_the_surface(workspace: Path) -> None:
    rule = BASE + 'rules: |\n  rule a/b on bash\n    deny "No."\nadjust: {a/b: {at: {pi: note}}}\n'
    policy(workspace, rule)
    good = call("bash", command="ls", **WHY)
    judging = Judging(str(workspace), point="pi")
    assert judging.decide(good).decision == "allow"
    assert Judging(str(workspace), point="python").decide(good).decision == "deny"
    follows = Judging(str(workspace), held=judging.state.kept, point="pi")
    assert follows.decide(good).decision == "allow"
    policy(workspace, rule.replace("std/baseline", "std/strict"))
    both = Judging(str(workspace), held=judging.state.kept, point="pi")
    assert len(both.state.policies) == 2
    assert both.decide(good).decision == "allow"


def test_only_a_call_that_may_run_now_uses_up_a_waiver(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "folder", lambda: str(workspace.parent / "uses"))
    waiver = "{id: W, rule: fields/missing, owner: a, reason: b, expires: 2999-01-01, max_uses: 1}"
    policy(workspace, f"{BASE}waivers:\n  - {waiver}\n")
    judging = Judging(str(workspace), point="pi")
    bare = call("bash", command="ls")
    looked = [judging.decide(bare, again=True), judging.decide(bare, invalid=True)]
    assert [judged.decision for judged in looked] == ["allow", "allow"]
    assert [judging.decide(bare).decision for _ in range(2)] == ["allow", "deny"]


def test_a_workspace_whose_policy_went_is_not_taken_for_one_that_never_had_any(
    workspace: Path,
) -> None:
    policy(workspace, BASE)
    Judging(str(workspace), point="pi")
    shutil.rmtree(workspace / ".tool-intent")
    later = Judging(str(workspace), point="pi")
    assert "policy/missing" in rules(later, call("bash", command="ls", **WHY))


def test_a_call_passed_once_its_outcome_is_told_and_not_before(workspace: Path) -> None:
    policy(workspace, LOOKS_BACK)
    judging = Judging(str(workspace), point="pi")
    edit = call("edit", path="a", edits=[{"oldText": "x", "newText": "y"} | WHY])
    judging.decide(call("read", "r1", path="a", **WHY))
    assert rules(judging, edit) == ["history/read-first"]
    judging.outcome("s", "r1", ok=False)
    assert rules(judging, edit) == ["history/read-first"]
    judging.decide(call("read", "r2", path="a", **WHY))
    judging.outcome("s", "r2", ok=True)
    assert rules(judging, edit) == []


@pytest.mark.parametrize(
    ("ok", "found"), [(True, []), (False, ["deploys/after"]), (None, ["deploys/after"])]
)
def test_a_call_that_a_person_approved_counts_by_what_came_of_it(
    ok: bool | None, found: list[str], workspace: Path
) -> None:
    rules_ = (
        "rules: |\n"
        '  rule deploys/ask on bash\n    ask "This goes to customers."\n'
        "  rule deploys/after on read\n    require earlier bash passed within 9 calls\n"
    )
    policy(workspace, BASE + rules_)
    judging = Judging(str(workspace), point="pi")
    assert judging.decide(call("bash", "b1", command="deploy", **WHY)).decision == "ask"
    if ok is not None:
        judging.outcome("s", "b1", ok=ok)
    assert rules(judging, call("read", path="a", **WHY)) == found


def test_a_process_that_follows_another_judges_by_the_policy_that_one_began_with(
    workspace: Path,
) -> None:
    policy(workspace, BASE)
    before = Judging(str(workspace), point="pi").state
    policy(workspace, FREE)
    judging = Judging(str(workspace), point="pi", held=before.kept)
    assert judging.state.policies[0] == before.policies[0]
    assert len(judging.state.policies) == 2
    assert judging.decide(call("write", path="a", content="x")).decision == "deny"


def test_a_process_that_cannot_have_that_policy_judges_nothing(workspace: Path) -> None:
    policy(workspace, BASE)
    state = Judging(str(workspace), point="pi").state
    policy(workspace, FREE)
    shutil.rmtree(Path.home() / ".cache" / "tool-intent")
    with pytest.raises(Unavailable, match="start a new session"):
        Judging(str(workspace), point="pi", held=state.kept)
    with pytest.raises(Unavailable):
        Judging(str(workspace), point="pi", held=["../../elsewhere"])


def test_an_engine_within_the_workspace_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tool_intent.surfaces import judging

    inside = tmp_path / "repo" / ".venv" / "tool_intent" / "surfaces" / "judging.py"
    monkeypatch.setattr(judging, "__file__", str(inside))
    with pytest.raises(Unavailable, match="inside the workspace"):
        Judging(str(tmp_path / "repo"), point="pi")


def test_a_source_that_is_asked_for_and_not_there_is_an_error_or_denies(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_INTENT_POLICY", "nowhere.yaml")
    try:
        judging = Judging(str(workspace), point="pi")
    except PolicyError:
        return
    assert judging.decide(call("bash", command="ls", **WHY)).decision == "deny"


def test_history_is_taken_in_when_the_engine_starts_which_may_take_longer_than_a_decision(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_INTENT_LEDGER", str(tmp_path / "ledger"))
    policy(workspace, LOOKS_BACK)
    here = str(workspace)
    judging = Judging(here, point="pi", recorder=ledger("pi", here))
    judging.decide(call("read", path="a", **WHY))
    judging.outcome("s", "c", True)
    held = judging.stretch("s")
    assert held is not None
    judging = Judging(here, point="pi", recorder=ledger("pi", here), earlier={"s": [held]})
    shutil.rmtree(tmp_path / "ledger")
    edits = [{"oldText": "x", "newText": "y", **WHY}]
    assert judging.decide(call("edit", path="a", edits=edits, **WHY)).decision == "allow"
