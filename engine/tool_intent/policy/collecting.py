"""Reading policies without the garbage collector's help."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: thousands of nodes that all live on make each collection dear
    and leave it nothing to find."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
