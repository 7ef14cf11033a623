"""Loading policies for a command, or saying why not."""

from __future__ import annotations

from typing import Literal

from tool_intent.cli.decide import explained
from tool_intent.cli.terminal import err, fail, visible
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import PolicyError, load
from tool_intent.runtime.model import Point


def load_or_fail(
    sources: list[str],
    *,
    found: bool,
    cwd: str | None = None,
    allow_empty: bool = False,
    remember: bool = False,
    point: Point | Literal[""] = "",
) -> Artifact:
    """The artifact, or exit 2 with what is wrong on standard error. `remember` and `point` are
    `load`'s."""
    try:
        artifact = load(
            sources, found=found, cwd=cwd, allow_empty=allow_empty, remember=remember, point=point
        )
    except PolicyError as error:
        fail(explained(error))
    for note in artifact.notes:
        err.print(visible(f"tool-intent: {note}"))
    return artifact
