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
