"""A user with an empty home, and small projects to work on."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from .command import ASSETS, Command


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def plain(home: Path, tmp_path: Path) -> Command:
    """The command in a copy of a project that extends std/baseline and says nothing more."""
    return _project("plain", home, tmp_path)


@pytest.fixture
def payments(home: Path, tmp_path: Path) -> Command:
    """The command in a copy of a project with fields of its own, a second file and a folder with
    a policy of its own."""
    return _project("payments", home, tmp_path)


@pytest.fixture
def bare(home: Path, tmp_path: Path) -> Command:
    """The command in an empty folder, where no policy is found."""
    folder = tmp_path / "bare"
    folder.mkdir()
    return Command(home, folder)


def _project(name: str, home: Path, tmp_path: Path) -> Command:
    return Command(home, Path(shutil.copytree(ASSETS / name, tmp_path / name)))


@pytest.fixture
def interrupts() -> Iterator[None]:
    """A shell starts what runs in its background with interrupts ignored, and so would we."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
