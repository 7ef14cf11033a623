"""Real sessions of pi, of either line, with the extension installed as its users install it and a
scripted model on loopback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import venv
from collections.abc import Callable, Iterable, Mapping, Sequence
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

    @property
    def told(self) -> dict[str, str]:
        """What the model was told of each call, by its id, in the first request that tells it."""
        messages = [m for r in self.requests for m in r["messages"] if m["role"] == "tool"]
        found: dict[str, str] = {}
        for message in messages:
            found.setdefault(message["tool_call_id"], _text(message["content"]))
        return found

    def tool(self, name: str, request: int = 0) -> dict[str, Any]:
        """A tool as the model was shown it in a request."""
        shown = [t["function"] for t in self.requests[request].get("tools", ())]
        return next(t for t in shown if t["name"] == name)


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(c.get("text", "") for c in content)


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

    @property
    def ledger(self) -> Path:
        """The user's ledger: the workspace is no repository."""
        return self.home / ".local" / "state" / "tool-intent"

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
        given = [
            "--mode",
            mode,
            "--model",
            "loopback/scripted",
            "--session-dir",
            str(self.sessions),
        ]
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
        before = {path: len(read(path)) for path in self.files()}
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
        entries = [e for path in self.files() for e in read(path)[before.get(path, 0) :]]
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


class Rpc:
    """A session driven line by line, where a person can be asked."""

    def __init__(self, pi: Pi, script: Script, answers: Sequence[bool] = ()) -> None:
        """`answers` are what the person says to each dialogue, in order."""
        self.pi = pi
        self.model = ScriptedModel(script)
        self.asked: list[dict[str, Any]] = []
        self.told: list[str] = []
        self._answers = list(answers)
        self._before = set(pi.files())

    def __enter__(self) -> Rpc:
        self.model.__enter__()
        self.pi.serve(self.model)
        self._process = subprocess.Popen(
            self.pi.arguments("rpc", (), ()),
            cwd=self.pi.workspace,
            env=self.pi.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._watch = threading.Timer(DEADLINE, self._process.kill)
        self._watch.start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._watch.cancel()
            self.model.__exit__(None, None, None)

    def kill(self) -> None:
        """End pi as a crash does."""
        self._process.kill()
        self._process.wait()

    def prompt(self, text: str) -> None:
        """Say something to the model, and wait until it has done with it."""
        end = {"pi-0.73": "agent_end", "pi-1": "agent_settled"}[self.pi.line]
        self._send({"type": "prompt", "message": text})
        self._until(lambda event: event["type"] == end)

    def command(self, **command: Any) -> None:
        """Send a command, and wait for its answer."""
        self._send(command)
        self._until(lambda e: e["type"] == "response" and e["command"] == command["type"])

    @property
    def results(self) -> dict[str, Result]:
        """What calls came to, by id, over all session files of this process."""
        paths = [path for path in self.pi.files() if path not in self._before]
        found: dict[str, Result] = {}
        for path in paths:
            found |= Session(0, [], "", [], read(path)).results
        return found

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _until(self, ends: Callable[[dict[str, Any]], bool]) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            if event["type"] == "extension_ui_request":
                self._answer(event)
            if ends(event):
                return
        raise AssertionError("pi ended before it was done")

    def _answer(self, request: dict[str, Any]) -> None:
        if request["method"] == "confirm":
            self.asked.append(request)
            said = self._answers.pop(0)
            self._send({"type": "extension_ui_response", "id": request["id"], "confirmed": said})
        elif request["method"] == "notify":
            self.told.append(request["message"])


def children_of(python: Path) -> list[int]:
    """The process ids of engines that were started with an interpreter."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if command[0] == os.fsencode(python) and any(b"surfaces.bridge" in c for c in command):
            found.append(int(folder.name))
    return found
