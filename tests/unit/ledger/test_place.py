"""Where the ledger of a folder is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tool_intent.ledger.place import LedgerError, ledger_folder, worktree


def git(folder: Path, *arguments: str) -> str:
    env = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder, env=env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "payments"
    (folder / "deep" / "er").mkdir(parents=True)
    git(folder, "init", "--quiet")
    return folder


def test_a_repository_without_commits_has_a_branch_and_no_head(repository: Path) -> None:
    found = worktree(str(repository / "deep" / "er"))
    assert found is not None
    assert found.root == str(repository)
    assert found.repository == "payments"
    assert found.head() == ("main", None)
    assert ledger_folder(str(repository), {}) == str(repository / ".git" / "tool-intent")


@pytest.mark.parametrize("packed", [False, True])
def test_the_head_is_what_git_says_it_is(repository: Path, packed: bool) -> None:
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "a")
    git(repository, "switch", "--quiet", "-c", "feature/x")
    if packed:
        git(repository, "pack-refs", "--all")
    found = worktree(str(repository))
    assert found is not None
    assert found.head() == ("feature/x", git(repository, "rev-parse", "HEAD"))
    git(repository, "checkout", "--quiet", "--detach")
    assert found.head() == (None, git(repository, "rev-parse", "HEAD"))


def test_work_trees_share_one_ledger_and_a_submodule_has_its_own(repository: Path) -> None:
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "a")
    beside = repository.parent / "beside"
    git(repository, "worktree", "add", "--quiet", "-b", "other", str(beside))
    git(repository, "submodule", "--quiet", "add", str(repository), "sub")
    there = worktree(str(beside))
    assert there is not None
    assert (there.root, there.repository) == (str(beside), "payments")
    assert there.head()[0] == "other"
    own = str(repository / ".git" / "tool-intent")
    assert ledger_folder(str(beside), {}) == own
    for folder in (repository / "sub", beside, repository):
        common = git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
        assert ledger_folder(str(folder), {}) == os.path.join(common, "tool-intent")


@pytest.mark.parametrize(
    "git_file",
    ["gitdir: /etc", "gitdir: nowhere", "gitdir: " + "x/" * 40_000, "no git", "", "gitdir: \0"],
)
def test_what_only_looks_like_a_repository_is_none(git_file: str, tmp_path: Path) -> None:
    (tmp_path / ".git").write_text(git_file)
    assert ledger_folder(str(tmp_path), {"HOME": "/home/a"}) == "/home/a/.local/state/tool-intent"


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h"}, "/h/.local/state/tool-intent"),
        ({"HOME": "/h", "XDG_STATE_HOME": "/s"}, "/s/tool-intent"),
        ({"HOME": "/h", "XDG_STATE_HOME": "s"}, "/h/.local/state/tool-intent"),
        ({"TOOL_INTENT_LEDGER": "/elsewhere"}, "/elsewhere"),
        ({"TOOL_INTENT_LEDGER": "off"}, None),
    ],
)
def test_the_environment_says_where(
    environ: dict[str, str], folder: str | None, tmp_path: Path
) -> None:
    assert ledger_folder(str(tmp_path), environ) == folder


def test_a_relative_place_starts_where_the_calls_are_made(tmp_path: Path) -> None:
    there = ledger_folder(str(tmp_path), {"TOOL_INTENT_LEDGER": "kept"})
    assert there == str(tmp_path / "kept")


@pytest.mark.parametrize("given", ["https://ledger.example.com/a", "s3://bucket", "\0"])
def test_a_place_that_no_record_can_be_written_to_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"TOOL_INTENT_LEDGER is .*: name a folder"):
        ledger_folder(str(tmp_path), {"TOOL_INTENT_LEDGER": given})
