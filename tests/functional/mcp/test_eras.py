"""Both protocols, 2025-11-25 and 2026-07-28, as the official SDK speaks them on both sides."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from .driving import Seen, client, quiet_deprecations
from .raw import COMMAND, REASONS
from .serving import free_port, http_proxy, running, stdio

SERVER = [sys.executable, str(Path(__file__).with_name("sdk_server.py"))]
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28"}
BOTH = [(t, m) for t in ("stdio", "http") for m in MODES]


class Sides:
    """The server behind a proxy, on stdio or over HTTP, for one client at a time."""

    def __init__(self, stack: ExitStack, place: Path, transport: str) -> None:
        self._place = place
        self._transport = transport
        if transport == "http":
            port = free_port()
            stack.enter_context(running([*SERVER, str(port)], port, place))
            upstream = f"http://127.0.0.1:{port}/mcp"
            self._url = stack.enter_context(http_proxy(upstream, "sdk", place, "--ask", "elicit"))

    def __call__(self, mode: str, seen: Seen) -> Client:
        if self._transport == "http":
            return client(self._url, seen, mode)
        command = [COMMAND, "mcp", "--ask", "elicit", "--server", "sdk", "--", *SERVER]
        return client(stdio(command, self._place), seen, mode)


@pytest.fixture(scope="module", params=["stdio", "http"])
def sides(request: pytest.FixtureRequest, place: Path) -> Any:
    with ExitStack() as stack:
        yield Sides(stack, place, request.param)


def driven(sides: Sides, mode: str, drive: Callable[[Client, Seen], Any]) -> Any:
    """What `drive` comes to with a connected client."""

    async def main() -> Any:
        seen = Seen()
        with quiet_deprecations():
            async with sides(mode, seen) as connected:
                assert connected.protocol_version == MODES[mode]
                return await drive(connected, seen)

    return asyncio.run(main())


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
def test_every_page_of_the_list_is_extended(sides: Sides, mode: str) -> None:
    async def drive(connected: Client, _: Seen) -> list[types.Tool]:
        tools, cursor = [], None
        while True:
            page = await connected.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if cursor is None:
                return tools

    tools = driven(sides, mode, drive)
    assert [t.name for t in tools] == ["echo", "danger", "more"]
    for tool in tools:
        assert tool.input_schema["required"] == ["intent", "rationale"]
        assert "required with each call" in tool.description


@pytest.mark.parametrize("mode", MODES)
def test_calls_are_refused_and_mended(sides: Sides, mode: str) -> None:
    async def drive(connected: Client, _: Seen) -> tuple[Any, Any, Any]:
        bad = await connected.call_tool("echo", {"message": "hi"})
        good = await connected.call_tool("echo", {"message": "hi", **REASONS})
        with pytest.raises(MCPError) as unknown:
            await connected.call_tool("hidden", {"message": "hi", **REASONS})
        return bad, good, unknown.value

    bad, good, unknown = driven(sides, mode, drive)
    assert bad.is_error
    assert "intent is missing" in text(bad)
    assert text(good) == "echo {'message': 'hi'} []"
    assert "lists no tool" in str(unknown)


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_person_is_asked(sides: Sides, mode: str) -> None:
    async def drive(connected: Client, seen: Seen) -> tuple[Any, list[Any]]:
        result = await connected.call_tool("danger", {"path": "/x", **REASONS})
        return result, seen.events

    result, events = driven(sides, mode, drive)
    assert text(result) == "danger {'path': '/x'} []"
    ((kind, params),) = events
    assert kind == "elicitation"
    assert "It cannot be undone." in params["message"]
    assert '{"path": "/x"}' in params["message"]


@pytest.mark.parametrize("mode", MODES)
def test_a_person_who_says_no_is_heeded(
    sides: Sides, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no(*_: object) -> types.ElicitResult:
        return types.ElicitResult(action="decline")

    monkeypatch.setattr(Seen, "elicit", no)

    async def drive(connected: Client, _: Seen) -> Any:
        return await connected.call_tool("danger", {"path": "/x", **REASONS})

    result = driven(sides, mode, drive)
    assert result.is_error
    assert "did not approve" in text(result)


def test_input_that_the_server_asks_for_reaches_it(sides: Sides) -> None:
    async def drive(connected: Client, seen: Seen) -> tuple[Any, list[Any]]:
        return await connected.call_tool("more", REASONS), seen.events

    result, events = driven(sides, "auto", drive)
    assert text(result) == "more {} ['who']"
    assert [kind for kind, _ in events] == ["elicitation"]


@pytest.mark.parametrize("mode", MODES)
def test_the_built_in_tools_serve_a_real_client(mode: str, place: Path, tmp_path: Path) -> None:
    command = [
        COMMAND,
        "mcp",
        "--policy",
        "std/baseline",
        "--builtin",
        "--workspace",
        str(tmp_path),
    ]
    seen = Seen()

    async def main() -> list[Any]:
        with quiet_deprecations():
            async with client(stdio(command, place), seen, mode) as connected:
                tools = await connected.list_tools()
                assert [t.name for t in tools.tools] == ["read", "write", "edit", "bash"]
                edits = [{"oldText": "one", "newText": "1", **REASONS}]
                return [
                    await connected.call_tool("write", {"path": "a", "content": "one"}),
                    await connected.call_tool("write", {"path": "a", "content": "one", **REASONS}),
                    await connected.call_tool("edit", {"path": "a", "edits": edits}),
                    await connected.call_tool("bash", {"command": "cat a; pwd", **REASONS}),
                    await connected.call_tool("read", {"path": "/etc/hostname", **REASONS}),
                ]

    refused, wrote, edited, ran, outside = asyncio.run(main())
    assert refused.is_error
    assert "intent is missing" in text(refused)
    assert not wrote.is_error
    assert not edited.is_error
    assert text(ran).split() == ["1", str(tmp_path)] or text(ran).startswith("1")
    assert outside.is_error
    assert (tmp_path / "a").read_text() == "1"
