"""The import contracts: kept as they stand, and each seen to fail when it is broken."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = Path("engine") / "tool_intent"

BREACHES = [
    ("The rooms and their arrows", "runtime/text.py", "import tool_intent.policy.model"),
    ("The rooms and their arrows", "rules/diagnostics.py", "import tool_intent.compiler.cache"),
    ("The rooms and their arrows", "tools/model.py", "import tool_intent.ledger.recorder"),
    ("The rooms and their arrows", "ledger/reading.py", "import tool_intent.reports.page"),
    ("The rooms and their arrows", "cellar/__init__.py", ""),
    ("Call time needs no library of authoring time", "ledger/reading.py", "import jinja2"),
    ("Call time needs no library of authoring time", "runtime/text.py", "import yaml"),
    ("Call time needs no library of authoring time", "cli/decide.py", "import typer"),
    ("Call time needs no library of authoring time", "surfaces/bridge.py", "import yaml"),
    ("Surfaces judge by compiled policies", "surfaces/judging.py",
     "import tool_intent.policy.sources"),
    ("The built-in tools know nothing of policies", "tools/model.py",
     "import tool_intent.rules.diagnostics"),
]  # fmt: skip


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder / "engine")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _copy(folder: Path) -> Path:
    shutil.copytree(ROOT / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_contracts_are_kept(tmp_path: Path) -> None:
    done = _lint(_copy(tmp_path))
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(("contract", "module", "line"), BREACHES)
def test_a_breach_breaks_its_contract(
    contract: str, module: str, line: str, tmp_path: Path
) -> None:
    file = _copy(tmp_path) / PACKAGE / module
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as text:
        text.write(f"\n{line}\n")
    done = _lint(tmp_path)
    assert done.returncode != 0, done.stdout
    assert f"{contract} BROKEN" in done.stdout or "cellar" in done.stdout, done.stdout
