"""A server by the official SDK, which speaks every protocol that the SDK does.

Started as `python sdk_server.py` for stdio, or `python sdk_server.py PORT` for HTTP.
"""

from __future__ import annotations

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

TEXT = {"type": "string"}
TOOLS = [
    types.Tool(name="echo", input_schema={
        "type": "object", "properties": {"message": {**TEXT, "x-mcp-header": "Message"}}}),
    types.Tool(name="danger", input_schema={"type": "object", "properties": {"path": TEXT}}),
    types.Tool(name="more", input_schema={"type": "object"}),
]  # fmt: skip


async def on_list(_: Any, params: Any) -> types.ListToolsResult:
    """The tools, a page each."""
    at = int(params.cursor) if params is not None and params.cursor else 0
    following = str(at + 1) if at + 1 < len(TOOLS) else None
    return types.ListToolsResult(tools=TOOLS[at : at + 1], next_cursor=following)


async def on_call(
    ctx: Any, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    if (
        params.name == "more"
        and not params.input_responses
        and ctx.session.protocol_version > "2026"
    ):
        question = types.ElicitRequest(
            params=types.ElicitRequestFormParams(
                message="Who?", requested_schema={"type": "object", "properties": {"name": TEXT}}
            )
        )
        return types.InputRequiredResult(input_requests={"who": question}, request_state="s1")
    said = f"{params.name} {params.arguments} {sorted(params.input_responses or {})}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=said)])


def server() -> Server[Any]:
    return Server("sdk", version="1", on_list_tools=on_list, on_call_tool=on_call)


async def serve() -> None:
    one = server()
    async with stdio_server() as (requests, answers):
        await one.run(requests, answers, one.create_initialization_options())


if __name__ == "__main__":
    if len(sys.argv) == 1:
        anyio.run(serve)
    else:
        import uvicorn

        uvicorn.run(
            server().streamable_http_app(),
            host="127.0.0.1",
            port=int(sys.argv[1]),
            log_level="error",
        )
