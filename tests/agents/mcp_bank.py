"""A small MCP server on stdio: two tools of a bank, one closed to other arguments."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [
    {
        "name": "transfer",
        "description": "Transfer money between accounts",
        "inputSchema": {
            "type": "object",
            "additionalProperties": False,
            "required": ["amount"],
            "properties": {"amount": {"type": "number"}},
        },
        "annotations": {"destructiveHint": True},
    },
    {
        "name": "balance",
        "description": "The balance of an account",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bank", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = "the bank got " + json.dumps(params["arguments"])
        return {"content": [{"type": "text", "text": text}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
