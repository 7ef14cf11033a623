"""Client settings rewritten so that each server is reached through the proxy, and back."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tool_intent.surfaces.mcp.naming import checked_label
from tool_intent.surfaces.mcp.settings import Entry, Unreadable, edited, entries, is_toml

_SUFFIX = ".before-tool-intent"


class Rewritten(NamedTuple):
    """New text of a settings file, the servers that it changes, and those left as they are, with
    the reason."""

    text: str
    changed: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


def wrapped(text: str, path: str, launcher: str, options: Sequence[str] = ()) -> Rewritten:
    """Every server that is started by a command, behind the proxy. `launcher` is the absolute path
    of tool-intent, `options` go before `--`. Raises Unreadable."""

    def change(entry: Entry) -> list[str] | str:
        if behind(entry) is not None:
            return "it is behind the proxy already"
        if not entry.command:
            return _unstarted(entry)
        return [launcher, "mcp", "--server", label(entry.name), *options, "--", *entry.command]

    return _rewritten(text, path, change)


def unwrapped(text: str, path: str) -> Rewritten:
    """Every server behind the proxy, reached directly again. Raises Unreadable."""
    return _rewritten(text, path, lambda entry: behind(entry) or "it is not behind the proxy")


def behind(entry: Entry) -> list[str] | None:
    """The command of the server behind the proxy, None where there is no proxy before it."""
    first, *rest = entry.command or [""]
    if os.path.basename(first) != "tool-intent" or rest[:1] != ["mcp"] or "--" not in rest:
        return None
    return rest[rest.index("--") + 1 :]


def label(name: str) -> str:
    """A server's name in policies, by its name in the client's settings."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    return checked_label(re.sub(r"_{2,}", "_", plain).strip("-_.") or "server")


def saved(path: str, text: str) -> str:
    """Replace a settings file, whole or not at all, and keep what it said before; returns the
    backup's path. Raises OSError."""
    path = os.path.realpath(path)
    backup = next(
        p for p in (path + _SUFFIX + (f"-{n}" if n else "") for n in range(10_000))
        if not os.path.lexists(p)
    )  # fmt: skip
    with open(path, "rb") as file:
        before = file.read()
    mode = os.stat(path).st_mode & 0o777
    _written(backup, before, mode)
    _written(path, text.encode("utf-8"), mode)
    return backup


def _written(path: str, data: bytes, mode: int) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".tool-intent-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _rewritten(text: str, path: str, change: Callable[[Entry], list[str] | str]) -> Rewritten:
    toml = is_toml(path)
    changed, left = [], []
    for entry in entries(text, toml=toml):
        command = change(entry)
        if isinstance(command, str):
            left.append((entry.name, command))
            continue
        text = edited(text, entry, command, toml=toml)
        changed.append(entry.name)
    return Rewritten(text, tuple(changed), tuple(left))


def _unstarted(entry: Entry) -> str:
    if entry.url is not None:
        return (
            f"it is reached by address: run tool-intent mcp --server {label(entry.name)} --listen"
            f" 127.0.0.1:PORT --upstream {entry.url}, and write the proxy's address here"
        )
    if "command" in entry.table:
        raise Unreadable(f"the entry of {entry.name} has a `command` or `args` of the wrong type")
    return "it starts no server"
