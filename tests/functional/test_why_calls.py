"""`why` of files that calls of `tool-intent run` made."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tool_intent import Guard

from .command import Command
from .inside import Inside


def _why(n: int | str) -> dict[str, str]:
    return {"intent": f"Do {n}.", "rationale": f"For {n}."}


@pytest.fixture
def made(tmp_path: Path) -> Command:
    """A repository whose files were made by calls of `tool-intent run`."""
    folder = tmp_path / "made"
    (folder / "sub").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    commands = [
        "printf 'alpha_one = 1\\nbeta_two = 2\\n' > a.py",
        "sed -i s/2/3/ *.py",
        "echo 'gamma_three = 3' | tee -a a.py",
        "cd sub && mv ../a.py b.py",
        "cp sub/b.py c.py; touch gone && rm gone",
    ]
    calls = [
        {"tool": "bash", "args": {"command": command, **_why(n)}}
        for n, command in enumerate(commands)
    ]
    edits = [
        {"oldText": "gamma_three", "newText": "gamma_3", **_why(5)},
        {"oldText": "alpha_one = 1", "newText": "alpha_one = 11", **_why(6)},
    ]
    calls.append({"tool": "edit", "args": {"path": "c.py", "edits": edits}})
    (tmp_path / "session.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    command = Inside(tmp_path, folder)
    session = str(tmp_path / "session.jsonl")
    done = command("run", "--policy", "std/baseline", "--session", session, "--workspace", ".")
    assert (done.code, "deny" in done.out) == (0, False), done.out
    return command


def _intents(done: Any) -> list[tuple[int, int, str, list[str]]]:
    answer = json.loads(done.out)
    return [
        (
            run["start"],
            run["end"],
            run["state"],
            [
                entry["intent"]
                for entry in answer["calls"][run["by"]["call"]]["entries"]
                if entry["at"] in ("", *run["by"].get("entries", []))
            ],
        )
        for run in answer["lines"]
    ]


def test_lines_that_shell_commands_wrote_are_told_with_their_reasons(made: Command) -> None:
    assert _intents(made("why", "sub/b.py", "--format", "json")) == [
        (1, 1, "exact", ["Do 0."]),
        (2, 2, "exact", ["Do 1."]),
        (3, 3, "exact", ["Do 2."]),
    ]
    assert "intent: Do 1.\n          rationale: For 1.\n" in made("why", "sub/b.py:2").out


def test_each_line_of_an_edit_is_told_with_the_reason_of_its_entry(made: Command) -> None:
    assert _intents(made("why", "c.py", "--format", "json")) == [
        (1, 1, "exact", ["Do 6."]),
        (2, 2, "exact", ["Do 1."]),
        (3, 3, "exact", ["Do 5."]),
    ]


def test_what_shell_commands_wrote_is_no_untracked_write_of_the_report(
    made: Command, tmp_path: Path
) -> None:
    assert "Untracked changes" not in made("report", "--format", "markdown").out
    with open(made.cwd / "c.py", "a") as file:
        file.write("delta = 4\n")
    made("run", "bash", json.dumps({"command": "echo x >> c.py", **_why(7)}), "--policy",
         "std/baseline", "--workspace", ".")  # fmt: skip
    assert [run[2:] for run in _intents(made("why", "c.py:5", "--format", "json"))] == [
        ("exact", ["Do 7."])
    ]
    assert "nobody is recorded" in made("why", "c.py:4").out
    assert "Untracked changes" in made("report", "--format", "markdown").out


def test_the_log_of_a_file_has_the_commands_that_write_it(made: Command) -> None:
    found = [
        json.loads(line)
        for line in made("log", "--path", "a.py", "--format", "json").out.splitlines()
    ]
    assert [one["entries"][0]["intent"] for one in found] == ["Do 0.", "Do 1.", "Do 2.", "Do 3."]


def test_lines_that_either_of_two_commands_may_have_written_are_nobodys(
    made: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOOL_INTENT_LEDGER")
    guard = Guard.load("std/baseline", cwd=str(made.cwd))
    file = made.cwd / "both.txt"

    def call(name: str, execute: Callable[[Any], None]) -> None:
        guard.call("bash", {"command": "make >> both.txt", **_why(name)}, execute)

    def write(text: str) -> Callable[[Any], None]:
        return lambda _: file.write_text(file.read_text() + text)

    def outer(_: Any) -> None:
        write("of_the_outer = 1\n")(_)
        call("inner", write("of_the_inner = 1\n"))

    file.write_text("")
    call("before", write("of_the_one_before = 1\n"))
    call("outer", outer)
    call("after", write("of_the_one_after = 1\n"))
    answer = json.loads(made("why", "both.txt", "--format", "json").out)
    assert [(run["start"], run["end"], run["state"]) for run in answer["lines"]] == [
        (1, 1, "exact"), (2, 3, "untracked"), (4, 4, "exact"),
    ]  # fmt: skip
