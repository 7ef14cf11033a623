"""Read, write, edit and bash in Python: what an allowed call is handed to by default.

    builtin = Builtin(Workspace("project"))
    builtin.run("read", {"path": "README.md"})    # Result(text, ok)

Arguments are named as the pi coding agent names them. read, write and edit stay inside the
workspace, symbolic links included; bash does not: it runs as the user who runs the engine.
"""

from tool_intent.tools.builtin import Builtin, tools
from tool_intent.tools.model import Result, Tool, ToolError
from tool_intent.tools.workspace import Workspace

__all__ = ["Builtin", "Result", "Tool", "ToolError", "Workspace", "tools"]
