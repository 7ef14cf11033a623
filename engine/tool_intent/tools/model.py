"""What a built-in tool is, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class ToolError(Exception):
    """A call that was not carried out, or a command that failed; the message says what to do."""


class Result(NamedTuple):
    """What a call came to: `text` for the model, and whether the call did what it asked."""

    text: str
    ok: bool


class Tool(NamedTuple):
    """One tool.

    `schema` is the JSON Schema of the arguments, an object without further properties.
    `execute` takes the arguments and returns the text for the model; it raises `ToolError`
    for arguments outside the schema and for whatever the call could not do.
    """

    name: str
    description: str
    schema: dict[str, Any]
    execute: Callable[[Any], str]
