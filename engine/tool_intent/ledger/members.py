"""Members of a record, whatever a newer version or a damaged line put in their place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

#: A record, or an object in one, as it is read.
Members: TypeAlias = Mapping[str, Any]


def text(record: Members, key: str) -> str:
    """A text member; "" where it is absent or of another type."""
    value = record.get(key)
    return value if isinstance(value, str) else ""


def part(record: Members, key: str) -> Members:
    """An object member; empty where it is absent or of another type."""
    value = record.get(key)
    return value if isinstance(value, Mapping) else {}


def parts(record: Members, key: str) -> tuple[Members, ...]:
    """The objects in a list member; what is no object is left out."""
    value = record.get(key)
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, Mapping))


def texts(record: Members, key: str) -> tuple[str, ...]:
    """The texts in a list member; what is no text is left out."""
    value = record.get(key)
    if not isinstance(value, list | tuple):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def when(record: Members) -> str:
    """When it happened: an imported record was written later than that."""
    return text(part(record, "imported"), "ts") or text(record, "ts")


def target(decision: Members) -> str:
    """What a call is about, in a word: its command, else its paths; "" where neither is kept."""
    actions = parts(decision, "actions")
    for key in ("command", "path"):
        found = list(dict.fromkeys(filter(None, (text(action, key) for action in actions))))
        if found:
            return found[0] if key == "command" else ", ".join(found)
    kept = part(part(decision, "args"), "kept")
    return next((value for value in kept.values() if isinstance(value, str) and value), "")


def paths(decision: Members) -> tuple[str, ...]:
    """The files that a call touches, each once, those that it may change first."""
    named = [*parts(decision, "files"), *parts(decision, "actions")]
    return tuple(dict.fromkeys(filter(None, (text(one, "path") for one in named))))


def said(decision: Members) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """What each place of a call said: the place, and its fields as texts; what is no text is shown
    as JSON."""
    return tuple(
        (text(entry, "at"), tuple((k, _shown(v)) for k, v in entry.items() if k != "at"))
        for entry in parts(decision, "entries")
    )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
