"""Repositories whose ids are SHA-256: a ledger names contents in its own way, notes as git does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .command import Command

CALL = {
    "path": "fees.py", "content": "RATE = 1\n", "intent": "Add the rate.",
    "rationale": "Finance asks for 1 %, in cents.",
}  # fmt: skip


def git(cwd: Path, *arguments: str) -> str:
    named = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    command = ["git", *named, *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def here(home: Path, tmp_path: Path) -> Command:
    """A repository in which a call wrote a file that was committed then."""
    folder = tmp_path / "here"
    folder.mkdir()
    git(folder, "init", "--quiet", "--object-format=sha256")
    command = Command(home, folder)
    done = command("run", "write", json.dumps(CALL), "--policy", "std/baseline", "--workspace", ".")
    assert done.code == 0, done
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=rate")
    return command


def states(command: Command, *target: str) -> list[str]:
    done = command("why", *target, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return [run["state"] for run in json.loads(done.out)["lines"]]


def test_why_is_answered_by_the_ledger(here: Command) -> None:
    assert len(git(here.cwd, "rev-parse", "HEAD")) == 64
    assert states(here, "fees.py") == states(here, "fees.py", "--rev", "HEAD") == ["exact"]
    (decision,) = here("log", "--format", "json").answers
    assert decision["actor"]["worktree"] == str(here.cwd)


def test_a_clone_answers_by_the_notes_and_goes_on_from_them(here: Command, tmp_path: Path) -> None:
    assert here("seal").code == 0
    note = json.loads(git(here.cwd, "notes", "--ref=tool-intent", "show"))
    assert note["files"][0]["blob"] == git(here.cwd, "rev-parse", "HEAD:fees.py")
    git(tmp_path, "clone", "--quiet", "here", "there")
    there = Command(here.home, tmp_path / "there")
    git(there.cwd, "fetch", "--quiet", "origin", "refs/notes/tool-intent:refs/notes/tool-intent")
    assert states(there, "fees.py") == ["exact"]
    with (there.cwd / "fees.py").open("a") as file:
        file.write("FLOOR = 2\n")
    assert states(there, "fees.py") == ["exact", "untracked"]
    git(there.cwd, "commit", "--quiet", "--all", "--message=floor")
    assert there("seal").code == 0
    assert states(there, "fees.py", "--rev", "HEAD") == ["exact", "untracked"]
