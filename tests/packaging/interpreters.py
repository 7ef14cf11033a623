"""Runs the fast tests under every other CPython of this machine that the package supports.

    python tests/packaging/interpreters.py

Interpreters are looked for on PATH, among pyenv's versions and among uv's; of each minor version
the newest is taken. Each gets a fresh environment with the checkout and its `dev` extras. Exits 1
if one fails. A supported version that is not here is named, and no failure.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
OLDEST: Final = (3, 11)
SUPPORTED: Final = ((3, 11), (3, 12), (3, 13), (3, 14))
#: Seconds that asking an interpreter its version, an installation and a test run may take.
ASK, INSTALL, TEST = 20, 600, 900
NAME: Final = re.compile(r"python3(\.\d+)?")
TELL: Final = (
    "import sys; print(sys.implementation.name, sys.version_info.releaselevel, "
    "*sys.version_info[:3], sys.executable, sep='\\n')"
)


class Interpreter(NamedTuple):
    """A CPython: its version, for example (3, 12, 1), and its executable."""

    version: tuple[int, int, int]
    path: Path

    @property
    def minor(self) -> tuple[int, int]:
        return self.version[:2]

    def __str__(self) -> str:
        return f"CPython {'.'.join(map(str, self.version))}"


def folders() -> Iterator[Path]:
    """Where interpreters may be, PATH first."""
    for entry in os.environ.get("PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted((pyenv / "versions").glob("*/bin"))
    data = Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share"))
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", data / "uv" / "python"))
    yield from sorted(uv.glob("*/bin"))


def ask(path: Path) -> Interpreter | None:
    """The released CPython at `path`, or None where it is another thing or does not start (a
    pyenv shim of a version that is not selected, say)."""
    try:
        run = subprocess.run(
            [str(path), "-I", "-c", TELL], capture_output=True, text=True, timeout=ASK, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    match run.stdout.splitlines():
        case ["cpython", "final", major, minor, micro, itself] if run.returncode == 0:
            return Interpreter((int(major), int(minor), int(micro)), Path(itself))
    return None


def interpreters() -> dict[tuple[int, int], Interpreter]:
    """The newest CPython of each minor version from the oldest supported on."""
    found: dict[tuple[int, int], Interpreter] = {}
    asked: set[Path] = set()
    for folder in folders():
        for path in sorted(folder.glob("python3*")):
            if not NAME.fullmatch(path.name) or path.resolve() in asked:
                continue
            asked.add(path.resolve())
            one = ask(path)
            if one is None or one.minor < OLDEST:
                continue
            known = found.get(one.minor)
            if known is None or one.version > known.version:
                found[one.minor] = one
    return dict(sorted(found.items()))


def test(interpreter: Interpreter, folder: Path) -> str | None:
    """Installs the checkout for `interpreter` in `folder` and runs the fast tests; what failed,
    or None."""
    folder.chmod(0o755)  # tests give up their rights, and go on importing
    python = str(folder / "venv" / "bin" / "python")
    steps = (
        (
            "making the environment",
            INSTALL,
            [str(interpreter.path), "-m", "venv", str(folder / "venv")],
        ),
        (
            "installing the checkout",
            INSTALL,
            [python, "-m", "pip", "install", "-qq", "--editable", f"{ROOT}[dev]"],
        ),
        (
            "the fast tests",
            TEST,
            [python, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-m", "not slow",
             "-p", "no:cacheprovider"],
        ),
    )  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for what, seconds, command in steps:
        print(f"{interpreter}: {what}", flush=True)
        try:
            run = subprocess.run(command, cwd=ROOT, env=environment, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return f"{what} took more than {seconds} seconds"
        if run.returncode:
            return f"{what} exited {run.returncode}"
    return None


def main() -> int:
    found = interpreters()
    running = sys.version_info[:2]
    others = [one for minor, one in found.items() if minor != running]
    missing = [version for version in SUPPORTED if version not in found and version != running]
    failures: dict[Interpreter, str] = {}
    for one in others:
        with tempfile.TemporaryDirectory() as folder:
            failure = test(one, Path(folder))
        if failure is not None:
            failures[one] = failure

    print(f"running: CPython {'.'.join(map(str, sys.version_info[:3]))}, tested by its own run")
    for one in others:
        print(f"{one}: {failures.get(one, 'passed')}")
    for version in missing:
        print(f"CPython {'.'.join(map(str, version))}: not on this machine, not tested")
    passed = len(others) - len(failures)
    print(f"interpreters: {passed} passed, {len(failures)} failed, {len(missing)} skipped")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
