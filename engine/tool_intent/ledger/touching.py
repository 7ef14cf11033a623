"""What a call touches, as far as the roles of its tool's arguments tell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from tool_intent.ledger.edits import is_replacement
from tool_intent.ledger.recorder import Told
from tool_intent.ledger.values import MOST, values

#: Arguments that are kept where no catalog knows the tool: what a call is about.
SUBJECTS: Final = ("path", "file_path", "command", "url")


def texts(told: Told, role: str) -> list[tuple[str, str]]:
    """The texts that play a role, each with its JSON Pointer; a list counts as its elements."""
    found: list[tuple[str, str]] = []
    for pointer, value in values(told.call.args, told.roles.get(role, ())):
        if isinstance(value, str):
            found.append((pointer, value))
        elif isinstance(value, list):
            found += [(f"{pointer}/{n}", v) for n, v in enumerate(value) if isinstance(v, str)]
    return found[:MOST]


def kept_arguments(told: Told, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the allow-list names: those with the role of a path, command or URL, those
    that are commonly called so, and those that policies add. `args` are without fields."""
    wanted = {*SUBJECTS, *told.keeping.keep}
    if told.roles:
        for role in ("path", "command", "url"):
            wanted.update(path[0] for path in told.roles.get(role, ()) if len(path) == 1)
    return {name: value for name, value in args.items() if name in wanted}


def needed(roles: Mapping[str, tuple[tuple[str, ...], ...]]) -> frozenset[str]:
    """The arguments that a record is made from, by which roles they play: paths, commands, URLs and
    what is replaced. Of others, a digest is enough."""
    about = (path for role in ("path", "command", "url") for path in roles.get(role, ()))
    replaced = (path for path in roles.get("content", ()) if is_replacement(path))
    return frozenset(path[0] for path in (*about, *replaced))


def actions(told: Told) -> list[dict[str, str]]:
    """What the call does, `{"kind", "path" or "command"}` each."""
    found: list[dict[str, str]] = []
    if not told.kinds:
        return found
    if "read" in told.kinds or "write" in told.kinds:
        kind = "write" if "write" in told.kinds else "read"
        found += [{"kind": kind, "path": path} for _, path in texts(told, "path")]
    if "exec" in told.kinds:
        found += [{"kind": "exec", "command": text} for _, text in texts(told, "command")]
    if "net" in told.kinds:
        found += [{"kind": "net", "path": url} for _, url in texts(told, "url")]
    return found


def starting(told: Told, cwd: str) -> str:
    """Where relative paths of a call start: `cwd`, unless its host tells."""
    own = (told.call.context or {}).get("cwd")
    return own if isinstance(own, str) and os.path.isabs(own) else cwd


def relative_start(told: Told) -> str | None:
    """Where a call starts as its host tells, if nobody can know from that where it is."""
    own = (told.call.context or {}).get("cwd")
    return (own or ".") if isinstance(own, str) and not os.path.isabs(own) else None
