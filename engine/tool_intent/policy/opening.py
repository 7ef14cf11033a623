"""Opening a file that a policy names: where it really lies is asked of the opened file itself.

A path can lead elsewhere between a look and the opening; a descriptor cannot.
"""

from __future__ import annotations

import os

FOLDER = ".tool-intent"
WAIVERS = "waivers.yaml"


def is_waivers(path: str) -> bool:
    """Whether this is a waivers file: it declares nothing, and no policy breaks for it."""
    return os.path.basename(path) == WAIVERS


def held_by(path: str) -> tuple[str, ...]:
    """The folders that a policy file stays within, with all that it names: its `.tool-intent/` and
    what holds that. Whoever writes it decides what the engine reads and shows. Empty for a file
    that lies elsewhere."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.basename(folder) != FOLDER:
        return ()
    return os.path.realpath(folder), os.path.realpath(os.path.dirname(folder))


def lies_within(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a real path is one of the folders or lies below it."""
    return any(path == f or path.startswith(f.rstrip(os.sep) + os.sep) for f in folders)


def place_of(descriptor: int) -> str | None:
    """The real path of an open file, as the kernel knows it; None where it does not tell."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return _place_on_macos(descriptor)


def _place_on_macos(descriptor: int) -> str | None:
    import fcntl

    ask = getattr(fcntl, "F_GETPATH", None)
    if ask is None:
        return None
    return os.fsdecode(fcntl.fcntl(descriptor, ask, bytes(1024)).rstrip(b"\0"))
