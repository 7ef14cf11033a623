"""Asking `why` again, after git or the ledger has become another one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..attribution.recorded import Recorded
from ..attribution.truth import PERSON
from ..attribution.world import World
from .command import Command
from .inside import Inside

CALLS = 20


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write("c0", "f.py", "first = 1\n")
    for n in range(1, CALLS):
        world.change(f"c{n}", "f.py", lambda draft, n=n: draft.append([f"value_{n} = {n}"]))  # type: ignore[misc]
        if n == CALLS // 2:
            world.commit()
    world.change(PERSON, "f.py", lambda draft: draft.append(["by_hand = 1"]))
    world.commit()
    return world


@pytest.fixture
def ask(world: World, tmp_path: Path) -> Command:
    Recorded(world, world.folder / ".git" / "tool-intent")
    return Inside(tmp_path, world.folder)


def _amended(git: Callable[..., Any]) -> None:
    git("commit", "--quiet", "--amend", "--message=Amended")


def _rebased(git: Callable[..., Any]) -> None:
    git("rebase", "--quiet", "--force-rebase", "--root")


def _renamed(git: Callable[..., Any]) -> None:
    git("mv", "f.py", "g.py")
    git("commit", "--quiet", "--message=Rename")
    git("mv", "g.py", "f.py")


def _gone_back(git: Callable[..., Any]) -> None:
    git("checkout", "--quiet", "HEAD~1")


@pytest.mark.parametrize("happens", [_amended, _rebased, _renamed, _gone_back])
def test_it_is_answered_as_if_for_the_first_time(
    happens: Callable[[Callable[..., Any]], None], world: World, ask: Command
) -> None:
    kept = world.folder / ".git" / "tool-intent" / "why"
    before = ask("why", "f.py", "--format", "json").out
    assert len(list(kept.iterdir())) == 1
    assert ask("why", "f.py", "--format", "json").out == before
    happens(world.repository.git)
    for more in ((), ("--rev", "HEAD")):
        again = ask("why", *("f.py", "--format", "json"), *more)
        shutil.rmtree(kept)
        anew = ask("why", *("f.py", "--format", "json"), *more)
        assert (again.code, again.out, again.err) == (anew.code, anew.out, anew.err)
    told = json.loads(ask("why", "f.py", "--format", "json").out)["lines"]
    assert [line["state"] for line in told[: CALLS // 2]] == ["exact"] * (CALLS // 2)


def test_sealed_answers_are_gone_on_from_too(world: World, ask: Command) -> None:
    kept = world.folder / ".git" / "tool-intent" / "why"
    assert ask("seal").code == 0
    before = ask("why", "f.py", "--format", "json").out
    assert ask("why", "f.py", "--format", "json").out == before
    shutil.rmtree(kept)
    assert ask("why", "f.py", "--format", "json").out == before
