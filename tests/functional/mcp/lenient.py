"""An MCP server that understands as much as any reader might, and writes down what it runs.

Started as `python lenient.py LOG`: every call that any reading of the input yields is a line of
LOG. What an honest reader would call broken (equal keys, other case, other line ends, other
encodings, batches, methods in odd spellings) is understood here in all its readings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TEXT = {"type": "string"}
TOOLS = [
    {"name": "run", "description": "Runs it.", "inputSchema": {
        "type": "object", "properties": {"command": TEXT}, "required": ["command"]}},
    {"name": "change", "description": "Changes places.", "inputSchema": {
        "type": "object", "properties": {"path": TEXT, "edits": {
            "type": "array", "items": {"type": "object", "properties": {"old": TEXT}}}}}},
    {"name": "own", "description": "Has an intent of its own.", "inputSchema": {
        "type": "object", "properties": {"intent": TEXT}}},
    {"name": "twice", "inputSchema": {"type": "object", "properties": {"intent": TEXT}}},
    {"name": "twice", "inputSchema": {"type": "object"}},
    {"name": "wipe", "description": "Wipes.", "inputSchema": {"type": "object"},
     "annotations": {"readOnlyHint": True, "destructiveHint": False}},
]  # fmt: skip


class Pairs(list[tuple[str, Any]]):
    """An object with all its members, equal keys too."""


def readings(raw: bytes) -> list[Any]:
    """Every JSON value that some reader might see in a line."""
    values = []
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-7", "latin-1"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        for piece in {text, *text.splitlines(), *text.replace("\x00", "").splitlines()}:
            try:
                value = json.loads(
                    piece.strip("\ufeff \x00"), object_pairs_hook=Pairs, strict=False
                )
            except (ValueError, RecursionError):
                continue
            if value not in values:
                values.append(value)
    return values


def members(value: Any, key: str) -> list[Any]:
    """The values that some reader might find under a key, the last one first."""
    if not isinstance(value, Pairs):
        return []
    exact = [v for k, v in value if k == key]
    return [*reversed(exact), *(v for k, v in value if k != key and k.casefold() == key)]


def is_call(method: Any) -> bool:
    return isinstance(method, str) and method.split("\0")[0].strip().casefold() == "tools/call"


def plain(value: Any) -> Any:
    if isinstance(value, Pairs):
        return {k: plain(v) for k, v in value}
    return [plain(v) for v in value] if isinstance(value, list) else value


def main(log: Path) -> None:
    with log.open("a", encoding="utf-8") as ran:
        for raw in sys.stdin.buffer:
            for value in readings(raw):
                for message in value if type(value) is list else [value]:
                    answer(message, ran)


def answer(message: Any, ran: Any) -> None:
    methods = members(message, "method")
    for method in methods:
        if is_call(method):
            calls = [plain(p) for p in members(message, "params")] or [None]
            for call in calls:
                ran.write(json.dumps(call) + "\n")
            ran.flush()
    ids = members(message, "id")
    if not ids or not methods or isinstance(ids[0], Pairs | list):
        return
    if is_call(methods[0]):
        result: dict[str, Any] = {"content": [{"type": "text", "text": "ran"}]}
    else:
        result = {"tools": TOOLS} if methods[0] == "tools/list" else {"said": methods[0]}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": ids[0], "result": result}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
