"""Noticing a change: a `stat` a file, and its content only where that can have missed one."""

from __future__ import annotations

from pathlib import Path
from time import time_ns

import pytest

from tool_intent.compiler.query import File, Loaded, Places
from tool_intent.guard import watching
from tool_intent.guard.watching import Watch
from tool_intent.policy.sources import fingerprint

NOWHERE = Places((), ())


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text("a")
    return path


def watch(file: Path) -> Watch:
    known = File(str(file), "repo", fingerprint(file.read_bytes()), ())
    return Watch(Loaded((known,), places=NOWHERE))


def stamped(monkeypatch: pytest.MonkeyPatch, changed: int) -> None:
    """Every file looks as if it had changed at one time, whatever is done to it."""
    monkeypatch.setattr(watching, "_stamp", lambda _: (changed, 1, 1, 1, 1))


def test_a_file_that_changes_twice_under_one_stamp_is_noticed(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = watch(file)
    stamped(monkeypatch, time_ns())
    assert not watched.changed(NOWHERE)
    file.write_text("b")
    assert watched.changed(NOWHERE)


def test_a_file_that_is_as_it_was_is_not_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watch(file)
    stamped(monkeypatch, time_ns() - 3_600_000_000_000)
    assert not watched.changed(NOWHERE)
    monkeypatch.setattr(watching, "read", pytest.fail)
    assert not watched.changed(NOWHERE)


def test_a_change_between_reading_and_the_first_look_is_noticed(file: Path) -> None:
    watched = watch(file)
    file.write_text("b")
    assert watched.changed(NOWHERE)


@pytest.mark.parametrize("gone", [True, False])
def test_a_file_that_goes_or_is_replaced_is_noticed(gone: bool, file: Path) -> None:
    watched = watch(file)
    assert not watched.changed(NOWHERE)
    file.unlink()
    if not gone:
        file.mkdir()
    assert watched.changed(NOWHERE)
