"""What a call costs over the bridge, beside a bare JSON-RPC answer over such pipes."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from measure import Subject

_MAIN: Final = "from tool_intent.surfaces.bridge import main; main()"
#: The least that answers JSON-RPC, line by line.
_BARE: Final = """\
import json, sys
out = sys.stdout.buffer
for line in sys.stdin.buffer:
    asked = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": asked["params"]}
    out.write(json.dumps(answer).encode() + b"\\n")
    out.flush()
"""
_POLICY: Final = """\
version: 1
extends: std/baseline
rules: |
  rule keys/private on write
    forbid content mentions "BEGIN PRIVATE KEY" else deny "A private key."
"""
_FIELDS: Final = {"intent": "Keep the notes", "rationale": "The release asks for them"}
_TIMES: Final = 50


class _Child:
    """A process that answers one line for each line."""

    def __init__(self, code: str, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environment),
        )
        atexit.register(self.close)

    def ask(self, line: bytes) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())["result"]

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def subjects(folder: Path) -> dict[str, Subject]:
    """A bare answer, decisions on a small and a large write, a child's way to its first."""
    workspace = folder / "bridge"
    (workspace / ".tool-intent").mkdir(parents=True)
    (workspace / ".tool-intent" / "policy.yaml").write_text(_POLICY, encoding="utf-8")
    environment = dict(os.environ)
    bare, engine = _Child(_BARE, environment), _Child(_MAIN, environment)
    hello = _line("hello", {"protocol": 1, "cwd": str(workspace)})
    engine.ask(hello)
    ping = _line("ping", {"tool": "write", "id": "call_1"})
    small, large = _write("one line\n"), _write("x" * 99 * 1_000)
    for line in (small, large):
        assert engine.ask(line)["decision"] == "allow"

    def asking(child: _Child, line: bytes) -> Subject:
        def run() -> None:
            for _ in range(_TIMES):
                child.ask(line)

        return Subject(run)

    def ready() -> None:
        child = _Child(_MAIN, environment)
        child.ask(hello)
        child.close()

    def passed() -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    return {
        "bridge ping": asking(bare, ping),
        "bridge small": asking(engine, small),
        "bridge 100 KB": asking(engine, large),
        "bridge ready": Subject(ready, every=4),
        "bridge pass": Subject(passed, every=4),
    }


def _line(method: str, params: dict[str, Any]) -> bytes:
    """A request; written down before the clock runs, for the host is no part of the engine."""
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(request).encode() + b"\n"


def _write(content: str) -> bytes:
    args = {"path": "notes.txt", "content": content} | _FIELDS
    return _line("decide", {"tool": "write", "args": args, "id": "call_1", "session": "s"})
