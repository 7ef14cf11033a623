"""Settings that every test shares."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import hypothesis
import pytest

from tool_intent.policy import homes

ROOT = Path(__file__).parents[1]

hypothesis.settings.register_profile("dev", max_examples=100, deadline=None)
# Every run on CI tries the same examples, so that a change is judged by what it changed; `dev` runs
# try new ones each time.
hypothesis.settings.register_profile(
    "ci", max_examples=1_000, deadline=None, print_blob=True, derandomize=True, database=None
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(autouse=True)
def _no_policy_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    """Nothing outside a test decides in it: no user policy, a cache of the test run's own. Commands
    that are run as processes are kept from them in `functional/command.py`."""
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(homes, "account_home", lambda: str(home))
    for name in [n for n in os.environ if n.startswith(("TOOL_INTENT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOOL_INTENT_LEDGER", str(home / "ledger"))


class GitFolder:
    """A real git repository to fetch from and to read; what it holds is for tests to say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, stdin: bytes = b"") -> str:
        """What git prints, run without anybody's configuration."""
        settings = ("user.name=a", "user.email=a@example.org", "commit.gpgsign=false")
        options = [o for one in settings for o in ("-c", one)]
        done = subprocess.run(
            ["git", *options, *arguments],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C"},
            input=stdin,
            capture_output=True,
            check=True,
            timeout=60,
        )
        return done.stdout.decode().strip()

    def commit(self, files: Mapping[str, str | bytes], tag: str | None = None) -> str:
        """Commit files, beside those that are there, and give the commit's id."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")
        if tag is not None:
            self.git("tag", "--force", tag)
        return self.git("rev-parse", "HEAD")

    def source(self, rev: str, path: str | None = None) -> str:
        """As a policy names it."""
        inner = "" if path is None else f"#{path}"
        return f"git+file://{self.folder}@{rev}{inner}"


@pytest.fixture
def origin(tmp_path: Path) -> GitFolder:
    """An empty repository, `origin` in the test's folder."""
    return GitFolder(tmp_path / "origin")
