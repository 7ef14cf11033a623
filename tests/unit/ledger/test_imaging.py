"""Images of files that several places of one call are about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tool_intent.ledger.imaging import changed, images
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.recorder import Changed, Told
from tool_intent.runtime.decision import decided
from tool_intent.runtime.model import Call
from tool_intent.runtime.strip import Carrier

ROLES = {"path": (("edits", "[]", "path"),), "content": (("edits", "[]", "newText"),)}


def _told(*edits: dict[str, str]) -> Told:
    args: dict[str, Any] = {"edits": list(edits)}
    carriers = (Carrier(("edits", "[]"), ("intent",)),)
    decision = decided(None, "multi", (), args, carriers, "")
    return Told(Call(None, "multi", args), decision, ("write",), ROLES)


def _edit(path: str, old: str, new: str, **intent: str) -> dict[str, str]:
    return {"path": path, "oldText": old, "newText": new, **intent}


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(str(tmp_path / "ledger"))


def test_each_file_has_the_entries_that_name_it(tmp_path: Path, store: ObjectStore) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    (tmp_path / "b").write_text("one\n")
    told = _told(
        _edit("a", "one\n", "1\n", intent="A1"),
        _edit("b", "one\n", "1\n", intent="B"),
        _edit("./a", "two\n", "2\n", intent="A2"),
    )
    of_a, of_b = images(told, str(tmp_path), str(tmp_path), store)
    (tmp_path / "a").write_text("1\n2\n")
    (tmp_path / "b").write_text("changed\n")
    between = store.put(b"1\ntwo\n")
    ends = [store.put(text) for text in (b"1\n2\n", b"changed\n")]
    assert list(changed(of_a, store)) == [
        Changed("a", of_a.pre, between, ("/edits/0",)),
        Changed("a", between, ends[0], ("/edits/2",)),
    ]
    assert list(changed(of_b, store)) == [Changed("b", of_b.pre, ends[1], ("/edits/1",))]


def test_an_entry_that_says_nothing_is_told_without_the_reasons_of_others(
    tmp_path: Path, store: ObjectStore
) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    told = _told(_edit("a", "one", "1", intent="A1"), _edit("a", "two", "2"))
    (image,) = images(told, str(tmp_path), str(tmp_path), store)
    (tmp_path / "a").write_text("1\n2\n")
    assert [file.entries for file in changed(image, store)] == [("/edits/0",), ("/edits/1",)]
