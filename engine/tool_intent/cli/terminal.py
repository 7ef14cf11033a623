"""Consoles for people: colour only on a terminal, and never where NO_COLOR says so."""

from __future__ import annotations

import os
import sys
from typing import Literal, NoReturn

import typer
from rich.console import Console
from rich.text import Text


def _console(*, stderr: bool) -> Console:
    # rich's own reading of NO_COLOR leaves bold and dim in.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(
        stderr=stderr, color_system=colours, highlight=False, soft_wrap=True, markup=False,
        emoji=False,
    )  # fmt: skip


out = _console(stderr=False)
err = _console(stderr=True)

STYLES = {"allow": "green", "note": "cyan", "warn": "yellow", "ask": "yellow", "deny": "red"}


def visible(text: str) -> str:
    """`text` with control, format and other unprintable characters escaped, line breaks kept."""
    return "".join(c if c.isprintable() or c == "\n" else f"\\u{{{ord(c):x}}}" for c in text)


def styled(text: str, style: str) -> Text:
    """`text`, made visible, in a style."""
    return Text(visible(text), style=style)


def fail(message: str) -> NoReturn:
    """Say on standard error what is wrong with the usage or input, and exit with 2."""
    err.print(visible(message if "\n" in message else f"tool-intent: {message}"))
    sys.stderr.flush()
    raise typer.Exit(2)
