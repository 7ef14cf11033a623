"""`log --import`: sessions that agents kept themselves, brought into the ledger."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import typer

from tool_intent.cli.options import Format
from tool_intent.cli.terminal import err, fail, out, visible
from tool_intent.ledger.imports.importing import Imported, Importer
from tool_intent.ledger.imports.model import NotASession
from tool_intent.ledger.place import LedgerError, ledger_folder, worktree
from tool_intent.runtime.wire import dump


def import_sessions(files: Iterable[Path], format_: Format) -> NoReturn:
    """Import sessions of pi and Claude Code into the ledger of this folder, and tell what came of
    each. Ends the command: with 2 where a file was none, or could not be read or kept."""
    here = worktree(os.getcwd())
    wrong = False
    told = []
    try:
        folder = ledger_folder(os.getcwd())
        if folder is None:
            fail("TOOL_INTENT_LEDGER is off, so nothing is recorded; unset it, or name a folder")
        importer = Importer(folder, "" if here is None else here.root)
    except (LedgerError, OSError) as error:
        fail(f"the ledger cannot be used: {error}")
    for file in files:
        try:
            done = importer.take(str(file))
        except NotASession as error:
            err.print(visible(f"tool-intent: {file}: {error}"))
            wrong = True
        except OSError as error:
            err.print(visible(f"tool-intent: {file} cannot be read: {error.strerror}"))
            wrong = True
        except LedgerError as error:
            fail(f"{file} was not imported to its end: {error}")
        else:
            told.append((file, done))
    _tell(told, format_)
    raise typer.Exit(2 if wrong else 0)


def _tell(told: list[tuple[Path, Imported]], format_: Format) -> None:
    for file, done in told:
        for fault in done.faults:
            err.print(visible(f"{file}:{fault}"))
        if format_ is Format.JSON:
            typer.echo(dump({"file": str(file), **done._asdict()}))
        else:
            calls = f"{done.written} call{'' if done.written == 1 else 's'}"
            known = f", {done.known} known already" if done.known else ""
            out.print(visible(f"{file}: {calls} imported{known}"))
