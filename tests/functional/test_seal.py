"""`seal` and `why` in repositories that are unlike most: with ids of SHA-256, where a ledger names
contents in its own way and notes as git does; with several work trees, odd names, large files."""

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


def test_a_linked_work_tree_is_sealed_without_what_has_no_lines(home: Path, tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    git(main, "init", "--quiet")
    assert "there is no commit `HEAD`" in Command(home, main)("seal").err
    git(main, "commit", "--quiet", "--allow-empty", "--message=begin")
    git(main, "worktree", "add", "--quiet", str(linked))
    command = Command(home, linked)
    said = json.dumps(CALL | {"path": "fees\nof.py"})
    done = command("run", "write", said, "--policy", "std/baseline", "--workspace", ".")
    assert done.code == 0, done
    (linked / "binary").write_bytes(b"\0\1")
    with (linked / "large").open("wb") as file:
        file.truncate(100 << 20)
    git(linked, "add", ".")
    git(linked, "commit", "--quiet", "--message=rate")
    (sealed,) = command("seal", "--format", "json").answers
    assert sealed["files"] == ["fees\nof.py"]
    assert states(command, "fees\nof.py") == ["exact"]
    assert len(command("log", "--path", "fees\nof.py", "--format", "json").answers) == 1
    (segment,) = (main / ".git" / "tool-intent").glob("*.jsonl")
    assert b'"kind":"sealed"' in segment.read_bytes()


def test_a_submodule_is_sealed_by_the_ledger_of_the_repository_around_it(
    home: Path, tmp_path: Path
) -> None:
    around = tmp_path / "around"
    (around / "sub").mkdir(parents=True)
    git(around, "init", "--quiet")
    git(around / "sub", "init", "--quiet")
    command = Command(home, around)
    said = json.dumps(CALL | {"path": "sub/fees.py"})
    done = command("run", "write", said, "--policy", "std/baseline", "--workspace", ".")
    assert done.code == 0, done
    git(around / "sub", "add", ".")
    git(around / "sub", "commit", "--quiet", "--message=rate")
    (sealed,) = command("seal", "--format", "json", cwd=around / "sub").answers
    assert sealed["files"] == ["fees.py"]
    assert len(list((around / ".git" / "tool-intent").glob("*.jsonl"))) == 1
    (around / ".git" / "tool-intent").rename(tmp_path / "gone")
    assert "(sealed)" in command("why", "sub/fees.py").out
