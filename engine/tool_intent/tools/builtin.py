"""The four tools bound to a workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from tool_intent.tools import bash, edit, read, write
from tool_intent.tools.arguments import checked
from tool_intent.tools.model import Result, Tool, ToolError
from tool_intent.tools.wording import nearest, shown
from tool_intent.tools.workspace import Workspace

_Body: TypeAlias = Callable[[Workspace, dict[str, Any]], str]

_TOOLS: Final[tuple[tuple[str, str, dict[str, Any], _Body], ...]] = (
    ("read", read.DESCRIPTION, read.SCHEMA, read.read),
    ("write", write.DESCRIPTION, write.SCHEMA, write.write),
    ("edit", edit.DESCRIPTION, edit.SCHEMA, edit.edit),
    ("bash", bash.DESCRIPTION, bash.SCHEMA, bash.bash),
)


def tools(workspace: Workspace) -> Mapping[str, Tool]:
    """read, write, edit and bash for `workspace`, by name."""
    return MappingProxyType({row[0]: _bound(workspace, *row) for row in _TOOLS})


class Builtin:
    """The built-in tools of one workspace, run by name. May serve several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self.tools: Final = tools(workspace)

    def run(self, tool: str, args: object) -> Result:
        """Carry out `tool` with `args`, stripped of provenance; a `ToolError` becomes a Result."""
        try:
            return Result(self._named(tool).execute(args), True)
        except ToolError as error:
            return Result(str(error), False)

    def _named(self, tool: str) -> Tool:
        if tool in self.tools:
            return self.tools[tool]
        near = nearest(tool, self.tools)
        meant = f" Did you mean {near}?" if near else ""
        raise ToolError(
            f"{shown(tool)} is no built-in tool; they are {', '.join(self.tools)}.{meant}"
        )


def _bound(
    workspace: Workspace, name: str, description: str, schema: dict[str, Any], body: _Body
) -> Tool:
    def execute(args: Any) -> str:
        return body(workspace, checked(name, schema, args))

    return Tool(name, description, deepcopy(schema), execute)
