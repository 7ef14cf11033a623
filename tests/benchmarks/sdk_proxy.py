"""A proxy as the official SDK suggests one: its server before its client, handler by handler.

Started as `python sdk_proxy.py COMMAND…`. It extends and judges nothing; it is there to be timed.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main() -> None:
    first, *rest = sys.argv[1:]
    async with Client(
        stdio_client(StdioServerParameters(command=first, args=rest)), mode="legacy"
    ) as behind:

        async def on_list(_: Any, __: Any) -> Any:
            return await behind.list_tools()

        async def on_call(_: Any, params: Any) -> Any:
            return await behind.call_tool(params.name, params.arguments)

        server: Server[Any] = Server("proxy", on_list_tools=on_list, on_call_tool=on_call)
        async with stdio_server() as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
