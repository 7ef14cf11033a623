"""An MCP server with bad habits, named on the command line; otherwise it echoes.

A call of `echo` is answered with its arguments as text, so that what reached the server is seen.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

HABITS = set(sys.argv[1:])
TEXT = {"type": "string"}
ECHO: dict[str, Any] = {
    "name": "echo", "inputSchema": {"type": "object", "properties": {"message": TEXT}}
}  # fmt: skip


def say(message: Any) -> None:
    line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def listed() -> Any:
    if "no-tools" in HABITS:
        return None
    return {"tools": [ECHO]}


def called(id: Any, params: Any) -> None:
    args = params.get("arguments")
    if "dies" in HABITS:
        os._exit(3)
    if "floods" in HABITS:
        for _ in range(200):
            sys.stderr.write("e" * 50_000 + "\n")
    if "garbage" in HABITS:
        say(b"Listening on port 3000\n\xff\xfe\n{broken\n")
    if "changes" in HABITS:
        ECHO["inputSchema"]["properties"]["intent"] = TEXT
        say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if "huge" in HABITS:
        say(b'{"jsonrpc":"2.0","result":{"text":"' + b"a" * (65 << 20))
        say(b'"},"id":%d}\n' % id)
        return
    if "huge-and-nameless" in HABITS:
        say(b'{"id":%d,"jsonrpc":"2.0","result":' % id + b'"' + b"a" * (65 << 20) + b'","x":1}\n')
        return
    if "never-answers" in HABITS:
        return
    answer = {"jsonrpc": "2.0", "id": id, "result": {
        "content": [{"type": "text", "text": json.dumps(args)}]}}  # fmt: skip
    say(answer)
    if "twice" in HABITS:
        say(answer)


def main() -> None:
    for line in sys.stdin.buffer:
        if not line.strip():
            continue
        message = json.loads(line)
        method, key = message.get("method"), message.get("id")
        if method == "tools/call":
            called(key, message["params"])
        elif method == "tools/list":
            result = listed()
            error = {"code": -32601, "message": "no tools here"}
            said = {"error": error} if result is None else {"result": result}
            say({"jsonrpc": "2.0", "id": key, **said})
        elif method == "initialize":
            info = {"serverInfo": {"name": "odd", "version": "1"}, "capabilities": {"tools": {}}}
            said = {"protocolVersion": "2025-11-25", **info}
            say({"jsonrpc": "2.0", "id": key, "result": said})
        elif key is not None:
            say({"jsonrpc": "2.0", "id": key, "result": {"said": method}})
    if "lingers" in HABITS:
        time.sleep(60)


main()
