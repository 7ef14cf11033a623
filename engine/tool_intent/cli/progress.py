"""How far a long command is, told on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

import typer
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from tool_intent.cli.terminal import err

#: The exit code of what Ctrl-C ended, as shells have it.
_INTERRUPTED: Final = 130
#: Seconds of which nothing is told, and seconds between two looks of the bar.
_SILENT: Final = 1.0
_PACE: Final = 0.1


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Something to tell how much of how much is done. A bar stands on standard error once that
    takes longer than a second, and goes at the end; None where no person looks at it. Ctrl-C ends
    the command with a line."""
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    bar = Progress(*columns, console=err, transient=True, auto_refresh=False)
    task = bar.add_task(what, total=None)
    shown = monotonic() + _SILENT - _PACE
    interrupted = False

    def told(done: int, total: int) -> None:
        nonlocal shown
        if monotonic() - shown < _PACE:
            return
        shown = monotonic()
        bar.start()
        bar.update(task, completed=done, total=total, refresh=True)

    try:
        yield told if sys.stderr.isatty() else None
    except KeyboardInterrupt:
        interrupted = True
    finally:
        if bar.live.is_started:
            bar.stop()
    if interrupted:
        err.print(
            f"tool-intent: interrupted: {what[:1].lower()}{what[1:]} was not brought to its end"
        )
        raise typer.Exit(_INTERRUPTED)
