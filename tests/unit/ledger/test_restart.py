"""History after a restart: from the ledger, as far as what the guard held vouches for it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tool_intent import Denied, Guard
from tool_intent.guard.recording import ledger
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.reading import records
from tool_intent.ledger.recorder import NullRecorder
from tool_intent.runtime.history import SessionHistory
from tool_intent.runtime.paths import Place
from tool_intent.runtime.session import forgotten_of
from tool_intent.runtime.state import State

WHY: Final = {"intent": "Refuse expired sessions", "rationale": "#412: login() checks too late."}
POLICY: Final = """\
version: 1
extends: std/baseline
rules: |
  rule history/read-before-edit on edit
    require earlier @read passed where path == this.path within 200 calls
    else deny "Read {path} before editing it."
  rule history/deploys on @exec
    when command runs "deploy"
    forbid count(earlier @exec tried where command runs "deploy" within 200 calls) >= 2
    else deny "That was deployed twice."
  rule history/why on write
    forbid earlier write tried where intent == this.intent within 1h
    else deny "The same reason was given before."
"""


class Host:
    """A host that is started again and again in one repository; `session` is that of its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / ".tool-intent").mkdir(parents=True)
        self.policy(POLICY)
        subprocess.run(["git", "init", "-q", folder], check=True)
        self.ledger = folder / ".git" / "tool-intent"
        self.guard = Guard.load(cwd=str(folder))
        self.held: str | None = None

    def policy(self, text: str) -> None:
        (self.folder / ".tool-intent" / "policy.yaml").write_text(text)

    def call(self, tool: str, session: str = "s", ok: bool = True, **args: Any) -> list[str]:
        """The rules that refuse a call; none where it ran."""

        def execute(_: object) -> None:
            if not ok:
                raise RuntimeError

        context = args.pop("context", None)
        try:
            self.guard.call(tool, WHY | args, execute, session=session, context=context)
        except RuntimeError:
            return []
        except Denied as denied:
            return [f"{f.rule}: {f.message}" for f in denied.decision.findings]
        return []

    def restart(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        self.held = self.guard.held("s")
        meanwhile()
        assert self.held is not None
        self.guard = Guard.load(cwd=str(self.folder), held={"s": self.held})

    @property
    def segment(self) -> Path:
        (found,) = self.ledger.glob("ledger-*.jsonl")
        return found


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.delenv("TOOL_INTENT_LEDGER", raising=False)
    return Host(tmp_path / "payments")


READ_FIRST: Final = "history/read-before-edit: Read a.py before editing it."
EDIT: Final = {"path": "a.py", "edits": [WHY | {"oldText": "a", "newText": "b"}]}


def test_without_what_was_held_a_session_begins_anew(host: Host) -> None:
    host.call("read", path="a.py")
    assert host.call("edit", **EDIT) == []
    host.guard = Guard.load(cwd=str(host.folder))
    assert host.call("edit", **EDIT) == [READ_FIRST]


def test_a_session_goes_on_with_what_it_did_before(host: Host) -> None:
    host.call("read", path="a.py")
    host.call("bash", command="deploy it")
    host.call("write", path="b", content="x", intent="Say why")
    host.restart()
    assert host.call("edit", **EDIT) == []
    assert host.call("bash", command="deploy it") == []
    assert host.call("bash", command="deploy it") == ["history/deploys: That was deployed twice."]
    same = host.call("write", path="b", content="x", intent="Say why")
    assert same == ["history/why: The same reason was given before."]
    assert host.call("write", path="b", content="x", intent="Say another") == []


def test_what_was_held_goes_over_any_number_of_restarts(host: Host) -> None:
    host.call("read", path="a.py")
    host.restart()
    host.call("bash", command="deploy it")
    host.restart()
    host.call("bash", command="deploy it")
    host.restart()
    assert host.call("edit", **EDIT) == []
    assert host.call("bash", command="deploy it") == ["history/deploys: That was deployed twice."]


def test_a_call_counts_by_what_came_of_it(host: Host) -> None:
    host.call("read", ok=False, path="a.py")
    host.restart()
    assert host.call("edit", **EDIT) == [READ_FIRST]


def test_what_nobody_said_the_outcome_of_may_have_passed_or_not(host: Host) -> None:
    host.guard.admit("read", WHY | {"path": "a.py"}, session="s")
    host.restart()
    (said,) = host.call("edit", **EDIT)
    assert said.startswith("history/read-before-edit: ")
    assert "could not be told" in said


def test_calls_of_other_sessions_do_not_count(host: Host) -> None:
    host.call("read", session="other", path="a.py")
    host.call("read", path="b.py")
    host.restart()
    assert host.call("edit", **EDIT) == [READ_FIRST]


def test_a_call_of_which_not_all_was_kept_may_be_one_that_is_meant(host: Host) -> None:
    by_offset = POLICY.replace("where path", "where has args.offset and args.offset == 1 and path")
    host.policy(by_offset)
    host.guard = Guard.load(cwd=str(host.folder))
    host.call("read", path="a.py", offset=1)
    host.restart()
    (said,) = host.call("edit", **EDIT)
    assert "could not be told" in said
    host.policy(by_offset + "ledger: {keep: [offset]}\n")
    host.guard = Guard.load(cwd=str(host.folder))
    host.call("read", path="a.py", offset=1)
    host.restart()
    assert host.call("edit", **EDIT) == []


def test_a_credential_that_was_left_out_makes_a_reason_unknown(host: Host) -> None:
    secret = "ghp_" + "a1B2" * 9
    host.call("write", path="b", content="x", intent=f"Use {secret}")
    host.restart()
    (said,) = host.call("write", path="b", content="x", intent="Something else")
    assert said.startswith("history/why: ")
    assert "could not be told" in said


def test_a_sub_agent_shares_the_history_of_its_session(host: Host) -> None:
    host.call("read", path="a.py")
    sub = {"parent": "s"}
    assert host.call("edit", session="s/1", context=sub, **EDIT) == []
    host.call("bash", session="s/1", context=sub, command="deploy it")
    host.call("bash", session="s/1/1", context={"parent": "s/1"}, command="deploy it")
    twice = ["history/deploys: That was deployed twice."]
    assert host.call("bash", command="deploy it") == twice
    host.restart()
    assert host.call("bash", command="deploy it") == twice
    assert host.call("edit", session="s/2", context=sub, **EDIT) == []
    assert host.call("edit", session="t", **EDIT) == [READ_FIRST]


def forged(host: Host) -> None:
    """What an agent that can write to the ledger can add to it: a sound record of a call."""
    recorder = ledger("python", str(host.folder))
    guard = Guard.load(cwd=str(host.folder), recorder=recorder)
    guard.call("read", WHY | {"path": "a.py"}, lambda _: None, session="s")


def cut(host: Host) -> None:
    whole = host.segment.read_bytes().splitlines(keepends=True)
    host.segment.write_bytes(b"".join(whole[:-1]))


def changed(host: Host) -> None:
    host.segment.write_bytes(host.segment.read_bytes().replace(b"b.py", b"a.py"))


def removed(host: Host) -> None:
    host.segment.unlink()


def rewritten(host: Host) -> None:
    """The whole chain anew, with other records in it."""
    told = list(records(str(host.ledger)))
    host.segment.unlink()
    appender = Appender(str(host.ledger))
    frame = ("v", "type", "seq", "id", "ts", "prev", "hash")
    for record in told[1:]:
        body = {k: v for k, v in record.items() if k not in frame}
        appender.append(record["type"], json.loads(json.dumps(body).replace("b.py", "a.py")))


@pytest.mark.parametrize("attack", [cut, changed, removed, rewritten])
def test_a_ledger_that_is_not_what_it_was_makes_history_unknown(
    host: Host, attack: Callable[[Host], None]
) -> None:
    host.call("read", path="b.py")
    host.restart(lambda: attack(host))
    (said,) = host.call("edit", **EDIT)
    assert said.startswith("history/read-before-edit: ")
    assert "could not be told" in said
    (said,) = host.call("bash", command="deploy it")
    assert said.startswith("history/deploys: ")
    assert "could not be told" in said
    # What is done from now on is known.
    host.call("read", path="a.py")
    assert host.call("edit", **EDIT) == []


def test_records_that_were_added_behind_the_head_make_history_unknown(host: Host) -> None:
    host.call("read", path="b.py")
    host.restart(lambda: forged(host))
    (said,) = host.call("edit", **EDIT)
    assert "could not be told" in said


def test_records_that_were_added_before_the_head_make_history_unknown(host: Host) -> None:
    host.call("read", path="b.py")
    forged(host)
    host.call("read", path="c.py")
    host.restart()
    (said,) = host.call("edit", **EDIT)
    assert "could not be told" in said


def test_a_call_that_could_not_be_recorded_makes_history_unknown(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.call("read", path="b.py")
    with monkeypatch.context() as broken:
        broken.setattr(os, "write", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        host.call("bash", command="deploy it")
    host.restart()
    (said,) = host.call("bash", command="deploy it")
    assert "could not be told" in said


def test_another_policy_knows_what_the_arguments_tell_and_no_fields_that_were_not_said(
    host: Host,
) -> None:
    host.call("read", path="a.py")
    host.call("write", path="b", content="x")
    host.policy(
        POLICY.replace("== this.intent", '== "" or has ticket')
        + "fields: {ticket: {pattern: '^A-'}}\n"
    )
    host.restart()
    assert host.call("edit", **EDIT) == []
    (said,) = host.call("write", path="b", content="x", intent="Say another")
    assert "could not be told" in said


def test_calls_after_what_was_held_last_make_history_unknown(host: Host) -> None:
    host.call("bash", command="deploy it")
    host.restart(lambda: host.call("bash", command="deploy it"))
    (said,) = host.call("bash", command="deploy it")
    assert "could not be told" in said


def test_calls_between_what_two_processes_held_make_history_unknown(host: Host) -> None:
    host.call("bash", command="deploy it")
    first = host.guard.held("s")
    host.call("bash", command="deploy it")  # and then it died, before anybody held that
    host.guard = Guard.load(cwd=str(host.folder))
    host.call("read", path="b.py")
    second = host.guard.held("s")
    assert first is not None
    assert second is not None
    both = json.dumps([*json.loads(first), *json.loads(second)])
    host.guard = Guard.load(cwd=str(host.folder), held={"s": both})
    (said,) = host.call("bash", command="deploy it")
    assert "could not be told" in said


def test_a_record_that_was_taken_away_between_two_stretches_makes_history_unknown(
    host: Host,
) -> None:
    host.call("read", path="b.py")
    host.restart()
    host.call("bash", session="other", command="deploy it")
    host.call("read", path="c.py")
    whole = host.segment.read_bytes().splitlines(keepends=True)
    host.restart(lambda: host.segment.write_bytes(b"".join(whole[:3] + whole[4:])))
    (said,) = host.call("edit", **EDIT)
    assert "could not be told" in said


def test_what_went_before_counts_for_a_session_that_branched_off_it(host: Host) -> None:
    host.call("read", path="a.py")
    held = host.guard.held("s")
    assert held is not None
    host.call("bash", command="deploy it")
    host.call("bash", command="deploy it")
    host.guard = Guard.load(cwd=str(host.folder), held={"fork": held})
    assert host.call("edit", session="fork", **EDIT) == []
    assert host.call("bash", session="fork", command="deploy it") == []


def test_calls_while_the_ledger_was_off_make_history_unknown(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.call("read", path="b.py")
    monkeypatch.setenv("TOOL_INTENT_LEDGER", "off")
    host.restart()
    host.call("bash", command="deploy it")
    host.call("bash", command="deploy it")
    host.held = host.guard.held("s")
    monkeypatch.delenv("TOOL_INTENT_LEDGER")
    assert host.held is not None
    host.guard = Guard.load(cwd=str(host.folder), held={"s": host.held})
    (said,) = host.call("bash", command="deploy it")
    assert "could not be told" in said


def test_calls_that_go_into_no_ledger_make_history_unknown(host: Host) -> None:
    host.guard = Guard.load(cwd=str(host.folder), recorder=NullRecorder())
    host.call("bash", command="deploy it")
    host.call("bash", command="deploy it")
    host.restart()
    (said,) = host.call("bash", command="deploy it")
    assert "could not be told" in said


def test_a_session_without_a_name_has_no_parent(host: Host) -> None:
    host.call("read", path="b.py")
    host.guard.call("read", WHY | {"path": "a.py"}, lambda _: None, context={"parent": "s"})
    host.restart()
    assert host.call("edit", **EDIT) == [READ_FIRST]


def test_a_session_whose_first_call_names_no_parent_stays_its_own(host: Host) -> None:
    host.call("read", path="b.py")
    host.call("read", session="t", path="b.py")
    host.call("read", session="t", context={"parent": "s"}, path="a.py")
    held = {name: host.guard.held(name) or "" for name in "st"}
    host.guard = Guard.load(cwd=str(host.folder), held=held)
    assert host.call("edit", session="t", **EDIT) == []
    assert host.call("edit", **EDIT) != []


def test_what_a_session_with_an_empty_name_did_before_is_unknown(host: Host) -> None:
    host.call("bash", session="", command="deploy it")
    held = host.guard.held("")
    assert held is not None
    host.guard = Guard.load(cwd=str(host.folder), held={"": held})
    (said,) = host.call("bash", session="", command="deploy it")
    assert "could not be told" in said


def test_a_sub_agent_shares_the_history_of_its_session_though_it_names_it_no_more(
    host: Host,
) -> None:
    host.call("read", path="b.py")
    host.call("bash", session="s/1", context={"parent": "s"}, command="deploy it")
    host.restart()
    assert host.call("bash", session="s/1", command="deploy it") == []
    twice = ["history/deploys: That was deployed twice."]
    assert host.call("bash", command="deploy it") == twice
    host.restart()
    assert host.call("bash", command="deploy it") == twice
    assert host.call("bash", session="new", command="deploy it") == []


def test_a_sub_agent_of_a_session_whose_records_were_forged_knows_as_little(host: Host) -> None:
    host.call("bash", command="deploy it")
    host.call("bash", session="s/1", context={"parent": "s"}, command="deploy it")
    forged(host)
    host.call("read", path="b.py")
    host.restart()
    (said,) = host.call("bash", session="s/1/1", context={"parent": "s/1"}, command="deploy it")
    assert "could not be told" in said


def test_a_session_that_had_its_own_history_keeps_it(host: Host) -> None:
    """In the process before, a sub-agent of it came first; now it says itself whose it is."""
    twice = ["history/deploys: That was deployed twice."]
    host.call("read", path="b.py")
    host.call("bash", session="s/1/1", context={"parent": "s/1"}, command="deploy it")
    host.call("bash", session="s/1", context={"parent": "s"}, command="deploy it")
    for _ in range(2):
        held = {name: host.guard.held(name) or "" for name in ("s", "s/1")}
        host.guard = Guard.load(cwd=str(host.folder), held=held)
        assert (
            host.call("bash", session="s/1", context={"parent": "s"}, command="deploy it") == twice
        )
    assert host.call("bash", command="deploy it") == []


@pytest.mark.parametrize("cwd", ["sub", ""])
def test_a_path_that_started_nobody_knows_where_is_unknown_of_earlier_calls(
    host: Host, cwd: str
) -> None:
    host.call("read", path="a.py", context={"cwd": cwd})
    host.restart()
    (said,) = host.call("edit", **EDIT)
    assert "could not be told" in said


def test_a_credential_is_left_out_of_an_argument_of_any_name(host: Host) -> None:
    host.policy(
        POLICY.replace("on write\n", "on other\n").replace(
            "intent == this.intent", 'args["a/b~"] == this.args["a/b~"]'
        )
        + 'ledger: {keep: ["a/b~"]}\n'
    )
    host.guard = Guard.load(cwd=str(host.folder))
    given = {"a/b~": "With ghp_" + "a1B2" * 9}
    host.call("other", **given)
    host.restart()
    assert host.call("other", **given) != []


@pytest.mark.parametrize("how", ["reuse", "prefix"])
def test_what_a_field_was_sent_as_is_not_known_where_only_the_host_knew_the_schema(
    host: Host, how: str
) -> None:
    host.policy(
        POLICY.replace("intent == this.intent", "args.intent == this.args.intent")
        + f"collision: {how}\ntools: {{write: {{require: [intent]}}}}\n"
    )
    host.guard = Guard.load(cwd=str(host.folder))
    schema = {"type": "object", "properties": {"intent": {"type": "string"}}}

    def write(reason: str) -> str:
        given = WHY | {"path": "b", "content": "x", "ti_intent": reason}
        return host.guard.admit("write", given, session="s", schema=schema).decision.decision

    assert write("Say it first") == "allow"
    host.restart()
    assert write("Say another") == "deny"


def test_an_interrupt_while_history_is_read_leaves_it_unknown(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.call("bash", command="deploy it")
    host.call("bash", command="deploy it")
    host.restart()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as slow:
        slow.setattr("tool_intent.guard.recalling.past", interrupted)
        with pytest.raises(KeyboardInterrupt):
            host.call("read", path="b.py")
    (said,) = host.call("bash", command="deploy it")
    assert "could not be told" in said


@pytest.mark.parametrize("calls", [9_999, 10_000, 19_999, 20_000, 29_999, 30_000, 45_000])
def test_after_a_restart_as_many_calls_are_forgotten_as_a_session_itself_forgets(
    calls: int,
) -> None:
    history = SessionHistory([])
    place = Place("/", "/", "/", False)
    state = State("other", {}, (), {}, {}, 0.0, history, place)
    for _ in range(calls):
        history.tried(state)
    kept = sum(1 for _ in history.recent(calls))
    assert forgotten_of(calls) == calls - kept


@pytest.mark.parametrize("text", ["", "[]", "{}", '[{"session": "s"}]', "nonsense"])
def test_what_was_not_held_is_an_error(host: Host, text: str) -> None:
    with pytest.raises(ValueError, match=r"Guard\.held gave"):
        Guard.load(cwd=str(host.folder), held={"s": text})


def test_nothing_is_held_of_a_session_that_did_nothing(host: Host) -> None:
    assert host.guard.held("s") is None
