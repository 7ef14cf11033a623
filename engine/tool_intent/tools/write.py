"""write: a whole file, at one stroke."""

from __future__ import annotations

from typing import Any, Final

from tool_intent.tools.files import encoded, find, replace_file
from tool_intent.tools.wording import counted
from tool_intent.tools.workspace import Workspace

DESCRIPTION: Final = (
    "Write a text file of the workspace, replacing what it held. Missing folders are made."
)

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "Path of the file, relative to the workspace.",
        },
        "content": {"type": "string", "description": "The whole text of the file."},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


def write(workspace: Workspace, args: dict[str, Any]) -> str:
    """Write `args["content"]` as UTF-8 to `args["path"]`, as it is: no line end is changed."""
    content: str = args["content"]
    data = encoded(content, "content")
    with workspace.changing, workspace.locate(args["path"], make_parents=True) as place:
        old = find(place)
        replace_file(place, data, old)
        lines = content.count("\n") + (content != "" and not content.endswith("\n"))
        was = "a new file" if old is None else f"replacing {counted(old.st_size, 'byte')}"
        size = f"{counted(len(data), 'byte')} in {counted(lines, 'line')}"
        return f"Wrote {size} to {place.shown}, {was}."
