"""What is wrong with the way a client reaches its MCP servers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from tool_intent.surfaces.mcp.asking import Asking, NoAnswer
from tool_intent.surfaces.mcp.settings import Entry, Unreadable, entries, is_toml
from tool_intent.surfaces.mcp.wrapping import behind

#: Settings of clients, below the project's folder and below home.
_IN_PROJECT: Final = (".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".pi/mcp.json",
                      ".codex/config.toml")  # fmt: skip
_AT_HOME: Final = (".claude.json", ".cursor/mcp.json", ".pi/agent/mcp.json", ".codex/config.toml")
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
    nothing runs."""
    entry = server.entry
    env, cwd = entry.table.get("env"), entry.table.get("cwd")
    own = {k: str(v) for k, v in env.items()} if isinstance(env, dict) else {}
    try:
        with Asking(entry.command, cwd if isinstance(cwd, str) else None, own) as asking:
            tools = asking.tools()
            refusal = asking.ask("tools/call", {"name": _CANARY, "arguments": {}})
    except (OSError, NoAnswer) as error:
        yield Finding(
            "mcp/does-not-start", "error", server.where, f"does not answer: {error}",
            "Run the entry's command by hand and read what it says on standard error.",
        )  # fmt: skip
        return
    if "tool-intent: " not in json.dumps(refusal.get("error", "")):
        yield Finding(
            "mcp/not-judged", "error", server.where,
            "a call of a tool that does not exist reached the server",
            "The command in front is not the proxy it is called after.",
        )  # fmt: skip
        return
    yield Finding("mcp/judged", "ok", server.where, f"calls of its {len(tools)} tools are judged")
