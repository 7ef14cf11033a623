"""A catalog of a live server's tools, as its own answer to tools/list gives them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tool_intent.surfaces.mcp.asking import Asking
from tool_intent.surfaces.mcp.naming import identity


def catalog(command: Sequence[str], server: str) -> str:
    """YAML text of the catalog. Raises OSError or NoAnswer where the server does not tell.

    Groups and roles are what nobody but a person can say; a tool's annotations are the server's own
    claims, and no reason to believe them.
    """
    with Asking(command) as asking:
        tools = asking.tools()
    lines = [
        f"# The tools that {server} listed when asked. Add to each tool its groups (@read, @write,",
        "# @edit, @exec, @net) and its roles (path, content, command), which only a person knows.",
        f"catalog: mcp-{server}",
        "tools:" if tools else "tools: {}",
    ]
    for tool in tools:
        lines.append(f"  {_text(identity(server, tool['name']))}:")
        if tool.get("description"):
            lines.append(f"    description: {_text(tool['description'])}")
        schema = tool.get("inputSchema", {"type": "object"})
        lines.append(f"    schema: {_text(schema)}")
    return "\n".join(lines) + "\n"


def _text(value: Any) -> str:
    """A value as JSON, which is YAML on one line."""
    return json.dumps(value, ensure_ascii=True)
