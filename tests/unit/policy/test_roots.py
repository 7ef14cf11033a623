"""Roots that are known to have had a policy: there, none is a finding."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from pathlib import Path

import pytest

from tool_intent import Guard, PolicyError
from tool_intent.policy.roots import remember
from tool_intent.policy.sources import discover

POLICY = "version: 1\ntools: {pay: {require: [intent]}}\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / ".tool-intent").mkdir(parents=True)
    (folder / ".tool-intent" / "policy.yaml").write_text(POLICY)
    return folder


def roots(home: Path) -> Path:
    return home / ".local" / "state" / "tool-intent" / "roots"


def rules(guard: Guard) -> list[str]:
    return [f.rule for f in guard.check("pay", {"intent": "Pay it."}).findings]


def test_a_guard_notes_a_repository_once_and_for_its_user_alone(home: Path, repo: Path) -> None:
    Guard.load(cwd=str(repo))
    Guard.load(cwd=str(repo))
    assert roots(home).read_text() == f"{repo}\n"
    assert roots(home).stat().st_mode & 0o777 == 0o600
    assert roots(home).parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("left", ["nothing", "an empty folder", "another policy further in"])
def test_a_known_root_without_a_policy_denies_and_says_what_to_do(
    left: str, home: Path, repo: Path
) -> None:
    Guard.load(cwd=str(repo))
    shutil.rmtree(repo / ".tool-intent")
    inner = repo / "a" / "b"
    inner.mkdir(parents=True)
    if left == "an empty folder":
        (repo / ".tool-intent").mkdir()
    elif left == "another policy further in":
        (inner / ".tool-intent").mkdir()
        (inner / ".tool-intent" / "policy.yaml").write_text(POLICY)
    guard = Guard.load(cwd=str(inner))
    assert rules(guard) == ["policy/missing"]
    message = guard.check("pay", {}).message or ""
    assert f"remove the line `{repo}` from ~/.local/state/tool-intent/roots" in message
    roots(home).write_text("")
    if left == "another policy further in":
        assert rules(Guard.load(cwd=str(inner))) == []
    else:
        with pytest.raises(PolicyError, match="no policy found"):
            Guard.load(cwd=str(inner))


def test_a_broken_policy_of_a_known_root_is_broken_and_not_missing(home: Path, repo: Path) -> None:
    Guard.load(cwd=str(repo))
    (repo / ".tool-intent" / "policy.yaml").write_text("version")
    assert rules(Guard.load(cwd=str(repo))) == ["policy/broken"]


def test_a_home_of_the_environment_does_not_hide_what_the_account_knows(
    home: Path, repo: Path
) -> None:
    remember(str(repo), {"HOME": str(home)}, str(home))
    shutil.rmtree(repo / ".tool-intent")
    for env in (
        {"HOME": "/elsewhere"},
        {"XDG_STATE_HOME": "/elsewhere", "HOME": str(home)},
        {"XDG_STATE_HOME": "/elsewhere", "HOME": "/elsewhere"},
        {},
    ):
        found = discover(str(repo), env, machine="/none", account=str(home))
        assert [c.path for c in found if c.state == "missing"] == [f"{repo}/.tool-intent"]


def test_what_the_environment_names_as_state_folder_is_written_and_read(
    tmp_path: Path, home: Path, repo: Path
) -> None:
    env = {"HOME": str(home), "XDG_STATE_HOME": str(tmp_path / "state")}
    assert remember(str(repo), env, str(home)) is None
    assert (tmp_path / "state" / "tool-intent" / "roots").read_text() == f"{repo}\n"
    assert not roots(home).exists()
    shutil.rmtree(repo / ".tool-intent")
    found = discover(str(repo), env, machine="/none", account=str(home))
    assert [c.state for c in found if c.path.startswith(str(repo))] == ["missing"]


@pytest.mark.parametrize("what", ["a FIFO", "a folder", "a link to nothing"])
def test_a_list_that_cannot_be_read_denies(what: str, home: Path, repo: Path) -> None:
    roots(home).parent.mkdir(parents=True)
    if what == "a FIFO":
        os.mkfifo(roots(home))
    elif what == "a folder":
        roots(home).mkdir()
    else:
        roots(home).symlink_to("nowhere")
    guard = Guard.load(cwd=str(repo))
    assert rules(guard) == ["policy/broken"]
    assert "~/.local/state/tool-intent/roots" in (guard.check("pay", {}).message or "")
    note = remember(str(repo), {"HOME": str(home)}, str(home))
    assert note is not None
    assert "is not remembered in ~/.local/state/tool-intent/roots" in note


def test_a_line_that_was_cut_short_spoils_no_other(home: Path, repo: Path) -> None:
    roots(home).parent.mkdir(parents=True)
    roots(home).write_text("/half")
    remember(str(repo), {"HOME": str(home)}, str(home))
    assert roots(home).read_text() == f"/half\n{repo}\n"


def test_who_writes_waits_for_who_is_writing_and_adds_nothing_twice(home: Path, repo: Path) -> None:
    roots(home).parent.mkdir(parents=True)
    with roots(home).open("ab", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        writer = threading.Thread(target=remember, args=(str(repo), {"HOME": str(home)}, ""))
        writer.start()
        writer.join(0.5)
        assert writer.is_alive()
        file.write(f"{repo}\n".encode())
    writer.join()
    assert roots(home).read_text() == f"{repo}\n"


def test_a_root_whose_name_breaks_the_line_is_said(home: Path) -> None:
    assert "holds a line break" in (remember("/a\n/b", {"HOME": str(home)}, str(home)) or "")
    assert not roots(home).exists() or roots(home).read_text() == ""
