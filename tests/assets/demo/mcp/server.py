"""A small MCP server by the official SDK: notes in memory. It knows nothing of reasons."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")
notes = {"todo": "Buy tea.", "draft": "Dear all,"}


@server.tool()
def list() -> str:  # noqa: A001
    """The names of all notes."""
    return ", ".join(sorted(notes)) or "no notes"


@server.tool()
def write(name: str, text: str) -> str:
    """Write a note."""
    notes[name] = text
    return f"wrote {name}"


@server.tool()
def delete(name: str) -> str:
    """Delete a note."""
    del notes[name]
    return f"deleted {name}"


if __name__ == "__main__":
    server.run("stdio")
