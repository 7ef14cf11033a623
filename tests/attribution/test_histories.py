"""The histories are what they say, and only what changes substance changes the truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from .fuzz import history
from .histories import HISTORIES
from .truth import PERSON, Line, reflowed, text_of
from .world import World


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_ends_with_the_files_whose_authors_it_tells(name: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    HISTORIES[name](world)
    files = {path: text_of(lines) for path, lines in world.truth.items()}
    assert {path: (world.folder / path).read_text() for path in files} == files
    authors = {line.author for lines in world.truth.values() for line in lines}
    assert PERSON in authors
    assert len(authors - {PERSON, None}) > 1


def test_layout_gives_no_line_another_author() -> None:
    old = [Line("f(a,", "c1"), Line("b)", PERSON), Line("x = 'y'", "c2")]
    assert reflowed(old, 'f(\n  a,\n  b,\n)\nx = "y"\n') == [
        Line("f(", "c1"), Line("  a,", "c1"), Line("  b,", PERSON), Line(")", None),
        Line('x = "y"', "c2"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="more than another layout"):
        reflowed(old, "f(a, c)\nx = 'y'\n")


def test_a_random_history_is_a_chain_and_each_seed_has_its_own() -> None:
    one, same, other = history(1), history(1), history(2)
    assert one == same
    assert one != other
    assert all(a.post == b.pre for a, b in zip(one.steps, one.steps[1:], strict=False))
    assert one.steps[-1].post == text_of(one.lines)
    assert {PERSON} < {step.author for step in one.steps}
