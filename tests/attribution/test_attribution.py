"""Who wrote which line at the end of the histories."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..functional.inside import Inside
from .fuzz import History, history
from .histories import HISTORIES
from .measure import Score, score
from .peers import PEERS, Told, why
from .recorded import Recorded
from .world import World


def _told(world: World, recorded: Recorded, command: Inside) -> Score:
    """How well `why` tells the lines of all files of a world."""
    total = Score()
    for path, lines in world.truth.items():
        done = command("why", path, "--format", "json")
        assert done.code == 0, done.err
        total += score(lines, _calls(json.loads(done.out), recorded, len(lines)))
    return total


def _calls(answer: dict[str, Any], recorded: Recorded, lines: int) -> list[str | None]:
    found: list[str | None] = [None] * lines
    for run in answer["lines"]:
        for n in range(run["start"], run["end"] + 1):
            found[n - 1] = None if run["by"] is None else recorded.names[run["by"]["call"]]
    return found


@pytest.mark.parametrize("name", HISTORIES)
def test_the_lines_of_a_history_are_credited_to_the_calls_that_wrote_them(
    name: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    HISTORIES[name](world)
    recorded = Recorded(world, world.folder / ".git" / "tool-intent")
    found = _told(world, recorded, Inside(tmp_path, world.folder))
    assert found.precision >= 0.98, found
    assert found.recall >= 0.95, found


def _scored(algorithm: Callable[[History], Told], seeds: range) -> Score:
    made = [history(seed) for seed in seeds]
    return sum((score(one.lines, algorithm(one)) for one in made), Score())


def test_random_histories_are_told_rightly_as_a_whole() -> None:
    ours = _scored(why, range(100))
    assert ours.precision >= 0.98, ours
    assert ours.recall >= 0.95, ours


@pytest.mark.slow
def test_others_tell_random_histories_worse() -> None:
    ours = _scored(why, range(40))
    for name, algorithm in PEERS.items():
        other = _scored(algorithm, range(40))
        assert other.precision < ours.precision - 0.1, name
        assert other.recall < ours.recall - 0.1, name
