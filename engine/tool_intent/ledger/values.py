"""What stands at places of a call's arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tool_intent.runtime.pointer import escape

#: Places of one call that are looked at.
MOST: Final = 256


def values(args: Any, paths: Iterable[tuple[str, ...]]) -> list[tuple[str, Any]]:
    """What is at argument paths (`("edits", "[]", "path")`), each with its JSON Pointer."""
    every: list[tuple[str, Any]] = []
    for path in paths:
        found: list[tuple[str, Any]] = [("", args)]
        for step in path:
            below: list[tuple[str, Any]] = []
            for pointer, value in found:
                if step == "[]" and isinstance(value, list):
                    below += [(f"{pointer}/{n}", v) for n, v in enumerate(value[:MOST])]
                elif step != "[]" and isinstance(value, dict) and step in value:
                    below.append((f"{pointer}/{escape(step)}", value[step]))
            found = below[:MOST]
        every += found
    return every
