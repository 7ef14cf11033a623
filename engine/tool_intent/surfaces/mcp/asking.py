"""A client of the least kind: starts a server, asks it a few things, ends it."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from tool_intent.surfaces.mcp.listing import is_listing

#: Seconds that a server has to start, and to answer.
PATIENCE: Final = 30.0
_PROTOCOL: Final = "2025-11-25"


class NoAnswer(Exception):
    """A server that was started does not tell; `str` says what it does instead."""


class Asking:
    """A started server, to be used in a `with`. What it says on standard error is lost."""

    def __init__(
        self, command: Sequence[str], cwd: str | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        """`env` is added to our own. Raises OSError where nothing can be started."""
        self._process = subprocess.Popen(  # noqa: S603 (what the person's client runs)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=cwd, env=os.environ | dict(env or {}),
        )  # fmt: skip
        self._rest = b""
        self._asked = 0

    def __enter__(self) -> Self:
        try:
            client = {"name": "tool-intent", "version": "1"}
            hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": client}
            self.ask("initialize", hello)
            self._send({"method": "notifications/initialized"})
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request, a result or an error. Raises NoAnswer."""
        self._asked += 1
        self._send({"id": self._asked, "method": method, "params": params})
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        end = time.monotonic() + PATIENCE
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                *lines, self._rest = self._rest.split(b"\n")
                for line in lines:
                    answer = _answer(line)
                    if answer is not None and answer.get("id") == self._asked:
                        return answer
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise NoAnswer(f"no answer within {PATIENCE:.0f} seconds")
                data = os.read(descriptor, 1 << 16)
                if not data:
                    raise NoAnswer("it ended before it answered")
                self._rest += data

    def tools(self) -> list[dict[str, Any]]:
        """All tools that the server lists, page by page. Raises NoAnswer."""
        tools: list[dict[str, Any]] = []
        page: dict[str, Any] = {}
        while True:
            answer = self.ask("tools/list", page)
            if not is_listing(answer):
                raise NoAnswer(f"it does not list its tools: {json.dumps(answer.get('error'))}")
            listed = answer["result"]["tools"]
            tools += [t for t in listed if isinstance(t, dict) and isinstance(t.get("name"), str)]
            following = answer["result"].get("nextCursor")
            if not isinstance(following, str) or following == page.get("cursor"):
                return tools
            page = {"cursor": following}

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise NoAnswer("it ended before it was asked") from None

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            try:
                if stream is not None:
                    stream.close()
            except BrokenPipeError:
                continue


def _answer(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) and "method" not in message else None
