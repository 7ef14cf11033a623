"""edit: exact replacements in a text file, all or none."""

from __future__ import annotations

from typing import Any, Final

from tool_intent.tools.files import encoded, read_file, replace_file, text_only
from tool_intent.tools.model import ToolError
from tool_intent.tools.replacements import Edit, EditError, apply
from tool_intent.tools.wording import counted
from tool_intent.tools.workspace import Workspace

#: The largest file, in bytes.
LARGEST: Final = 16 * 1024 * 1024

DESCRIPTION: Final = (
    "Edit a text file of the workspace by exact replacement. Every edits[].oldText must occur "
    "exactly once in the file as it is before the call, and no two may overlap. "
    "All replacements are made, or none."
)

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "Path of the file, relative to the workspace.",
        },
        "edits": {
            "type": "array",
            "description": "The replacements, matched against the file as it is before the call.",
            "items": {
                "type": "object",
                "properties": {
                    "oldText": {
                        "type": "string",
                        "description": "Text to replace, exact and found once in the file.",
                    },
                    "newText": {"type": "string", "description": "Text to put in its place."},
                },
                "required": ["oldText", "newText"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path", "edits"],
    "additionalProperties": False,
}


def edit(workspace: Workspace, args: dict[str, Any]) -> str:
    """Make `args["edits"]` in `args["path"]`.

    Line ends are matched as LF and written as the file has them; a byte order mark and bytes that
    are not UTF-8 stay as they are.
    """
    edits = [Edit(entry["oldText"], entry["newText"]) for entry in args["edits"]]
    for number, entry in enumerate(edits):
        encoded(entry.old, f"edits[{number}].oldText")
        encoded(entry.new, f"edits[{number}].newText")
    with workspace.changing, workspace.locate(args["path"]) as place:
        content = read_file(place, LARGEST)
        text_only(place, content.data)
        try:
            outcome = apply(content.data.decode("utf-8", "surrogateescape"), edits)
        except EditError as error:
            faults = "\n".join(f"- {fault}" for fault in error.faults)
            raise ToolError(f"{place.shown} was not edited:\n{faults}") from None
        replace_file(place, outcome.text.encode("utf-8", "surrogateescape"), content.status)
        made = counted(len(edits), "replacement")
        return f"Made {made} in {place.shown}: {', '.join(outcome.places)}."
