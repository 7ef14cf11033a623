"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, TypeAlias

import typer


class Format(StrEnum):
    """How a command prints data."""

    TEXT = "text"
    JSON = "json"


Policies: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--policy", metavar="P", help="A policy file, folder or pack; repeatable."),
]
Formatted: TypeAlias = Annotated[Format, typer.Option("--format", help="For people, or JSON.")]
