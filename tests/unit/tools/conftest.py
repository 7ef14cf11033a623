"""A workspace with a secret beside it, a deadline for every test, and calls made in a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tool_intent.tools import Builtin, Workspace

_HERE = Path(__file__).parent
_ENGINE = _HERE.parents[2] / "engine"

#: Seconds that any one test may take.
DEADLINE = 30


@pytest.fixture(autouse=True)
def _deadline() -> Iterator[None]:
    def late(signum: int, frame: object) -> None:
        # No OSError: the tools would answer it with a message.
        pytest.fail(f"the test ran for {DEADLINE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(DEADLINE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The workspace; `outside/secret.txt` is its neighbour."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret\n")
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def builtin(root: Path) -> Builtin:
    return Builtin(Workspace(root))


@pytest.fixture
def child() -> Callable[..., Any]:
    """Run `child.py MODE` on a JSON value in a process of its own: its answer."""

    def run(mode: str, **request: Any) -> Any:
        done = subprocess.run(
            [sys.executable, str(_HERE / "child.py"), mode],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=DEADLINE - 5,
            env={**os.environ, "PYTHONPATH": str(_ENGINE)},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
