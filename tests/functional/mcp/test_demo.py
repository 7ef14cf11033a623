"""`make demo-mcp` shows what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "assets" / "demo" / "mcp" / "demo.py"


@pytest.mark.slow
def test_the_demo_ends_well_without_node(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, DEMO], capture_output=True, text=True, timeout=120, check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done
    assert done.stdout.count("nothing was executed") == 4
    assert done.stdout.count("and says yes") == 3
    assert set(os.listdir(tmp_path)) <= {".cache", ".local"}
