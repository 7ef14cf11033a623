"""A project with a policy for the tools of a server called `s`."""

from __future__ import annotations

from pathlib import Path

import pytest

from .raw import POLICY


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder; the user's home is beside it."""
    top = tmp_path_factory.mktemp("mcp")
    (top / "home").mkdir()
    folder = top / "project"
    (folder / ".tool-intent").mkdir(parents=True)
    (folder / ".tool-intent" / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def user(project: Path) -> Path:
    """The user's home folder."""
    return project.parent / "home"


EVERY_TOOL = """\
version: 1
policy: acme/mcp
fields: {intent: {}, rationale: {minLength: 10}}
tools:
  "mcp__*": {require: [intent, rationale]}
rules: |
  rule acme/danger on mcp__*__danger
    ask "It cannot be undone."
  rule acme/after on mcp__s__after
    require earlier mcp__s__breaking passed within 99 calls
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a policy that asks for reasons on the tools of every server."""
    top = tmp_path_factory.mktemp("pass")
    (top / "home").mkdir()
    folder = top / "project" / ".tool-intent"
    folder.mkdir(parents=True)
    (folder / "policy.yaml").write_text(EVERY_TOOL, encoding="utf-8")
    return folder.parent
