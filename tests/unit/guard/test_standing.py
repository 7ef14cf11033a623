"""A guard keeps the policy it began with; what changes on disk only adds."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tool_intent import Denied, Guard
from tool_intent.guard import standing

REASONED = {"intent": "Pay it.", "ticket": "PAY-7"}
BEGIN = """\
version: 1
policy: acme/begin
fields: {ticket: {pattern: '^PAY-'}}
tools:
  pay: {require: [ticket], optional: [intent]}
  ask: {require: [ticket], effect: ask}
"""


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose policy is looked at before every call."""
    for name in ("INTERVAL", "RETRY"):
        monkeypatch.setattr(standing, name, 0.0)
    put(tmp_path / "repo", "policy.yaml", BEGIN)
    return tmp_path / "repo"


def put(repo: Path, name: str, text: str) -> Path:
    path = repo / ".tool-intent" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def load(repo: Path, *sources: str) -> Guard:
    return Guard.load(*sources, cwd=str(repo))


def rules(guard: Guard, tool: str = "pay", **args: Any) -> list[tuple[str, str]]:
    return [(f.rule, f.effect) for f in guard.check(tool, args).findings]


def test_a_relaxed_policy_lets_nothing_through_in_the_session_and_counts_in_the_next(
    repo: Path,
) -> None:
    guard = load(repo)
    put(
        repo,
        "policy.yaml",
        BEGIN.replace("require: [ticket], optional: [intent]", "optional: [ticket]"),
    )
    assert rules(guard) == [("fields/missing", "deny")]
    assert rules(load(repo)) == []


def test_a_stricter_policy_is_added_with_its_own_findings(repo: Path) -> None:
    guard = load(repo)
    put(repo, "policy.yaml", BEGIN.replace("optional: [intent]", "optional: [rationale]"))
    put(repo, "more.rules", "rule a/b on pay\n  require has rationale\n")
    decision = guard.check("pay", {})
    assert [(f.rule, f.at) for f in decision.findings] == [
        ("a/b", "/rationale"), ("fields/missing", "/ticket"),
    ]  # fmt: skip
    assert guard.check("pay", REASONED | {"rationale": "It is due."}).allowed


def test_of_two_effects_for_one_finding_the_stronger_stands_once(repo: Path) -> None:
    guard = load(repo)
    put(repo, "policy.yaml", BEGIN.replace("effect: ask", "effect: deny"))
    assert rules(guard, "ask") == [("fields/missing", "deny")]
    put(repo, "policy.yaml", BEGIN.replace("effect: ask", "effect: note"))
    assert rules(guard, "ask") == [("fields/missing", "ask")]


def test_what_was_tightened_and_taken_back_is_no_longer_asked_but_still_stripped(
    repo: Path,
) -> None:
    guard = load(repo)
    put(repo, "policy.yaml", BEGIN + "  send: {require: [intent]}\n")
    assert rules(guard, "send") == [("fields/missing", "deny")]
    put(repo, "policy.yaml", BEGIN)
    decision = guard.check("send", {"to": "a", "intent": "Tell them."})
    assert (decision.allowed, decision.args) == (True, {"to": "a"})
    assert guard.strip("send", {"to": "a", "intent": "Tell them."}) == {"to": "a"}
    assert decision.provenance == ({"at": "", "intent": "Tell them."},)


def test_fields_of_both_policies_are_stripped_and_advertised(repo: Path) -> None:
    guard = load(repo)
    put(repo, "policy.yaml", "version: 1\ntools:\n  pay: {optional: [rationale]}\n")
    tool = {"name": "pay", "inputSchema": {"type": "object", "properties": {"amount": {}}}}
    schema = guard.extend(tool)["inputSchema"]
    assert (list(schema["properties"]), schema["required"]) == (
        ["ticket", "intent", "rationale", "amount"], ["ticket"],
    )  # fmt: skip
    given = {"amount": 1, "ticket": "PAY-1", "rationale": "It is due."}
    assert guard.call("pay", given, lambda args: args) == {"amount": 1}
    assert guard.strip("pay", given) == {"amount": 1}


def test_a_later_policy_cannot_have_an_argument_of_the_tool_taken_away(repo: Path) -> None:
    guard = load(repo)
    schema = {"type": "object", "properties": {"rationale": {"type": "string"}}}
    guard.extend({"name": "pay", "inputSchema": schema})
    assert guard.call("pay", {"ticket": "PAY-1", "rationale": "x"}, dict) == {"rationale": "x"}
    put(repo, "policy.yaml", BEGIN.replace("[intent]", "[intent, rationale]"))
    decision = guard.check("pay", {"ticket": "PAY-1", "rationale": "x"})
    assert [f.rule for f in decision.findings] == ["fields/collision"]
    assert decision.args == {"rationale": "x"}


def test_a_broken_version_replaces_nothing_denies_and_names_the_line_until_it_is_mended(
    repo: Path,
) -> None:
    guard = load(repo)
    put(repo, "policy.yaml", BEGIN + "  send: {require: [intent]}\n")
    assert rules(guard, "send") == [("fields/missing", "deny")]
    put(repo, "policy.yaml", BEGIN + "  send: {requires: [intent]}\n")
    decision = guard.check("send", {})
    assert [f.rule for f in decision.findings] == ["fields/missing", "policy/broken"] or [
        f.rule for f in decision.findings
    ] == ["policy/broken", "fields/missing"]
    (broken,) = [f for f in decision.findings if f.rule == "policy/broken"]
    assert str(broken.origin) == ".tool-intent/policy.yaml:7"
    assert "line 7" in (decision.message or "")
    assert decision.args == {}
    put(repo, "policy.yaml", BEGIN)
    assert rules(guard, "send") == []


@pytest.mark.parametrize("how", ["file", "folder"])
def test_a_policy_that_is_deleted_still_stands_and_is_missed(how: str, repo: Path) -> None:
    guard = load(repo)
    if how == "file":
        (repo / ".tool-intent" / "policy.yaml").unlink()
    else:
        shutil.rmtree(repo / ".tool-intent")
    assert {("policy/missing", "deny"), ("fields/missing", "deny")} == set(rules(guard))
    message = guard.check("pay", REASONED).message or ""
    assert ".tool-intent/policy.yaml has gone" in message
    assert f"{repo} had a policy and has none now" in message
    put(repo, "policy.yaml", BEGIN)
    assert rules(guard, **REASONED) == []


@pytest.mark.parametrize("name", ["more.rules", "words.txt", "more.yaml"])
def test_each_source_that_goes_is_missed(name: str, repo: Path) -> None:
    text = BEGIN + 'extends: ./more.yaml\nrules: |\n  words w from "words.txt"\n'
    text += "  rule a/b on pay\n    forbid intent mentions w\n"
    put(repo, "policy.yaml", text)
    put(repo, "more.yaml", "version: 1\ntools: {send: {require: [intent]}}\n")
    put(repo, "more.rules", 'rule c/d on pay\n  forbid intent mentions "never"\n')
    put(repo, "words.txt", "whatever\n")
    guard = load(repo)
    assert rules(guard, **REASONED) == []
    (repo / ".tool-intent" / name).unlink()
    found = guard.check("pay", REASONED).findings
    assert ("policy/missing", "deny") in [(f.rule, f.effect) for f in found]
    assert any(name in f.message for f in found if f.rule == "policy/missing")
    assert ("a/b", "deny") in rules(guard, **REASONED | {"intent": "Whatever."})
    assert ("c/d", "deny") in rules(guard, **REASONED | {"intent": "Never mind."})


def test_a_policy_that_appears_is_added(repo: Path) -> None:
    guard = load(repo)
    assert rules(guard, **REASONED) == []
    put(repo, "more.rules", 'rule c/d on pay\n  forbid intent mentions "Pay"\n')
    assert rules(guard, **REASONED) == [("c/d", "deny")]


def test_a_policy_of_a_folder_above_is_added_when_it_appears(repo: Path) -> None:
    guard = load(repo)
    put(repo.parent, "policy.yaml", "version: 1\ntools: {pay: {require: [rationale]}}\n")
    assert rules(guard, **REASONED) == [("fields/missing", "deny")]


@pytest.mark.parametrize("what", ["folder", "fifo", "link to nothing", "link out", "empty"])
def test_a_policy_that_is_replaced_by_something_else_denies(what: str, repo: Path) -> None:
    guard = load(repo)
    path = repo / ".tool-intent" / "policy.yaml"
    path.unlink()
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "empty":
        path.write_text("")
    else:
        secret = repo.parent / "secret"
        if what == "link out":
            secret.write_text(BEGIN)
        path.symlink_to(secret)
    assert ("policy/broken", "deny") in rules(guard, **REASONED)
    assert ("fields/missing", "deny") in rules(guard)


def test_an_edit_that_keeps_size_and_time_of_modification_is_noticed(repo: Path) -> None:
    guard = load(repo)
    assert rules(guard, ticket="PAY-1") == []
    path = repo / ".tool-intent" / "policy.yaml"
    was = path.stat()
    path.write_text(BEGIN.replace("PAY-", "ABC-"))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert rules(guard, ticket="PAY-1") == [("fields/pattern", "deny")]


def test_a_touched_file_is_no_change(repo: Path) -> None:
    guard = load(repo)
    digest = guard.policy
    os.utime(repo / ".tool-intent" / "policy.yaml")
    assert guard.check("pay", REASONED).policy == digest
    assert guard._standing.newest is guard._standing.begin


def test_a_decision_of_two_policies_names_neither_alone(repo: Path) -> None:
    guard = load(repo)
    first = guard.policy
    put(repo, "policy.yaml", BEGIN + "  send: {require: [intent]}\n")
    both = guard.check("pay", REASONED).policy
    assert both == guard.policy != first != load(repo).policy != both
    put(repo, "policy.yaml", BEGIN)
    assert guard.check("pay", REASONED).policy == first


def test_a_policy_that_was_broken_at_the_start_denies_to_the_end_of_the_session(
    repo: Path,
) -> None:
    put(repo, "policy.yaml", "version: 1\ntool: {}\n")
    guard = load(repo)
    assert rules(guard, **REASONED) == [("policy/broken", "deny")]
    put(repo, "policy.yaml", BEGIN)
    assert rules(guard, **REASONED) == [("policy/broken", "deny")]
    assert "it can by now" in (guard.check("pay", REASONED).message or "")
    assert rules(load(repo), **REASONED) == []


def test_files_named_to_load_are_watched_too(repo: Path, tmp_path: Path) -> None:
    named = tmp_path / "named.yaml"
    named.write_text("version: 1\ntools: {pay: {require: [intent]}}\n")
    guard = load(repo, str(named))
    assert rules(guard, **REASONED) == []
    named.write_text("version: 1\ntools: {pay: {require: [rationale]}}\n")
    assert rules(guard, **REASONED) == [("fields/missing", "deny")]
    named.unlink()
    assert ("policy/missing", "deny") in rules(guard, **REASONED)
    assert rules(guard, ticket="PAY-1").count(("fields/missing", "deny")) == 2


HISTORY = """\
version: 1
rules: |
  rule history/read-first on edit
    require earlier read passed within 10 calls else deny "Read first."
"""


def test_what_the_newest_policy_refuses_did_not_pass_for_the_first(repo: Path) -> None:
    put(repo, "policy.yaml", HISTORY)
    guard = load(repo)
    put(repo, "policy.yaml", "version: 1\ntools: {read: {require: [intent]}}\n")
    assert rules(guard, "read") == [("fields/missing", "deny")]
    assert rules(guard, "edit") == [("history/read-first", "deny")]
    assert rules(guard, "read", intent="See what is there.") == []
    assert rules(guard, "edit") == []


def test_a_change_does_not_make_the_session_forget(repo: Path) -> None:
    put(repo, "policy.yaml", HISTORY.replace("require earlier read passed", "forbid earlier rm"))
    guard = load(repo)
    assert rules(guard, "rm") == []
    assert rules(guard, "edit") == [("history/read-first", "deny")]
    put(repo, "policy.yaml", BEGIN)
    assert rules(guard, "edit") == [("history/read-first", "deny")]


def test_a_call_that_was_running_when_the_policy_changed_counts_as_what_it_came_to(
    repo: Path,
) -> None:
    put(repo, "policy.yaml", HISTORY)
    guard = load(repo)
    changed = HISTORY + "tools: {x: {require: [intent]}}\n"
    guard.call("read", {}, lambda _: put(repo, "policy.yaml", changed))
    with pytest.raises(Denied):  # the newest policy has not seen the read
        guard.call("edit", {}, dict)
    with pytest.raises(ZeroDivisionError):
        guard.call("read", {}, lambda _: 1 // 0)
    assert rules(guard, "edit") == [("history/read-first", "deny")]
    guard.call("read", {}, dict)
    assert rules(guard, "edit") == []


def test_nothing_is_looked_at_between_two_looks(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing, "INTERVAL", 3600.0)
    guard = load(repo)
    looked: list[Callable[..., Any]] = []
    monkeypatch.setattr(standing, "find", looked.append)
    put(repo, "policy.yaml", BEGIN + "  send: {require: [intent]}\n")
    assert rules(guard, "send") == []
    assert looked == []


def test_a_failure_while_looking_denies_and_does_not_raise(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = load(repo)

    def fails(_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(standing, "find", fails)
        assert rules(guard, **REASONED) == [("policy/broken", "deny")]
    assert rules(guard, **REASONED) == []


def test_threads_that_judge_while_the_policy_changes_never_see_less_than_the_first(
    repo: Path,
) -> None:
    guard = load(repo)
    weaker: list[object] = []
    done = threading.Event()

    def judge() -> None:
        while not done.is_set():
            decision = guard.check("pay", {"amount": 1})
            if decision.allowed or decision.args != {"amount": 1}:
                weaker.append(decision)

    threads = [threading.Thread(target=judge) for _ in range(3)]
    for thread in threads:
        thread.start()
    path = repo / ".tool-intent" / "policy.yaml"
    for _ in range(10):
        put(repo, "policy.yaml", "version: 1\ntools: {pay: {optional: [intent]}}\n")
        put(repo, "policy.yaml", "version: 1\ntool")
        path.unlink()
        put(repo, "policy.yaml", BEGIN)
    done.set()
    for thread in threads:
        thread.join()
    assert weaker == []
