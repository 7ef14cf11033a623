"""A call that must not run, sent through the real pi by a model on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple

from tool_intent.surfaces.pi.host import Host

_EXTENSION: Final = Path(__file__).with_name("canary.ts")
#: Seconds that the session may take.
_DEADLINE: Final = 120
#: Asks of every call what no model says, at session rank: it adds to the policies that apply.
_POLICY: Final = """\
version: 1
policy: tool-intent/canary
fields:
  tool_intent_canary: {description: Asked by tool-intent doctor.}
tools:
  "*": {require: [tool_intent_canary]}
"""
_FIELD: Final = "tool_intent_canary"


class Flight(NamedTuple):
    """What came of the canary: whether it ran, what the model was told instead, and of each tool
    whether its schema took a field."""

    ran: bool
    told: str
    tools: dict[str, bool]
    problem: str | None = None


def fly(host: Host, workspace: Path, *, fallback: str | None, trust: bool) -> Flight:
    """Let a scripted model ask the real pi, in `workspace`, to write a file without a reason.

    `fallback` is the pack that is judged by where no policy is found; `trust`: load what the
    project's own `.pi` holds.
    """
    with tempfile.TemporaryDirectory(prefix="tool-intent-canary-") as folder:
        policy = Path(folder) / "canary.yaml"
        policy.write_text(_POLICY, encoding="utf-8")
        target = Path(folder) / "canary.txt"
        server = _Model(str(target))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            problem = _session(host, workspace, server, _sources(policy, fallback), trust)
        finally:
            server.shutdown()
            server.server_close()
        return _flight(server, target.exists(), problem)


def _sources(policy: Path, fallback: str | None) -> str:
    given = os.environ.get("TOOL_INTENT_POLICY", "")
    return os.pathsep.join(s for s in (given, str(policy), fallback) if s)


def _session(host: Host, workspace: Path, server: _Model, sources: str, trust: bool) -> str | None:
    command = [*host.command, "--mode", "json", "--no-session", "-e", str(_EXTENSION)]
    command += ["--model", "tool-intent-canary/canary", *(["--approve"] if trust else []), "go"]
    more = {
        "TOOL_INTENT_CANARY": f"http://127.0.0.1:{server.server_port}/v1",
        "TOOL_INTENT_POLICY": sources,
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
    }
    try:
        run = subprocess.run(  # noqa: S603 (the person's own pi or interpreter)
            command,
            cwd=workspace,
            env=os.environ | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"pi did not end its session ({error})"
    if server.requests:
        return None
    said = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
    return f"pi asked no model (exit code {run.returncode}): {said}"


def _flight(server: _Model, ran: bool, problem: str | None) -> Flight:
    tools: dict[str, bool] = {}
    for tool in (t["function"] for r in server.requests[:1] for t in r.get("tools", ())):
        shown = json.dumps(tool["parameters"])
        tools[tool["name"]] = f'"{_FIELD}"' in shown
    told = [m for r in server.requests for m in r["messages"] if m["role"] == "tool"]
    text = "".join(_text(m["content"]) for m in told[:1])
    return Flight(ran, text, tools, problem)


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(c.get("text", "") for c in content)


class _Model(ThreadingHTTPServer):
    """Answers the first request with the canary, and all others with a word."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.requests: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    server: _Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        first = not any(m["role"] == "assistant" for m in body["messages"])
        args = json.dumps({"path": self.server.target, "content": "the canary ran\n"})
        call = {"index": 0, "id": "canary", "type": "function",
                "function": {"name": "write", "arguments": args}}  # fmt: skip
        delta = {"role": "assistant", "tool_calls": [call]} if first else {"content": "done"}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for part, end in ((delta, None), ({}, "tool_calls" if first else "stop")):
            chunk = {
                "id": "canary", "object": "chat.completion.chunk", "created": 0, "model": "canary",
                "choices": [{"index": 0, "delta": part, "finish_reason": end}],
            }  # fmt: skip
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: object) -> None:
        """Standard error is for what goes wrong."""
