"""`make demo-mcp`: the official client and servers, with the proxy between them. No node needed.

On stdio in both protocols, over HTTP, and the built-in tools as a server of their own. Ends with 1
where anything comes out otherwise than it says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

HERE = Path(__file__).parent
COMMAND = str(Path(sys.executable).parent / "tool-intent")
#: Where calls are recorded: this folder is part of somebody's repository.
LEDGER = {"TOOL_INTENT_LEDGER": tempfile.mkdtemp(prefix="tool-intent-demo-")}
SERVER = [sys.executable, str(HERE / "server.py")]
REASONS = {
    "intent": "Keep the shopping list right.",
    "rationale": "The user asked for coffee as well, a minute ago.",
}


def say(text: str = "") -> None:
    print(text, flush=True)


def expect(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"demo: expected that {what}")


async def person(_: Any, params: Any) -> types.ElicitResult:
    """The client's person: reads the question and says yes."""
    say("    the person is asked:")
    for line in params.message.splitlines():
        say(f"      | {line}")
    say("    and says yes")
    return types.ElicitResult(action="accept", content={"approve": True})


async def call(client: Client, tool: str, /, **args: Any) -> bool:
    """Make a call and show what came of it; whether it ran."""
    shown = ", ".join(f"{k}={v!r}" for k, v in args.items())
    say(f"  {tool}({shown})")
    result = await client.call_tool(tool, args)
    for block in result.content:
        for line in block.text.splitlines() if isinstance(block, types.TextContent) else ():
            say(f"    {line}")
    return not result.is_error


async def notes(transport: Any, mode: str) -> None:
    """A session with the notes server behind the proxy."""
    async with Client(transport, mode=mode, elicitation_callback=person) as client:
        say(f"  protocol {client.protocol_version}; the tools as the model sees them:")
        for tool in (await client.list_tools()).tools:
            say(f"    {tool.name}: {', '.join(tool.input_schema.get('required', [])) or 'nothing'}")
        expect(await call(client, "list"), "a tool that the policy leaves out runs as it is")
        expect(not await call(client, "write", name="todo", text="Buy coffee."), "it is refused")
        ran = await call(client, "write", name="todo", text="Buy coffee.", **REASONS)
        expect(ran, "the mended call runs")
        ran = await call(client, "delete", name="draft", **REASONS)
        expect(ran, "what a person approved runs")


async def builtin(place: str) -> None:
    """A session with the built-in tools as a server."""
    arguments = ["mcp", "--policy", "std/baseline", "--builtin", "--workspace", place]
    transport = stdio_client(StdioServerParameters(command=COMMAND, args=arguments, env=LEDGER))
    async with Client(transport) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        say(f"  the tools: {', '.join(tools)}")
        expect(not await call(client, "bash", command="rm -rf ."), "it is refused")
        expect(await call(client, "write", path="tea.txt", content="Tea.\n", **REASONS), "it runs")
    expect(Path(place, "tea.txt").read_text() == "Tea.\n", "the file is there")


def proxied() -> Any:
    arguments = ["mcp", "--ask", "elicit", "--server", "notes", "--", *SERVER]
    parameters = StdioServerParameters(command=COMMAND, args=arguments, cwd=str(HERE), env=LEDGER)
    return stdio_client(parameters)


def http() -> None:
    """The notes over HTTP, the proxy before them."""
    ports = []
    for _ in range(2):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
    behind, front = ports
    serve = f"import server; server.server.run('streamable-http', port={behind})"
    upstream = f"http://127.0.0.1:{behind}/mcp"
    commands = [
        [sys.executable, "-c", serve],
        [COMMAND, "mcp", "--ask", "elicit", "--server", "notes", "--listen",
         f"127.0.0.1:{front}", "--upstream", upstream],
    ]  # fmt: skip
    nowhere = subprocess.DEVNULL
    env = os.environ | LEDGER
    running = [
        subprocess.Popen(c, cwd=HERE, env=env, stdout=nowhere, stderr=nowhere) for c in commands
    ]
    try:
        for port in ports:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                time.sleep(0.05)
        asyncio.run(notes(f"http://127.0.0.1:{front}/mcp", "auto"))
    finally:
        for process in running:
            process.terminate()
            process.wait(10)


def kept() -> None:
    """What the ledger has of all that, each call with what came of it."""
    env = os.environ | LEDGER
    log = [COMMAND, "log", "--tool", "mcp__notes__*"]
    print(subprocess.run(log, env=env, capture_output=True, text=True, check=True).stdout)
    lines = subprocess.run(
        [*log, "--format", "json"], env=env, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    told = [json.loads(line) for line in lines]
    came_to = [
        (one["decision"]["verdict"], one["outcome"]["ok"]) for one in told if "outcome" in one
    ]
    # A server's question begins an approved call anew in the protocol of 2026-07-28.
    expect(sorted(came_to) == [("allow", True)] * 6 + [("ask", True)] * 3, "what ran has passed")


def main() -> None:
    try:
        shown()
    finally:
        shutil.rmtree(LEDGER["TOOL_INTENT_LEDGER"])


def shown() -> None:
    warnings.simplefilter("ignore")
    say("An MCP server of notes, behind tool-intent on stdio:")
    asyncio.run(notes(proxied(), "legacy"))
    say()
    say("The same in the protocol of 2026-07-28:")
    asyncio.run(notes(proxied(), "auto"))
    say()
    say("The same over HTTP:")
    http()
    say()
    with tempfile.TemporaryDirectory() as place:
        say("read, write, edit and bash as a server of their own:")
        asyncio.run(builtin(place))
    say()
    say("What the ledger has kept of the notes:")
    kept()
    say("Every call without its reason was refused; what ran, ran without the reasons.")


if __name__ == "__main__":
    main()
