"""An MCP server over HTTP with a habit for each of its tools. Started as `python odd_http.py PORT`.

`echo` answers with what reached it: arguments, headers, the body as it came.
"""

from __future__ import annotations

import gzip
import json
import sys
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"}}}}
    for name in ("echo", "stream", "redirect", "gzip", "early", "resumable", "plain", "breaking",
                 "after")
]  # fmt: skip
SEEN: dict[str, int] = {}


def stream(*events: str) -> Response:
    return Response("".join(events), media_type="text/event-stream")


def event(message: Any, id: str = "") -> str:
    named = f"id: {id}\n" if id else ""
    return f"{named}event: message\ndata: {json.dumps(message)}\n\n"


async def mcp(request: Request) -> Response:
    if request.method == "GET":
        if "last-event-id" not in request.headers:
            return Response(status_code=405)
        if request.headers["last-event-id"] == "broken":
            done = {"jsonrpc": "2.0", "id": "again", "result": {"content": []}}
            return stream(event(done, "mended"))
        listed = {"jsonrpc": "2.0", "id": 90, "result": {"tools": TOOLS}}
        return stream(": replayed\n\n", event(listed, "e2"))
    if request.method == "DELETE":
        return Response(status_code=204)
    body = await request.body()
    message = json.loads(body)
    if isinstance(message, list):
        return JSONResponse([result(m, {"said": m["method"]}) for m in message if "id" in m])
    if "id" not in message or "method" not in message:
        return Response(status_code=202)
    if message["method"] == "initialize":
        said = result(message, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}})
        return JSONResponse(said, headers={"Mcp-Session-Id": "s1"})
    if message["method"] == "tools/list" and "quiet" in request.headers.get("authorization", ""):
        return stream(": nothing to say\n\n")
    if message["method"] == "tools/list":
        return JSONResponse(result(message, {"tools": TOOLS}))
    if message["method"] != "tools/call":
        return JSONResponse(result(message, {"said": message["method"]}))
    return called(message, request, body)


def called(message: Any, request: Request, body: bytes) -> Response:
    name = message["params"]["name"]
    SEEN[name] = SEEN.get(name, 0) + 1
    headers = dict(request.headers.items())
    said = {"args": message["params"].get("arguments"), "headers": headers, "body": body.decode()}
    done = result(message, {"content": [{"type": "text", "text": json.dumps(said)}]})
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    if name == "stream":
        return stream(": hi\n\n", event(progress, "e0"), event(done, "e1"))
    if name == "redirect":
        return Response(status_code=307, headers={"Location": "/other"})
    if name == "gzip":
        packed = gzip.compress(json.dumps(done).encode())
        return Response(packed, media_type="application/json", headers={"Content-Encoding": "gzip"})
    if name == "early":
        return stream(event(progress))
    if name == "breaking":
        return stream(event(progress, "broken"))
    if name == "resumable":
        return stream(event(progress, "e1"))
    if name == "plain":
        return Response("no such thing", status_code=404, media_type="text/plain")
    return JSONResponse(done)


def result(message: Any, value: Any) -> Any:
    return {"jsonrpc": "2.0", "id": message["id"], "result": value}


async def other(_: Request) -> Response:
    SEEN["other"] = SEEN.get("other", 0) + 1
    return Response("other")


async def seen(_: Request) -> Response:
    return JSONResponse(SEEN)


if __name__ == "__main__":
    methods = ["GET", "POST", "DELETE"]
    app = Starlette(
        routes=[
            Route("/mcp", mcp, methods=methods),
            Route("/other", other, methods=methods),
            Route("/seen", seen),
        ]
    )
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
