"""How far a long command is, told on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from tool_intent.cli.terminal import err

#: Seconds of which nothing is told, and seconds between two looks of the bar.
_SILENT, _PACE = 1.0, 0.1


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Something to tell how much of how much is done. A bar stands on standard error once that
    takes longer than a second, and goes at the end; None where no person looks at it."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    bar = Progress(*columns, console=err, transient=True, auto_refresh=False)
    task = bar.add_task(what, total=None)
    shown = monotonic() + _SILENT - _PACE

    def told(done: int, total: int) -> None:
        nonlocal shown
        if monotonic() - shown < _PACE:
            return
        shown = monotonic()
        bar.start()
        bar.update(task, completed=done, total=total, refresh=True)

    try:
        yield told
    finally:
        if bar.live.is_started:
            bar.stop()
