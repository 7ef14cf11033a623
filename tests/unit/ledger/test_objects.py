"""Contents by the names that git gives them."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path
from time import time

import pytest

from tool_intent.ledger import objects
from tool_intent.ledger.objects import ObjectStore, oid_of


@pytest.mark.parametrize("data", [b"", b"a\n", b"\0\xff" * 1000, "ü\r\n".encode()])
def test_a_content_comes_back_under_the_name_that_git_gives_it(data: bytes, tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path / "ledger"))
    oid = store.put(data)
    git = subprocess.run(
        ["git", "hash-object", "--stdin", "--no-filters"], input=data, capture_output=True,
        check=True,
    )  # fmt: skip
    assert oid == oid_of(data) == git.stdout.decode().strip()
    assert store.get(oid) == data
    assert store.put(data) == oid
    path = tmp_path / "ledger" / "objects" / oid[:2] / oid[2:]
    assert path.stat().st_mode & 0o777 == 0o600
    for folder in (path.parent, path.parent.parent, tmp_path / "ledger"):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert zlib.decompress(path.read_bytes()) == b"blob %d\0" % len(data) + data
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_content_that_was_changed_is_not_given_out(tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path))
    oid = store.put(b"a")
    path = tmp_path / "objects" / oid[:2] / oid[2:]
    for forged in (zlib.compress(b"blob 1\0b"), b"no zlib", b"", b"\x78"):
        path.write_bytes(forged)
        assert store.get(oid) is None


@pytest.mark.parametrize("oid", ["", "0" * 40, "../" * 13 + "a", "0" * 64, "é" * 40, "/" * 40])
def test_a_name_that_is_none_gives_nothing(oid: str, tmp_path: Path) -> None:
    assert ObjectStore(str(tmp_path)).get(oid) is None


def test_a_file_is_kept_through_a_link_and_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    store = ObjectStore(str(tmp_path / "ledger"))
    (tmp_path / "file").write_bytes(b"a")
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "pipe")
    assert store.put_file(str(tmp_path / "file")) == store.put_file(str(tmp_path / "link"))
    for name in ("pipe", "ledger", "missing", "file/below"):
        assert store.put_file(str(tmp_path / name)) is None


def test_a_content_over_the_limit_is_named_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "LARGEST", 8)
    store = ObjectStore(str(tmp_path / "ledger"))
    (tmp_path / "file").write_bytes(b"123456789")
    assert store.put_file(str(tmp_path / "file")) == store.put(b"123456789") == oid_of(b"123456789")
    assert not (tmp_path / "ledger").exists()


KILLED = """
import os, signal, sys
from tool_intent.ledger.objects import ObjectStore
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
ObjectStore(sys.argv[1]).put(b"half")
"""


def _files(folder: Path) -> list[Path]:
    return [path for path in (folder / "objects").rglob("*") if path.is_file()]


def test_what_a_killed_writer_left_is_no_content_and_goes_after_an_hour(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -9
    (draft,) = _files(tmp_path)
    store = ObjectStore(str(tmp_path))
    assert store.get(oid_of(b"half")) is None
    store.put(b"other")
    assert draft.exists()  # it may be another writer's, who is still at it
    os.utime(draft, (time() - 3_700, time() - 3_700))
    store.put(b"more")
    assert draft.exists()  # it is looked for once for each writer
    later = ObjectStore(str(tmp_path))
    later.put(b"half")
    assert not draft.exists()
    assert [later.get(oid_of(one)) for one in (b"half", b"other", b"more")] == [
        b"half", b"other", b"more",
    ]  # fmt: skip
    assert len(_files(tmp_path)) == 3


def test_a_writer_whose_draft_was_cleared_writes_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, removed = os.replace, []

    def cleared(draft: str, path: str) -> None:
        if not removed:  # it was asleep for more than an hour
            removed.append(draft)
            os.utime(draft, (time() - 3_700, time() - 3_700))
            ObjectStore(str(tmp_path)).put(b"another writer's")
        real(draft, path)

    store = ObjectStore(str(tmp_path))
    monkeypatch.setattr(os, "replace", cleared)
    assert store.get(store.put(b"a")) == b"a"
    assert not any((tmp_path / "objects" / "drafts").iterdir())


def test_a_file_of_100_mb_is_named_as_git_names_it_and_not_kept(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.write(b"begin")
        file.truncate(100 << 20)
    git = subprocess.run(
        ["git", "hash-object", "--no-filters", tmp_path / "large"], capture_output=True, check=True
    )
    store = ObjectStore(str(tmp_path / "ledger"))
    assert store.put_file(str(tmp_path / "large")) == git.stdout.decode().strip()
    assert not (tmp_path / "ledger").exists()
