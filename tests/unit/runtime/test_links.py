"""Links are looked at once a decision, and again for the next."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tool_intent.runtime import links
from tool_intent.runtime.paths import Place, directory, like, under


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = os.path.realpath(tmp_path)
    return Place(root, root, os.path.join(root, "home"), case_insensitive=False)


def _asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    looked: list[str] = []
    lstat = os.lstat

    def counted(path: Any) -> os.stat_result:
        looked.append(path)
        return lstat(path)

    monkeypatch.setattr(os, "lstat", counted)
    return looked


def test_a_decision_looks_at_each_link_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = _asked(monkeypatch)
    here = place._replace(seen=links.Seen())
    for _ in range(2):
        assert under("a/b", ["keys", "~/.ssh", "~/.aws"], here) is False
        assert like("a/b", ["~/.ssh/*", "/etc/shadow"], here) is False
    assert len(looked) == len(set(looked))


def test_each_decision_looks_anew(place: Place) -> None:
    def answers() -> tuple[bool | None, bool | None]:
        here = place._replace(seen=links.Seen())
        return under("a/b", ["keys"], here), like("a/b", [f"{place.root}/keys/b"], here)

    assert answers() == (False, False)
    os.mkdir(os.path.join(place.root, "a"))
    os.symlink("a", os.path.join(place.root, "keys"))
    assert answers() == (True, True)
    os.unlink(os.path.join(place.root, "keys"))
    assert answers() == (False, False)


def test_a_folder_is_read_again_only_where_a_link_on_its_way_changed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.symlink("one", os.path.join(place.root, "now"))
    first = directory("now/x", place)
    assert first.real == f"{place.root}/one/x"
    with monkeypatch.context() as patch:
        patch.setattr(links, "real", None)
        assert directory("now/x", place) is first
    os.unlink(os.path.join(place.root, "now"))
    os.symlink("two", os.path.join(place.root, "now"))
    assert directory("now/x", place).real == f"{place.root}/two/x"
