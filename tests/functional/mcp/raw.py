"""A client that writes bytes and reads lines, so that it can say what no library would."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Self

COMMAND: Final = str(Path(sys.executable).parent / "tool-intent")
ODD: Final = str(Path(__file__).with_name("odd.py"))
LENIENT: Final = str(Path(__file__).with_name("lenient.py"))
#: Seconds that an answer may take; far more than any does, even on a busy machine.
DEADLINE: Final = 30.0
REASONS: Final = {"intent": "Build the index.", "rationale": "The reporter asked for it."}
POLICY: Final = """\
version: 1
policy: acme/mcp
fields:
  intent: {description: The goal.}
  rationale: {description: Why it is right., minLength: 10}
tools:
  "mcp__*": {require: [intent, rationale]}
  mcp__s__change: {at: "edits[]", require: [intent, rationale]}
"""
_CLIENT: Final = {"name": "raw", "version": "1"}


class Raw:
    """Talks to a process on its standard streams; to be used in a `with`."""

    def __init__(
        self, command: Sequence[str], cwd: Path, home: Path, *, stderr: int = subprocess.DEVNULL
    ) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, cwd=cwd, env=env
        )
        assert self.process.stdin is not None
        self._in = self.process.stdin
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._last_id = 0
        #: What was read while something else was waited for.
        self.passed_over: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self._in.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def send(self, data: bytes | dict[str, Any] | list[Any]) -> None:
        """Write bytes as they are, or a message as a line."""
        if not isinstance(data, bytes):
            data = json.dumps(data).encode() + b"\n"
        self._in.write(data)
        self._in.flush()

    def close(self) -> None:
        """Say that nothing more comes."""
        self._in.close()

    def line(self, deadline: float = DEADLINE) -> bytes | None:
        """The next line, or None at the end. Fails at the deadline."""
        try:
            return self._lines.get(timeout=deadline)
        except queue.Empty:
            raise AssertionError(f"no line within {deadline} seconds") from None

    def until(self, wanted: Callable[[Any], bool]) -> Any:
        """The first message that is wanted."""
        while (line := self.line()) is not None:
            try:
                message = json.loads(line)
            except ValueError:
                message = line
            if wanted(message):
                return message
            self.passed_over.append(message)
        raise AssertionError(f"the stream ended; before that came {self.passed_over}")

    def answer(self, id: Any) -> Any:
        """The answer to the request with this id."""
        return self.until(
            lambda m: isinstance(m, dict) and "method" not in m and "id" in m and m["id"] == id
        )

    def ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        """The answer to a request."""
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}}
        self.send(message)
        return self.answer(self._last_id)

    def call(self, name: str, /, **args: Any) -> Any:
        """The answer to a call."""
        return self.ask("tools/call", {"name": name, "arguments": args})

    def hello(self, **capabilities: Any) -> Any:
        """The answer to initialize, in the protocol of 2025-11-25."""
        params = {
            "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": _CLIENT,
        }  # fmt: skip
        answer = self.ask("initialize", params)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer


def proxied(command: Sequence[str], *options: str) -> list[str]:
    """The proxy, under the name `s`, in front of a command."""
    return [COMMAND, "mcp", "--server", "s", *options, "--", *command]


def odd(*habits: str) -> list[str]:
    """A server with bad habits."""
    return [sys.executable, ODD, *habits]


def lenient(log: Path) -> list[str]:
    """The server that understands everything and writes what it runs to `log`."""
    return [sys.executable, LENIENT, str(log)]


def text(answer: Any) -> str:
    """What the model reads of an answer to a call."""
    said: str = answer["result"]["content"][0]["text"]
    return said


def refused(answer: Any) -> bool:
    """Whether an answer is a refusal of ours: a failed result of text alone."""
    result = answer.get("result", {})
    only_text = set(result) <= {"content", "isError", "resultType"}
    return only_text and result.get("isError") is True and "tool-intent" in text(answer)
