"""A filter in front of a server called `s`, whose tools are listed by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tool_intent.compiler.loading import load
from tool_intent.guard.guard import Guard
from tool_intent.surfaces.mcp.filter import Filter
from tool_intent.surfaces.mcp.session import Session

POLICY = """\
version: 1
policy: acme/mcp
fields:
  intent: {description: The goal.}
tools:
  "mcp__s__*": {require: [intent], except: [mcp__s__free]}
  mcp__s__change: {at: "edits[]", require: [intent]}
rules: |
  rule acme/danger on mcp__s__danger
    ask "It cannot be undone."
  rule acme/after-look on mcp__s__after
    require earlier mcp__s__look passed within 9 calls
    else deny "Look first."
  rule acme/after-danger on mcp__s__wiped
    require earlier mcp__s__danger passed within 9 calls
  rule acme/after-failure on mcp__s__failing
    require earlier mcp__s__danger failed within 9 calls
"""
TEXT = {"type": "string"}
TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": name, "inputSchema": {"type": "object", "properties": props}}
    for name, props in {
        "run": {"command": TEXT}, "danger": {}, "look": {}, "after": {}, "free": {"a": TEXT},
        "change": {"edits": {"type": "array", "items": {"type": "object", "properties": {}}}},
        "own": {"intent": TEXT}, "wiped": {}, "failing": {},
    }.items()
]  # fmt: skip


class Bench:
    """A filter, and what it said and passed on."""

    def __init__(self, guard: Guard, *, elicit: bool) -> None:
        self.notes: list[str] = []
        self.session = Session(guard, "s", elicit=elicit, note=self.notes.append)
        self.filter = Filter(self.session)

    def client(self, message: Any) -> tuple[list[bytes], list[bytes]]:
        """What goes to the client and to the server after a message (bytes: a line) of the
        client's."""
        self.filter.from_client(line(message))
        return self._drained()

    def server(self, message: Any) -> tuple[list[bytes], list[bytes]]:
        """The same, after a message of the server's."""
        self.filter.from_server(line(message))
        return self._drained()

    def _drained(self) -> tuple[list[bytes], list[bytes]]:
        sent = list(self.filter.to_client), list(self.filter.to_server)
        self.filter.to_client.clear()
        self.filter.to_server.clear()
        return sent

    def list(self, tools: list[Any] | None = None) -> Any:
        """Let the client ask for the tools; the list as it is shown."""
        self.client(request("l", "tools/list"))
        shown, _ = self.server(result("l", {"tools": TOOLS if tools is None else tools}))
        return json.loads(shown[0])["result"]["tools"]


def line(message: Any) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"


def request(id: Any, method: str, /, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def call(id: Any, name: str, /, **args: Any) -> dict[str, Any]:
    return request(id, "tools/call", name=name, arguments=args)


def result(id: Any, value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": value}


def parsed(lines: list[bytes]) -> list[Any]:
    return [json.loads(one) for one in lines]


@pytest.fixture(scope="session")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("filter")
    (folder / "p.yaml").write_text(POLICY, encoding="utf-8")
    off = {"TOOL_INTENT_CACHE": "off"}
    return load([str(folder / "p.yaml")], cwd=str(folder), found=False, environ=off)


@pytest.fixture
def bench(artifact: Any) -> Bench:
    return Bench(Guard(artifact), elicit=False)


@pytest.fixture
def asking(artifact: Any) -> Bench:
    return Bench(Guard(artifact), elicit=True)
