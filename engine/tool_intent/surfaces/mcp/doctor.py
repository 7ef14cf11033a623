"""What is wrong with the way a client reaches its MCP servers."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from tool_intent.surfaces.mcp.listing import is_listing
from tool_intent.surfaces.mcp.settings import Entry, Unreadable, entries, is_toml
from tool_intent.surfaces.mcp.wrapping import behind

#: Settings of clients, below the project's folder and below home.
_IN_PROJECT: Final = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".pi/mcp.json",
                      ".codex/config.toml")  # fmt: skip
_AT_HOME: Final = (".claude.json", ".cursor/mcp.json", ".pi/agent/mcp.json", ".codex/config.toml")
#: Seconds that a server has to start and answer.
_PATIENCE: Final = 30.0
_CANARY: Final = "tool-intent-canary"


class Finding(NamedTuple):
    """Something a doctor says. `where` is FILE: NAME of the server's entry."""

    code: str
    severity: Literal["error", "warning", "ok"]
    where: str
    message: str
    help: str = ""


class _Server(NamedTuple):
    where: str
    entry: Entry

    @property
    def real(self) -> list[str]:
        """The command of the server itself, behind the proxy or not."""
        return behind(self.entry) or self.entry.command


def known_settings(project: str, home: str) -> list[str]:
    """The settings files of known clients that exist."""
    paths = [os.path.join(project, p) for p in _IN_PROJECT]
    paths += [os.path.join(home, p) for p in _AT_HOME]
    return [path for path in dict.fromkeys(paths) if os.path.isfile(path)]


def examined(paths: Sequence[str], *, canary: bool = True) -> Iterator[Finding]:
    """Findings on the servers that settings name; with `canary`, each proxied one is started as
    its client would, and called in vain."""
    servers: list[_Server] = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            found = entries(text, toml=is_toml(path))
        except (OSError, ValueError) as error:
            why = error if isinstance(error, Unreadable) else f"cannot be read: {error}"
            yield Finding("mcp/unreadable", "error", path, str(why), "Mend the file by hand.")
            continue
        servers += [_Server(f"{path}: {entry.name}", entry) for entry in found]
    proxied = [s for s in servers if behind(s.entry) is not None]
    for server in servers:
        if server in proxied:
            yield from _canary(server) if canary else ()
        else:
            yield _direct(server, proxied)


def _direct(server: _Server, proxied: Sequence[_Server]) -> Finding:
    twin = next((p for p in proxied if p.real and p.real == server.real), None)
    if twin is not None:
        return Finding(
            "mcp/direct-entry", "error", server.where,
            f"reaches the server directly that {twin.where} puts behind the proxy",
            "Remove this entry, or wrap it too: tool-intent mcp wrap FILE.",
        )  # fmt: skip
    if server.entry.url is not None:
        return Finding(
            "mcp/by-address", "warning", server.where,
            f"is reached at {server.entry.url}, and nothing here tells whether that is a proxy",
            "Put tool-intent mcp --listen … --upstream … before it.",
        )  # fmt: skip
    return Finding(
        "mcp/not-proxied", "warning", server.where, "is reached directly: no call is judged",
        "tool-intent mcp wrap FILE",
    )  # fmt: skip


def _canary(server: _Server) -> Iterator[Finding]:
    """Start the server as the client does, and call a tool that nobody has: the proxy says so, and
    nothing runs. Then see whether the tools carry their fields."""
    try:
        answers = _asked(server.entry)
    except (OSError, TimeoutError, ValueError) as error:
        yield Finding(
            "mcp/does-not-start", "error", server.where, f"does not answer: {error}",
            "Run the entry's command by hand and read what it says on standard error.",
        )  # fmt: skip
        return
    if not is_listing(answers[_LIST]):
        said = json.dumps(answers[_LIST].get("error"))
        yield Finding(
            "mcp/does-not-start", "error", server.where, f"does not list its tools: {said}",
            "Run the entry's command by hand and read what it says on standard error.",
        )  # fmt: skip
        return
    refusal = json.dumps(answers[_CALL].get("error", ""))
    if "tool-intent: " not in refusal:
        yield Finding(
            "mcp/not-judged", "error", server.where,
            "a call of a tool that does not exist reached the server",
            "The command in front is not the proxy it is called after.",
        )  # fmt: skip
        return
    tools = answers[_LIST]["result"]["tools"]
    yield Finding("mcp/judged", "ok", server.where, f"calls of its {len(tools)} tools are judged")


_HELLO, _LIST, _CALL = 1, 2, 3


def _requests(cursor: str | None = None) -> list[dict[str, Any]]:
    client = {"name": "tool-intent", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    page = {} if cursor is None else {"cursor": cursor}
    return [
        {"id": _HELLO, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": _LIST, "method": "tools/list", "params": page},
    ]


def _asked(entry: Entry) -> dict[int, Any]:
    """The answers to our requests, by id. Raises OSError, TimeoutError, ValueError."""
    env, cwd = entry.table.get("env"), entry.table.get("cwd")
    own = {k: str(v) for k, v in env.items()} if isinstance(env, dict) else {}
    canary = {"name": _CANARY, "arguments": {}}
    call = {"id": _CALL, "method": "tools/call", "params": canary}
    folder = cwd if isinstance(cwd, str) else None
    return _answers([*_requests(), call], entry.command, folder, os.environ | own)


def asked_for_tools(command: Sequence[str], cwd: str) -> list[dict[str, Any]]:
    """All tools that a server lists, which is started for that. Raises as OSError, TimeoutError or
    ValueError where it does not tell."""
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        answer = _answers(_requests(cursor), command, cwd, dict(os.environ))[_LIST]
        if not is_listing(answer):
            raise ValueError(f"it does not list its tools: {json.dumps(answer)[:200]}")
        result = answer["result"]
        tools += [t for t in result["tools"] if isinstance(t, dict) and "name" in t]
        following = result.get("nextCursor")
        if not isinstance(following, str) or following == cursor:
            return tools
        cursor = following


def _answers(
    requests: Sequence[dict[str, Any]], command: Sequence[str], cwd: str | None, env: dict[str, str]
) -> dict[int, Any]:
    """What a server that is started for it answers, by id; then it is ended."""
    process = subprocess.Popen(  # noqa: S603 (what the person's client runs)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=env, cwd=cwd,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for request in requests:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n")
        process.stdin.flush()
        return _read(process.stdout.fileno(), {r["id"] for r in requests if "id" in r})
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdin.close()
        process.stdout.close()


def _read(descriptor: int, wanted: set[int]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    end = time.monotonic() + _PATIENCE
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while not wanted <= found.keys():
            if not selector.select(max(0.0, end - time.monotonic())):
                raise TimeoutError(f"no answer within {_PATIENCE:.0f} seconds")
            data = os.read(descriptor, 1 << 16)
            if not data:
                raise ValueError("it ended before it answered")
            *lines, rest = (rest + data).split(b"\n")
            for line in filter(None, lines):
                message = json.loads(line)
                if "method" not in message and isinstance(message.get("id"), int):
                    found[message["id"]] = message
    return found
