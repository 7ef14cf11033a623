"""What the tests of agents share: an engine to start, and pi of both lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from .harness import LINES, Pi, engine


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter whose isolated mode has the engine of this checkout."""
    return engine(tmp_path_factory.mktemp("engine"))


@pytest.fixture(params=LINES)
def pi(request: pytest.FixtureRequest, tmp_path: Path, python: Path) -> Pi:
    """pi of each line with the extension installed, for a user who has nothing else."""
    made = Pi(request.param, python, tmp_path)
    made.install()
    return made
