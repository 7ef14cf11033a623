"""Writes the catalog of an MCP server to standard output: the tools that it lists on stdio.

npm install --prefix FOLDER @modelcontextprotocol/server-filesystem
python tests/agents/extract_mcp.py mcp-filesystem FOLDER > policies/catalog/mcp-filesystem.yaml
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from catalog_text import Meaning, catalog_text, fail

HOW: Final = "tests/agents/extract_mcp.py"
PROTOCOL: Final = "2025-06-18"

_PATH: Final = {"path": "path"}
#: The tools of the server as MCP names them, and its package.
FILESYSTEM: Final = {
    **dict.fromkeys(
        [
            "directory_tree",
            "get_file_info",
            "list_directory",
            "list_directory_with_sizes",
            "read_file",
            "read_media_file",
            "read_text_file",
            "search_files",
        ],
        Meaning(("@read",), _PATH),
    ),
    "read_multiple_files": Meaning(("@read",), {"path": "paths[]"}),
    # It says where the others may go, and opens nothing.
    "list_allowed_directories": Meaning(),
    "create_directory": Meaning(("@write",), _PATH),
    "write_file": Meaning(("@write",), {**_PATH, "content": "content"}),
    "edit_file": Meaning(("@edit",), {**_PATH, "content": "edits[].newText"}),
    "move_file": Meaning(("@write",), {"path": ["source", "destination"]}),
}
SERVERS: Final = {
    "mcp-filesystem": ("@modelcontextprotocol/server-filesystem", "mcp__filesystem__", FILESYSTEM),
}


def main() -> None:
    """Print the catalog of the server that the command line names."""
    if len(sys.argv) != 3 or sys.argv[1] not in SERVERS:
        fail(f"expected {' or '.join(SERVERS)}, and the folder that holds node_modules")
    name = sys.argv[1]
    package, prefix, meanings = SERVERS[name]
    folder = Path(sys.argv[2]) / "node_modules" / package
    manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    (script,) = manifest["bin"].values()
    with tempfile.TemporaryDirectory() as served:
        tools = listed(["node", str(folder / script), served])
    source = {
        "package": package,
        "version": manifest["version"],
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "how": f"{HOW}, from the server's own answer to tools/list",
    }
    definitions = [
        {"name": t["name"], "description": t.get("description", ""), "schema": t["inputSchema"]}
        for t in tools
    ]
    sys.stdout.write(catalog_text(name, source, definitions, meanings, prefix))


def listed(command: list[str]) -> list[dict[str, Any]]:
    """Every tool of an MCP server that `command` starts, all pages of its list."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        pipes = (server.stdin, server.stdout)
        client = {"name": "extract_mcp", "version": "1"}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        _asked(*pipes, 0, "initialize", hello)
        _send(server.stdin, method="notifications/initialized")
        tools: list[dict[str, Any]] = []
        page: dict[str, Any] = {}
        while True:
            answer = _asked(*pipes, len(tools) + 1, "tools/list", page)
            tools += answer["tools"]
            if not answer.get("nextCursor"):
                break
            page = {"cursor": answer["nextCursor"]}
        server.stdin.close()
        server.terminate()
    return tools


def _asked(
    requests: IO[str], answers: IO[str], number: int, method: str, params: dict[str, Any]
) -> dict[str, Any]:
    """The result of one request; what the server says meanwhile is passed over."""
    _send(requests, id=number, method=method, params=params)
    for line in answers:
        message = json.loads(line)
        if message.get("id") == number and "method" not in message:
            if "result" not in message:
                fail(f"{method} failed: {message['error']}")
            result: dict[str, Any] = message["result"]
            return result
    return fail(f"the server ended without an answer to {method}")


def _send(requests: IO[str], **message: Any) -> None:
    requests.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    requests.flush()


if __name__ == "__main__":
    main()
