"""Uses of waivers: as many as there are, whoever asks at once; none where they cannot be told."""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tool_intent.runtime import uses

NOW = 1_796_126_400.0
ME, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of uses below a home of the test's own."""
    folder = tmp_path / "home" / ".local" / "state" / "tool-intent" / "uses"
    (tmp_path / "home").mkdir()
    monkeypatch.setattr(uses, "folder", lambda: str(folder))
    return folder


def test_there_are_as_many_uses_as_the_waiver_says(kept: Path) -> None:
    assert uses.left(ME, 2) == 2
    assert [uses.take({ME: 2}, NOW) for _ in range(3)] == [True, True, False]
    assert uses.left(ME, 2) == 0
    assert (kept / ME).read_text() == "2026-12-01T12:00:00Z\n" * 2


def test_the_folder_and_its_files_are_for_this_user_alone(kept: Path) -> None:
    assert uses.take({ME: 1}, NOW)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert stat.S_IMODE((kept / ME).stat().st_mode) == 0o600


def test_looking_takes_nothing_and_makes_nothing(kept: Path) -> None:
    assert uses.left(ME, 1) == 1
    assert not kept.exists()


def test_of_two_waivers_both_are_used_or_none(kept: Path) -> None:
    assert uses.take({OTHER: 1}, NOW)
    assert not uses.take({ME: 5, OTHER: 1}, NOW)
    assert uses.left(ME, 5) == 5
    assert uses.take({ME: 5, OTHER: 2}, NOW)
    assert (uses.left(ME, 5), uses.left(OTHER, 2)) == (4, 0)


@pytest.mark.parametrize("what", ["a link", "a folder", "other bytes", "open to others"])
def test_a_file_that_is_not_as_it_should_be_is_used_up(what: str, kept: Path) -> None:
    assert uses.take({OTHER: 9}, NOW)
    path = kept / ME
    if what == "a link":
        path.symlink_to(kept / OTHER)
    elif what == "a folder":
        path.mkdir()
    else:
        path.write_text("2026" if what == "other bytes" else "")
        path.chmod(0o666 if what == "open to others" else 0o600)
    with pytest.raises(uses.Unusable):
        uses.left(ME, 9)
    assert not uses.take({ME: 9}, NOW)


def test_a_folder_that_others_can_write_holds_no_uses(kept: Path) -> None:
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    assert not uses.take({ME: 9}, NOW)


@pytest.mark.skipif(os.geteuid() == 0, reason="root can write everywhere")
def test_a_home_that_cannot_be_written_has_no_uses(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "home").chmod(0o500)
    with pytest.raises(uses.Unusable):
        uses.left(ME, 1)
    assert not uses.take({ME: 1}, NOW)


def test_who_holds_the_lock_for_ever_lets_nobody_pass(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr(uses, "_PATIENCE", 0.05)
    assert uses.take({ME: 9}, NOW)
    with (kept / ME).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not uses.take({ME: 9}, NOW)
    assert uses.take({ME: 9}, NOW)


def test_eight_threads_take_exactly_as_many(kept: Path) -> None:
    start = threading.Barrier(8)

    def work(_: int) -> int:
        start.wait(60)
        return sum(uses.take({ME: 21, OTHER: 30}, NOW) for _ in range(6))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 21
    assert (uses.left(ME, 21), uses.left(OTHER, 30)) == (0, 9)


def _in_a_process(folder: str, start: object, told: object) -> None:
    uses.folder = lambda: folder  # type: ignore[assignment]
    start.wait(60)  # type: ignore[attr-defined]
    told.put(sum(uses.take({ME: 21}, NOW) for _ in range(6)))  # type: ignore[attr-defined]


def test_eight_processes_take_exactly_as_many(kept: Path) -> None:
    spawn = multiprocessing.get_context("forkserver")
    start, told = spawn.Barrier(8), spawn.Queue()
    workers = [spawn.Process(target=_in_a_process, args=(str(kept), start, told)) for _ in range(8)]
    for worker in workers:
        worker.start()
    assert sum(told.get(timeout=120) for _ in workers) == 21
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0


def test_the_home_is_the_one_that_the_system_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.setenv("HOME", "/elsewhere")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    home = pwd.getpwuid(os.geteuid()).pw_dir
    assert uses.folder() == f"{home}/.local/state/tool-intent/uses"
