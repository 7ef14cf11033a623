"""The pi that is here: its command, version and package, and the extensions that it loads."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final, NamedTuple

from tool_intent.surfaces.capabilities import Capabilities

PACKAGES: Final = ("@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent")
_HERE: Final = Path(__file__).parent
#: Seconds that pi may take to say its version, or to load its extensions.
_DEADLINE: Final = 60

CAPABILITIES: Final = Capabilities(
    extend="the live schema of every tool: built in, of other extensions, of MCP servers",
    deny="yes; too many refusals in a row end the run",
    ask="in the terminal and over RPC; denied where nobody can be asked",
    strip="in the host's own arguments, which are then frozen",
    outcomes="told when the turn is over",
)


class HostError(Exception):
    """There is no pi that can be looked at; the text says why."""


class Host(NamedTuple):
    """A pi: the command that starts it, its version, and the folder of its package."""

    command: tuple[str, ...]
    version: str
    package: Path

    @property
    def is_new(self) -> bool:
        """Whether it is of the 1.x line."""
        return self.version.partition(".")[0] != "0"


class Loaded(NamedTuple):
    """An extension that pi loads: its file, and the events that it handles."""

    path: str
    events: tuple[str, ...]


def find(command: str | None) -> Host:
    """The pi that a command line starts (default: `pi` on PATH). Raises HostError."""
    words = shlex.split(command) if command else ["pi"]
    program = shutil.which(words[0]) if words else None
    if program is None:
        raise HostError(
            f"there is no {words[0] if words else 'command'!r} on PATH (--pi names one)"
        )
    words[0] = program
    script = next((w for w in reversed(words) if w.endswith(".js")), program)
    package = _package(Path(script).resolve())
    said = _output([*words, "--version"], Path("/")).strip().splitlines()
    manifest = json.loads((package / "package.json").read_text(encoding="utf-8"))
    return Host(tuple(words), said[-1] if said else manifest["version"], package)


def loaded(host: Host, workspace: Path) -> list[Loaded]:
    """The extensions that pi loads for a session in `workspace`, in order. Raises HostError."""
    node = host.command[0] if len(host.command) > 1 else shutil.which("node")
    if node is None:
        raise HostError("there is no node on PATH")
    script = str(_HERE / "canary" / "order.mjs")
    text = _output([node, script, str(host.package), str(workspace)], workspace)
    try:
        found: list[dict[str, Any]] = json.loads(text.strip().splitlines()[-1])
    except (ValueError, IndexError):
        raise HostError("pi did not say which extensions it loads") from None
    return [Loaded(one["path"], tuple(one["events"])) for one in found]


def after_ours(found: list[Loaded], folder: Path) -> list[str]:
    """The extensions whose `tool_call` handlers run after ours: they see what was judged, and a
    change of it stops the call. Empty where ours is not loaded."""
    ours = [n for n, one in enumerate(found) if Path(one.path).is_relative_to(folder)]
    if not ours:
        return []
    return [one.path for one in found[ours[0] + 1 :] if "tool_call" in one.events]


def _package(script: Path) -> Path:
    for folder in script.parents:
        manifest = folder / "package.json"
        if manifest.is_file():
            name = json.loads(manifest.read_text(encoding="utf-8")).get("name")
            if name in PACKAGES:
                return folder
    raise HostError(f"{script} is not the command of {' or '.join(PACKAGES)}")


def _output(command: list[str], cwd: Path) -> str:
    try:
        run = subprocess.run(  # noqa: S603 (the person's own pi or interpreter)
            command,
            cwd=cwd,
            env=os.environ | {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{command[0]} cannot be started ({error})") from None
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise HostError(f"{shlex.join(command)} failed: {last}")
    return run.stdout
