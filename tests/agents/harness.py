"""Real sessions of pi, of either line, with the extension installed as its users install it and a
scripted model on loopback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from .installed import AGENTS, installed, node
from .scripted_model import Script, ScriptedModel

LINES: Final = ("pi-0.73", "pi-1")
#: Seconds that one session may take; far more than any does, even on a busy machine.
DEADLINE: Final = 120

_CLI: Final = {
    "pi-0.73": "@mariozechner/pi-coding-agent/dist/cli.js",
    "pi-1": "@earendil-works/pi-coding-agent/dist/bundle/cli.js",
}
_RUN: Final = "from tool_intent.cli import main; main()"


class Result(NamedTuple):
    """What a call came to, as the model is told."""

    text: str
    is_error: bool


class Session(NamedTuple):
    """A session that ended: how, what it printed, what the model was asked, and its file."""

    code: int
    events: list[dict[str, Any]]
    err: str
    requests: list[dict[str, Any]]
    entries: list[dict[str, Any]]

    @property
    def results(self) -> dict[str, Result]:
        """What each call came to, by its id, as the session file keeps it."""
        found: dict[str, Result] = {}
        for message in self.messages("toolResult"):
            text = "".join(c.get("text", "") for c in message["content"])
            found[message["toolCallId"]] = Result(text, message["isError"])
        return found

    def messages(self, role: str) -> list[dict[str, Any]]:
        """The messages of a role, in order, from the session file."""
        told = [e["message"] for e in self.entries if e["type"] == "message"]
        return [m for m in told if m["role"] == role]

    @property
    def calls(self) -> dict[str, dict[str, Any]]:
        """The arguments of each call as the session file keeps them, by the call's id."""
        content = [c for m in self.messages("assistant") for c in m["content"]]
        return {c["id"]: c["arguments"] for c in content if c["type"] == "toolCall"}

    def tool(self, name: str, request: int = 0) -> dict[str, Any]:
        """A tool as the model was shown it in a request."""
        shown = [t["function"] for t in self.requests[request].get("tools", ())]
        return next(t for t in shown if t["name"] == name)


def engine(folder: Path) -> Path:
    """An interpreter outside every workspace whose isolated mode has this checkout's engine."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    paths = [str(AGENTS.parents[1] / "engine"), *(p for p in sys.path if p.endswith("-packages"))]
    (site / "checkout.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
    return folder / "bin" / "python"


class Pi:
    """One line of pi for one user, in one workspace."""

    def __init__(self, line: str, python: Path, folder: Path) -> None:
        self.line = line
        self.home = folder / "home"
        self.workspace = folder / "workspace"
        self.agent = self.home / ".pi" / "agent"
        self.sessions = folder / "sessions"
        self.python = python
        self.agent.mkdir(parents=True, exist_ok=True)
        self.workspace.mkdir(exist_ok=True)
        self._packages = installed(line) / "node_modules"
        self.command = [node(line), str(self._packages / _CLI[line])]

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Nothing of the machine's own settings, so that results do not depend on them."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
        } | dict(more or {})

    def tool_intent(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `tool-intent` in the workspace."""
        return subprocess.run(
            [self.python, "-I", "-c", _RUN, *arguments],
            cwd=self.workspace,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )

    def install(self, *options: str) -> None:
        """Install the extension, as a person does."""
        done = self.tool_intent("pi", "install", *options)
        assert done.returncode == 0, done.stderr

    def policy(self, text: str) -> Path:
        """Write the workspace's policy."""
        path = self.workspace / ".tool-intent" / "policy.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def serve(self, model: ScriptedModel) -> None:
        """Make a scripted model the one that this user's pi knows."""
        compat = {
            "supportsDeveloperRole": False,
            "supportsReasoningEffort": False,
            "supportsStrictMode": True,
        }
        provider = {
            "baseUrl": model.url,
            "api": "openai-completions",
            "apiKey": "invented",
            "compat": compat,
            "models": [{"id": "scripted", "contextWindow": 1_000_000, "maxTokens": 4096}],
        }
        models = {"providers": {"loopback": provider}}
        (self.agent / "models.json").write_text(json.dumps(models), encoding="utf-8")

    def arguments(self, mode: str, extensions: Iterable[Path], more: Sequence[str]) -> list[str]:
        """The command line of a session."""
        given = ["--mode", mode, "--model", "loopback/scripted", "--session-dir", str(self.sessions)]
        for extension in extensions:
            given += ["-e", str(extension)]
        return [*self.command, *given, *more]

    def run(
        self,
        script: Script,
        *more: str,
        mode: str = "json",
        extensions: Iterable[Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Session:
        """A session that answers one prompt and ends by itself."""
        before = set(self.files())
        with ScriptedModel(script) as model:
            self.serve(model)
            run = subprocess.run(
                self.arguments(mode, extensions, [*more, "go"]),
                cwd=self.workspace,
                env=self.environment(environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=DEADLINE,
                check=False,
            )
            requests = list(model.requests)
        entries = [e for path in self.files() if path not in before for e in read(path)]
        events = [json.loads(x) for x in run.stdout.splitlines() if x.startswith("{")]
        return Session(run.returncode, events, run.stderr, requests, entries)

    def files(self) -> list[Path]:
        """The session files, oldest first."""
        return sorted(self.sessions.glob("*.jsonl")) if self.sessions.is_dir() else []

    def shell(self, *more: str) -> str:
        """The command line for a shell, of an interactive session."""
        given = ["--model", "loopback/scripted", "--session-dir", str(self.sessions), *more]
        return shlex.join([*self.command, *given])


def read(path: Path) -> list[dict[str, Any]]:
    """The entries of a session file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """A step of one message with these calls."""
    return {"calls": [{"name": name, "args": args} for name, args in made]}


def reasoned(**args: Any) -> dict[str, Any]:
    """Arguments with reasons."""
    return args | {
        "intent": "Keep the notes of the release",
        "rationale": "The checklist of the release asks for them in one file",
    }
