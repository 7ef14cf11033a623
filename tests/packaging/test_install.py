"""The package as users get it: built, installed three ways, run from another folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]
PACK: Final = "packs/std/baseline.yaml"
#: Seconds that one build or installation may take; both ask the package index.
DEADLINE: Final = 300
#: Seconds that the installed package may take to answer.
ANSWER: Final = 30

#: Run by the installed interpreter: prints the package's folder, its version and that the pack is
#: where the package says.
PROBE: Final = f"""
import importlib.metadata, pathlib, tool_intent
from tool_intent.policy.sources import shipped
print(pathlib.Path(tool_intent.__file__).parent)
print(importlib.metadata.version("tool-intent"))
print((pathlib.Path(shipped()) / {PACK!r}).is_file())
"""


class Built(NamedTuple):
    """The two distributions, the wheel made from the sdist."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    succeed([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], DEADLINE, folder)
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    return Built(wheel, sdist)


def succeed(command: list[str], seconds: int, cwd: Path) -> str:
    """The standard output of a command that ends well in time, run with nothing of this checkout
    on its path."""
    environment: Mapping[str, str] = {
        name: value for name, value in os.environ.items() if name != "PYTHONPATH"
    }
    run = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert run.returncode == 0, f"{command} exited {run.returncode}\n{run.stdout}{run.stderr}"
    return run.stdout


@pytest.mark.parametrize("way", ["wheel", "sdist", "editable"])
def test_an_installation_finds_the_shipped_policies_and_its_command_answers(
    way: str, built: Built, tmp_path: Path
) -> None:
    what = {
        "wheel": [str(built.wheel)],
        "sdist": [str(built.sdist)],
        "editable": ["--editable", str(ROOT)],
    }[way]
    venv = tmp_path / "venv"
    succeed([sys.executable, "-m", "venv", str(venv)], DEADLINE, tmp_path)
    python = venv / "bin" / "python"
    succeed([str(python), "-m", "pip", "install", "--quiet", *what], DEADLINE, tmp_path)

    folder, version, found = succeed([str(python), "-c", PROBE], ANSWER, tmp_path).splitlines()
    home = ROOT / "engine" if way == "editable" else venv
    assert Path(folder).is_relative_to(home)
    assert built.wheel.name.split("-")[1] == version
    assert found == "True"
    shown = succeed([str(venv / "bin" / "tool-intent"), "--help"], ANSWER, tmp_path)
    assert "Usage" in shown


def test_the_wheel_holds_the_package_its_policies_and_licence_and_nothing_else(
    built: Built,
) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = set(wheel.namelist())
    information = "-".join(built.wheel.name.split("-")[:2]) + ".dist-info"
    assert {name.split("/")[0] for name in names} == {"tool_intent", information}
    shipped = {
        f"tool_intent/policies/{path.relative_to(ROOT / 'policies').as_posix()}"
        for path in (ROOT / "policies").rglob("*")
        if path.is_file()
    }
    assert f"tool_intent/policies/{PACK}" in shipped
    surfaces = ROOT / "engine" / "tool_intent" / "surfaces"
    scripts = {
        f"tool_intent/surfaces/{path.relative_to(surfaces).as_posix()}"
        for path in surfaces.rglob("*.*s")
    }
    assert "tool_intent/surfaces/pi/extension/index.ts" in scripts
    shipped |= scripts
    needed = shipped | {"tool_intent/py.typed", f"{information}/licenses/LICENSE"}
    assert needed <= names, needed - names
    assert not [name for name in names if "tests" in name.split("/")]


def test_the_sdist_holds_what_builds_and_tests_the_package_and_no_installed_agents(
    built: Built,
) -> None:
    with tarfile.open(built.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {
        "LICENSE",
        "README.md",
        "pyproject.toml",
        f"policies/{PACK}",
        "engine/tool_intent/py.typed",
        "tests/packaging/test_install.py",
    } <= names
    assert not [name for name in names if "node_modules" in name.split("/")]
