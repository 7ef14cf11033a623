"""The built-in tools as an MCP server, by the official SDK. It judges nothing: `tool-intent mcp
--builtin` runs it as a child, behind the same proxy as any other server."""

from __future__ import annotations

import sys

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tool_intent.__about__ import __version__
from tool_intent.tools import Builtin, Workspace


def server(workspace: str) -> Server[object]:
    """read, write, edit and bash in the folder `workspace`."""
    builtin = Builtin(Workspace(workspace))
    listed = [
        types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema)
        for tool in builtin.tools.values()
    ]

    async def on_list(_: object, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def on_call(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        result = await anyio.to_thread.run_sync(builtin.run, params.name, arguments)
        content = types.TextContent(type="text", text=result.text)
        return types.CallToolResult(content=[content], is_error=not result.ok)

    return Server("tool-intent", version=__version__, on_list_tools=on_list, on_call_tool=on_call)


async def serve(workspace: str) -> None:
    """Serve on standard input and output until the client is gone."""
    served = server(workspace)
    async with stdio_server() as (requests, answers):
        await served.run(requests, answers, served.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1])
