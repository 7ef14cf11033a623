"""What a server is called, and what policies call its tools: `mcp__SERVER__TOOL`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import basename

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_))*")
_LAUNCHERS = re.compile(
    r"(npx|npm|exec|pnpm|dlx|bunx|uvx|uv|run|pipx|node|deno|python[\d.]*|env|docker|sh|bash)"
)
_AFFIXES = re.compile(r"^(mcp-server-|server-|mcp-)|(-mcp-server|-server|-mcp)$")
_ENDINGS = re.compile(r"(@[\w.^~-]+|\.(js|mjs|cjs|ts|py|sh|exe))$")
#: Names of files that say nothing of the server they start.
_NOBODY = frozenset({"index", "main", "server", "cli", "dist", "build", "src", "bin", ""})


class BadLabel(ValueError):
    """A server cannot be called that; `str` says why and what to write."""


def checked_label(label: str) -> str:
    """`label`, if it can name a server.

    Raises BadLabel: with `__` in it, `mcp__a__*` would mean another server's tools too.
    """
    if _LABEL.fullmatch(label) and not label.endswith("_"):
        return label
    raise BadLabel(
        f"--server {label!r}: a server's name is made of letters, digits, `.`, `-` and single"
        " underscores, such as github"
    )


def guessed_label(command: Sequence[str]) -> str | None:
    """A name for the server that a command starts, or None where the command tells none.

    Launchers and options are passed over: `npx -y @modelcontextprotocol/server-everything` is
    called `everything`.
    """
    for word in command:
        name = basename(word.rstrip("/"))
        if word.startswith("-") or _LAUNCHERS.fullmatch(name):
            continue
        for part in (name, *reversed(word.split("/")[:-1])):
            plain = _AFFIXES.sub("", _ENDINGS.sub("", part))
            if plain not in _NOBODY and _LABEL.fullmatch(plain) and not plain.endswith("_"):
                return plain
        return None
    return None


def identity(server: str | None, tool: str) -> str:
    """The name of a server's tool in policies; those of the built-in server are called what they
    are called everywhere."""
    if server is None:
        return tool
    return f"mcp__{server}__{tool}"
