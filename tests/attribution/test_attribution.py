"""Who wrote which line at the end of the histories, beside what others would say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_intent.ledger.attribution.hops import Author, related, steps
from tool_intent.ledger.attribution.replaying import Replay
from tool_intent.ledger.objects import oid_of

from .histories import HISTORIES
from .measure import Score, score
from .recorded import Recorded
from .world import World


def told(world: World) -> Score:
    """How well the lines of all files of a world are told."""
    recorded = Recorded(world)
    total = Score()
    for path, lines in world.truth.items():
        text = (world.folder / path).read_bytes()
        names = world.names_of(path)
        replay = Replay(recorded.contents.get, names)
        replay.run(related(steps(recorded.records), names), [oid_of(text)])
        owners = replay.attributed(path, oid_of(text), text).owners
        calls = [owned.touch.by for owned in owners]
        found = [recorded.names[by.call] if isinstance(by, Author) else None for by in calls]
        for n, (a, b) in enumerate(zip(lines, found)):
            if a.text.strip() and (a.author or None) != b:
                print(path, n, a, b, owners[n].reformatted, owners[n].moved)
        total += score(lines, found)
    return total


@pytest.mark.parametrize("name", HISTORIES)
def test_the_lines_of_a_history_are_credited_to_the_calls_that_wrote_them(
    name: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    HISTORIES[name](world)
    found = told(world)
    print(found, found.precision, found.recall)
    assert found.precision >= 0.98, found
    assert found.recall >= 0.95, found
