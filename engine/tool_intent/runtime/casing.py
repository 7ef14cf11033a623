"""When two names are one file: letter case and Unicode composition."""

from __future__ import annotations

import os


def composed(name: str) -> str:
    """A name in NFC, as some file systems compare them."""
    if name.isascii():
        return name
    from unicodedata import normalize

    return normalize("NFC", name)


def folded(name: str) -> str:
    """A name as a file system that ignores case compares it."""
    if name.isascii():
        return name.lower()
    return composed(composed(name).casefold())


def probe_case(directory: str) -> bool | None:
    """Whether the file system of an existing directory ignores case; None where that stays open.

    Reads only: the same directory is looked up under its name in the other case.
    """
    head, name = os.path.split(os.path.abspath(directory))
    swapped = name.swapcase()
    if swapped == name:
        return None if head == directory or not name else probe_case(head)
    try:
        here = os.stat(directory)
    except (OSError, ValueError):
        return None
    try:
        there = os.stat(os.path.join(head, swapped))
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return None
    return os.path.samestat(here, there)
