"""Whether processes that were to be ended are."""

from __future__ import annotations

import time
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether a process is there and more than a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def is_gone(pid: int) -> bool:
    """Whether a process ends soon: a killed one is there until the kernel comes round to it."""
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_running(pid)
