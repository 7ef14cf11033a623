"""Shell commands for the rule language: what a command text runs, writes, deletes and names.

tree-sitter is imported at the first call of `analyse` that has a command to parse.
"""

from __future__ import annotations

from tool_intent.runtime.shell.model import ATTRIBUTES, Command, Part, Pipe
from tool_intent.runtime.shell.runs import runs
from tool_intent.runtime.shell.scope import Scope
from tool_intent.runtime.shell.tokens import RefusedError
from tool_intent.runtime.shell.walk import Walker

__all__ = ["ATTRIBUTES", "Command", "Part", "Pipe", "analyse", "runs"]


def analyse(text: str, cwd: str | None = None) -> Command:
    """What the shell command `text` does.

    `cwd` is the absolute directory it is started in, where known: it gives `$PWD` a value;
    paths stay as written. Never raises: what cannot be read has `parsed` false and every
    attribute unknown, with the parts known by then still listed.
    """
    walker = Walker()
    try:
        walker.text(text, Scope(cwd), 0)
    except (RefusedError, RecursionError):
        return walker.command(parsed=False)
    return walker.command(parsed=True)
