"""A server on stdio, over HTTP by the official SDK, message by message.

Started as `python stdio_over_http.py PORT COMMAND…`, for one client.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.streamable_http import StreamableHTTPServerTransport
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send


class Bridge:
    """Carries messages both ways. What the server sends of its own accord waits until the client
    has opened the stream for it."""

    def __init__(self, command: list[str]) -> None:
        self._server = StdioServerParameters(command=command[0], args=command[1:])
        self._transport = StreamableHTTPServerTransport("bridged")
        self._listening = anyio.Event()

    @asynccontextmanager
    async def carrying(self, _: Starlette) -> AsyncIterator[None]:
        async with (
            self._transport.connect() as (from_client, to_client),
            stdio_client(self._server) as (from_server, to_server),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._carry, from_client, to_server, False)
            tasks.start_soon(self._carry, from_server, to_client, True)
            yield
            tasks.cancel_scope.cancel()

    async def _carry(self, source: Any, sink: Any, to_client: bool) -> None:
        async for item in source:
            if isinstance(item, Exception):
                raise item
            if to_client and hasattr(item.message, "method"):
                await self._listening.wait()
            await sink.send(item)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            await send(message)
            if scope["method"] == "GET" and message["type"] == "http.response.start":
                await anyio.sleep(0.1)  # the stream is made when its headers are out
                self._listening.set()

        await self._transport.handle_request(scope, receive, sending)


if __name__ == "__main__":
    bridge = Bridge(sys.argv[2:])
    app = Starlette(
        routes=[Route("/mcp", bridge, methods=["GET", "POST", "DELETE"])], lifespan=bridge.carrying
    )
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
