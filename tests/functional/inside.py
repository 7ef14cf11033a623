"""The command within the test's own process, where a process for each question would take most of
a test's time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from tool_intent.cli.app import command_line

from .command import Command, Done


class Inside(Command):
    """As `Command`, run to the end in this process."""

    def __call__(  # type: ignore[override]
        self, *arguments: str | Path, env: Mapping[str, str] | None = None
    ) -> Done:
        given = [str(argument) for argument in arguments]
        with chdir(self.cwd), patch.dict(os.environ, self.environment(env or {}), clear=True):
            result = CliRunner().invoke(command_line(given), given)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)
