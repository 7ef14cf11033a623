"""Members of a record, whatever a newer version or a damaged line put in their place."""

from __future__ import annotations

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
