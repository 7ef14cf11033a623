"""A terminal of its own for one program, read as a person sees it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

#: Seconds until what is waited for has to be on the screen.
PATIENCE: Final = 90.0


class Terminal:
    """tmux with one window; `command` is a shell's command line."""

    def __init__(
        self, command: str, cwd: Path, environment: Mapping[str, str], size: tuple[int, int]
    ) -> None:
        self._socket = f"tool-intent-{os.getpid()}-{time.monotonic_ns()}"
        self._columns, self._rows = size
        self._command, self._cwd, self._environment = command, cwd, environment

    def __enter__(self) -> Self:
        size = ["-x", str(self._columns), "-y", str(self._rows)]
        self._tmux("new-session", "-d", *size, "-c", str(self._cwd), self._command)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tmux("kill-server", check=False)

    def type(self, text: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", text)
        time.sleep(1)  # pi takes what comes at once for a paste
        self._tmux("send-keys", "Enter")

    def press(self, key: str) -> None:
        """Press a key, as tmux names it."""
        self._tmux("send-keys", key)

    def screen(self) -> str:
        """What is on the screen, without blanks at the ends of lines, and what was scrolled off."""
        text = self._tmux("capture-pane", "-p", "-S", "-200")
        return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")

    def wait_for(self, *words: str) -> str:
        """The screen once it shows all of these; fails after a while, with what it shows."""
        end = time.monotonic() + PATIENCE
        while True:
            shown = self.screen()
            if all(word in shown for word in words):
                return shown
            assert time.monotonic() < end, f"{words} never appeared:\n{shown}"
            time.sleep(0.2)

    def _tmux(self, *arguments: str, check: bool = True) -> str:
        return subprocess.run(
            ["tmux", "-L", self._socket, "-f", "/dev/null", *arguments],
            env=dict(self._environment),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=check,
        ).stdout
