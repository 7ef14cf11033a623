"""`run`: judged, stripped, carried out by the built-in tools, or left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .command import Command, Done, call, lines, reasoned, tree
from .test_policies import write

ASK = "version: 1\ntools: {bash: {require: [intent], effect: ask}}\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("first line\nsecond line\n")
    return folder


def run(command: Command, given: dict[str, Any], workspace: Path, *options: str) -> Done:
    return command(
        "run", given["tool"], json.dumps(given["args"]), "--workspace", workspace, *options
    )


def test_write_is_carried_out_without_its_reason(plain: Command, workspace: Path) -> None:
    done = run(plain, reasoned("write", path="a/b.txt", content="x\n"), workspace)
    assert (done.code, done.err) == (0, "")
    assert (workspace / "a" / "b.txt").read_text() == "x\n"
    assert done.out.startswith(f"workspace {workspace}\n")
    assert "allow write a/b.txt" in done.out
    assert "intent: Keep the notes right" in done.out


def test_read_answers_with_the_text(plain: Command, workspace: Path) -> None:
    done = run(plain, reasoned("read", path="notes.txt"), workspace, "--format", "json")
    (answer,) = done.answers
    assert done.code == 0
    assert answer["result"]["ok"] is True
    assert "second line" in answer["result"]["text"]
    assert answer["args"] == {"path": "notes.txt"}
    assert list(answer)[:3] == ["id", "tool", "decision"]


def test_edit_changes_the_file(plain: Command, workspace: Path) -> None:
    why = {"intent": "Say row", "rationale": "It is one"}
    edits = [{"oldText": "second line", "newText": "second row", **why}]
    done = run(plain, call("edit", path="notes.txt", edits=edits), workspace)
    assert done.code == 0
    assert (workspace / "notes.txt").read_text() == "first line\nsecond row\n"
    assert "edits[0].intent: Say row" in done.out


def test_bash_runs_in_the_workspace(plain: Command, workspace: Path) -> None:
    done = run(plain, reasoned("bash", command="pwd > where; cat notes.txt"), workspace)
    assert done.code == 0
    assert (workspace / "where").read_text() == f"{workspace}\n"
    assert "      first line" in done.out


@pytest.mark.parametrize(
    "given",
    [
        call("write", path="new.txt", content="x"),
        call("write", path="notes.txt", content="x", intent="a"),
        call("edit", path="notes.txt", edits=[{"oldText": "first", "newText": "1st"}]),
        call("bash", command="touch new.txt; rm notes.txt"),
        call("read", path="notes.txt"),
    ],
    ids=lambda given: given["tool"],
)
def test_a_refused_call_leaves_the_workspace_untouched(
    given: dict[str, Any], plain: Command, workspace: Path
) -> None:
    before = tree(workspace)
    for options in ((), ("--yes", "--format", "json")):
        done = run(plain, given, workspace, *options)
        assert (done.code, done.err) == (1, "")
        assert "nothing was executed" in done.out
        assert "second line" not in done.out
        assert tree(workspace) == before
    assert done.answers[0]["result"] is None


def test_a_tool_that_fails_is_no_denial(plain: Command, workspace: Path) -> None:
    done = run(plain, reasoned("read", path="nowhere.txt"), workspace, "--format", "json")
    assert done.code == 0
    assert done.answers[0]["result"]["ok"] is False
    assert "the tool failed" in run(plain, reasoned("bash", command="exit 3"), workspace).out


def test_an_ask_is_refused_by_a_policy_that_is_given_alone(bare: Command, workspace: Path) -> None:
    write(bare.cwd / "ask.yaml", ASK)
    refused = run(bare, call("bash", command="touch made"), workspace, "--policy", "ask.yaml")
    assert refused.code == 1
    assert "ask   bash touch made" in refused.out
    assert not (workspace / "made").exists()


def test_yes_approves_what_asks_and_nothing_that_is_denied(bare: Command, workspace: Path) -> None:
    text = ASK.replace("tools: {", "tools: {write: {require: [intent]}, ")
    write(bare.cwd / ".tool-intent" / "policy.yaml", text)
    touch, denied = call("bash", command="touch made"), call("write", path="w", content="x")
    refused = run(bare, touch, workspace)
    assert refused.code == 1
    assert "needs a person's approval" in refused.out
    assert not (workspace / "made").exists()
    approved = run(bare, touch, workspace, "--yes")
    assert approved.code == 0
    assert "approved with --yes" in approved.out
    assert (workspace / "made").exists()
    assert run(bare, denied, workspace, "--yes").code == 1
    assert not (workspace / "w").exists()


def test_a_session_is_carried_out_in_order_and_past_its_refusals(
    plain: Command, workspace: Path, tmp_path: Path
) -> None:
    session = lines(
        reasoned("bash", command="echo one >> log") | {"id": 1},
        call("bash", command="echo two >> log") | {"id": 2},
        {"id": 1, "outcome": "ok"},
        reasoned("bash", command="echo three >> log") | {"id": 3},
    )
    (tmp_path / "session.jsonl").write_text(session)
    options = ("--workspace", workspace, "--format", "json")
    done = plain("run", "--session", tmp_path / "session.jsonl", *options)
    assert done.code == 1
    assert [(a["id"], a["decision"]) for a in done.answers] == [
        (1, "allow"), (2, "deny"), (3, "allow"),
    ]  # fmt: skip
    assert (workspace / "log").read_text() == "one\nthree\n"
    again = plain("run", "--session", "-", *options, stdin=session)
    assert (again.code, again.out) == (1, done.out)


def test_a_line_that_is_no_call_is_said_and_the_others_are_carried_out(
    plain: Command, workspace: Path
) -> None:
    session = "nonsense\n" + lines(reasoned("bash", command="touch made"))
    done = plain("run", "--session", "-", "--workspace", workspace, stdin=session)
    assert done.code == 2
    assert "input/not-json: line 1: not JSON" in done.err
    assert (workspace / "made").exists()


def test_a_new_workspace_is_made_and_named(plain: Command, tmp_path: Path) -> None:
    args = json.dumps(reasoned("write", path="a.txt", content="x")["args"])
    env = {"TMPDIR": str(tmp_path)}
    text = plain("run", "write", args, env=env)
    data = plain("run", "write", args, "--format", "json", env=env)
    for named in (text.out.splitlines()[0], data.err.strip().removeprefix("tool-intent: ")):
        folder = Path(named.removeprefix("workspace "))
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        assert (folder / "a.txt").read_text() == "x"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "run takes a tool with its arguments as JSON, or --session FILE"),
        (("bash", "{}", "--session", "-"), "run takes a tool"),
        (("bash", "{'command': 'ls'}"), "the arguments are not JSON"),
        (("bash", "{}", "--workspace", "nowhere"), "the workspace nowhere is no directory"),
        (("--session", "nowhere.jsonl"), "nowhere.jsonl cannot be read: No such file"),
        (("bash", "{}", "--policy", "std/baselin"), "did you mean `std/baseline`?"),
    ],
)
def test_usage_that_makes_no_sense_starts_nothing(
    arguments: tuple[str, ...], said: str, plain: Command, tmp_path: Path
) -> None:
    before = tree(tmp_path)
    done = plain("run", *arguments, env={"TMPDIR": str(tmp_path), "TOOL_INTENT_CACHE": "off"})
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert tree(tmp_path) == before


def test_what_a_tool_prints_reaches_a_terminal_escaped(plain: Command, workspace: Path) -> None:
    command = r"printf '\033[31mred\342\200\256'; echo é"
    done = run(plain, reasoned("bash", command=command), workspace)
    assert r"\u{1b}[31mred\u{202e}é" in done.out
    assert "\x1b" not in done.out
    few = plain(
        "run", "bash", json.dumps(reasoned("bash", command="touch made; echo é")["args"]),
        "--workspace", workspace, env={"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert few.code == 0, "a call that ran is reported as one"
    assert r"\xe9" in few.out
    assert (workspace / "made").exists()
