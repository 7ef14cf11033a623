"""Appending: whoever writes, whenever it is stopped, the chain goes on from its last record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from fcntl import LOCK_EX, flock
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from tool_intent.ledger import appending
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.chain import GENESIS
from tool_intent.ledger.place import LedgerError
from tool_intent.ledger.reading import lines, records
from tool_intent.ledger.segments import segments
from tool_intent.ledger.verifying import verify

from .writers import start

NOON = 1_796_040_000.0
DAY = 86_400


def note(appender: Appender, n: Any = 0, **more: Any) -> Any:
    return appender.append("marker", {"kind": "policy", "detail": {"n": n, **more}})


def told(folder: Path) -> list[Any]:
    """Each record by its type, or a marker's kind and detail."""
    return [
        (r["kind"], *([r["detail"]["n"]] if "n" in r["detail"] else []))
        if r["type"] == "marker"
        else r["type"]
        for r in records(str(folder))
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def test_a_ledger_begins_with_a_header_and_is_private(folder: Path) -> None:
    appender = Appender(str(folder), clock=lambda: NOON)
    receipt = note(appender)
    path = folder / "ledger-2026-11-30-001.jsonl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    header, record = records(str(folder))
    assert (header["type"], header["seq"], header["prev"]) == ("header", 1, GENESIS)
    assert header["segment"] == path.name
    assert (record["seq"], record["prev"]) == (2, header["hash"])
    assert (record["id"], record["seq"], record["hash"]) == receipt
    assert record["ts"] == "2026-11-30T12:00:00.000Z"


def test_one_that_is_let_go_of_holds_no_file_open(folder: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        note(Appender(str(folder)))
    assert len(os.listdir("/proc/self/fd")) == before


def test_two_that_write_by_turns_make_one_chain(folder: Path) -> None:
    one, other = Appender(str(folder)), Appender(str(folder))
    for n in range(10):
        note(one, n)
        note(other, n)
    found = verify(str(folder))
    assert (found.whole, found.records) == (True, 21)


def test_threads_make_one_chain(folder: Path) -> None:
    appender = Appender(str(folder))
    threads = [
        threading.Thread(target=lambda: [note(appender, n) for n in range(50)]) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = verify(str(folder))
    assert (found.whole, found.records) == (True, 401)


def test_a_fork_makes_one_chain_with_its_parent(folder: Path) -> None:
    """A lock taken before the fork is one lock for both."""
    code = (
        "import os, sys\n"
        "from tool_intent.ledger.appending import Appender\n"
        "a = Appender(sys.argv[1])\n"
        "mark = lambda: a.append('marker', {'kind': 'gap', 'detail': {}})\n"
        "mark()\n"
        "child = os.fork()\n"
        "for _ in range(300): mark()\n"
        "if child: sys.exit(os.waitpid(child, 0)[1])\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
    found = verify(str(folder))
    assert (found.whole, found.records) == (True, 602)


def test_ti_073_a_writer_that_is_killed_loses_nothing_and_splices_nothing(folder: Path) -> None:
    """The list's own numbers: 8 processes by 500 appends, one killed midway."""
    folder.mkdir()
    outs = [folder.parent / f"out-{n}" for n in range(8)]
    # The one to be killed would go on for long.
    numbers = [1_000_000, *[500] * 7]
    writers = [start(folder, str(n), numbers[n], out) for n, out in enumerate(outs)]
    while outs[0].stat().st_size < 50 and writers[0].poll() is None:
        sleep(0.005)
    writers[0].send_signal(signal.SIGKILL)
    codes = [writer.wait(120) for writer in writers]
    assert codes == [-signal.SIGKILL, *[0] * 7]
    kept = {
        (r["detail"]["writer"], r["detail"]["n"]): r["hash"]
        for r in records(str(folder))
        if r["type"] == "marker" and "writer" in r["detail"]
    }
    for name, out in enumerate(outs):
        for said in out.read_text().splitlines(keepends=True):
            if said.endswith("\n"):
                n, digest = said.split()
                assert kept[str(name), int(n)] == digest
    bad = [line for line in lines(str(folder)) if line.record is None]
    assert len(bad) <= 1
    assert all(p.fault == "line" for p in verify(str(folder)).problems)


def _record(folder: Path) -> tuple[bytes, int]:
    """A segment of three records, and where the last one begins."""
    appender = Appender(str(folder), clock=lambda: NOON)
    for n in (1, 2):
        note(appender, n)
    data = (folder / "ledger-2026-11-30-001.jsonl").read_bytes()
    return data, data.rindex(b"\n", 0, -1) + 1


def test_a_kill_at_every_byte_of_an_append_leaves_a_chain_that_can_be_verified(
    folder: Path,
) -> None:
    data, begin = _record(folder)
    (path,) = folder.iterdir()
    for cut in range(begin, len(data) + 1):
        path.write_bytes(data[:cut])
        note(Appender(str(folder), clock=lambda: NOON), 3)
        found = verify(str(folder))
        torn = begin < cut < len(data) - 1
        assert [p.fault for p in found.problems] == (["line"] if torn else []), cut
        before = ["header", ("policy", 1), *([("policy", 2)] if cut >= len(data) - 1 else [])]
        assert told(folder) == [*before, *([("torn",)] if torn else []), ("policy", 3)], cut


def test_a_writer_that_was_stopped_in_the_middle_is_noticed_by_one_that_goes_on(
    folder: Path,
) -> None:
    appender = Appender(str(folder), clock=lambda: NOON)
    note(appender, 1)
    with (folder / "ledger-2026-11-30-001.jsonl").open("ab") as file:
        file.write(b'{"v":"tool-in')
    note(appender, 2)
    assert told(folder) == ["header", ("policy", 1), ("torn",), ("policy", 2)]
    (torn,) = [r for r in records(str(folder)) if r.get("kind") == "torn"]
    assert torn["detail"] == {"bytes": 13}


def test_ti_077_an_unreadable_last_line_does_not_begin_the_chain_anew(folder: Path) -> None:
    data, _ = _record(folder)
    (path,) = folder.iterdir()
    for junk, kinds in [(b"TRUNCATED", ["torn"]), (b"x\ny\n", ["gap"]), (b"x\ny", ["torn", "gap"])]:
        path.write_bytes(data + junk)
        last = json.loads(data.splitlines()[-1])
        note(Appender(str(folder), clock=lambda: NOON), 3)
        after = [r for r in records(str(folder)) if r["seq"] > last["seq"]]
        assert after[0]["prev"] == last["hash"]
        assert [r["kind"] for r in after] == [*kinds, "policy"]
        assert all(p.fault == "line" for p in verify(str(folder)).problems)


def test_where_nothing_can_be_linked_to_the_new_beginning_is_said(folder: Path) -> None:
    folder.mkdir()
    (folder / "ledger-2026-11-30-001.jsonl").write_bytes(b"not\na ledger\n")
    note(Appender(str(folder), clock=lambda: NOON))
    anchor, _ = records(str(folder))
    assert (anchor["kind"], anchor["seq"], anchor["prev"]) == ("anchor", 1, GENESIS)
    assert [p.fault for p in verify(str(folder)).problems] == ["line", "line"]


def test_a_segment_of_rubbish_is_linked_to_the_one_before(folder: Path) -> None:
    appender = Appender(str(folder), clock=lambda: NOON)
    before = note(appender)
    (folder / "ledger-2026-12-01-001.jsonl").write_bytes(b"rubbish\n")
    note(Appender(str(folder), clock=lambda: NOON + DAY))
    gap, _ = [r for r in records(str(folder)) if r["seq"] > before.seq]
    assert (gap["kind"], gap["prev"]) == ("gap", before.hash)


def test_a_segment_that_was_cut_short_meanwhile_is_told(folder: Path) -> None:
    appender = Appender(str(folder), clock=lambda: NOON)
    data, begin = _record(folder)
    last = note(appender, 3)
    (path,) = folder.iterdir()
    path.write_bytes(data[:begin])
    note(appender, 4)
    assert told(folder) == ["header", ("policy", 1), ("gap",), ("policy", 4)]
    (gap,) = [r for r in records(str(folder)) if r.get("kind") == "gap"]
    assert gap["detail"] == {"expected": last.hash}


# Segments


def test_a_new_day_begins_a_segment_that_is_linked_to_the_last(folder: Path) -> None:
    times = iter([NOON, NOON, NOON + DAY, NOON + DAY, NOON + DAY, NOON + DAY, NOON + DAY])
    one, other = (Appender(str(folder), clock=lambda: next(times)) for _ in range(2))
    note(one, 1)
    note(one, 2)
    note(other, 3)
    assert [s.name[7:] for s in segments(str(folder))] == [
        "2026-11-30-001.jsonl", "2026-12-01-001.jsonl",
    ]  # fmt: skip
    assert told(folder) == [
        "header", ("policy", 1), ("closed",), "header", ("policy", 2), ("policy", 3),
    ]  # fmt: skip
    assert verify(str(folder)).whole


def test_a_full_segment_is_closed_and_all_go_on_in_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "LARGEST", 2_000)
    one, other = (Appender(str(folder), clock=lambda: NOON) for _ in range(2))
    for n in range(20):
        note(one, n)
        note(other, n)
    found = segments(str(folder))
    assert len(found) > 3
    assert [s.number for s in found] == [*range(1, len(found) + 1)]
    assert verify(str(folder)).whole
    assert [t[1] for t in told(folder) if t[0] == "policy"] == [n for n in range(20) for _ in "12"]


@pytest.mark.parametrize("stopped", ["before", "empty", "torn header"])
def test_a_writer_that_is_stopped_between_two_segments_leaves_one_chain(
    stopped: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    appender = Appender(str(folder), clock=lambda: NOON)
    note(appender, 1)
    monkeypatch.setattr(appending, "LARGEST", 10)
    note(appender, 2)
    second = segments(str(folder))[1]
    if stopped == "before":
        os.remove(second.path)
    else:
        os.truncate(second.path, 0 if stopped == "empty" else 50)
    monkeypatch.undo()
    note(Appender(str(folder), clock=lambda: NOON), 3)
    found = verify(str(folder))
    assert [p.fault for p in found.problems] == (["line"] if stopped == "torn header" else [])
    assert told(folder)[-1] == ("policy", 3)
    assert len(segments(str(folder))) == 2


@pytest.mark.parametrize("what", ["removed", "moved", "replaced", "folder"])
def test_a_segment_that_is_taken_away_is_not_written_to_any_more(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "_INTERVAL", 0)
    appender = Appender(str(folder), clock=lambda: NOON)
    note(appender, 1)
    (path,) = folder.iterdir()
    if what == "removed":
        path.unlink()
    elif what == "moved":
        path.rename(folder / "aside")
    elif what == "replaced":
        (folder / "new").write_bytes(path.read_bytes())
        (folder / "new").rename(path)
    else:
        path.unlink()
        folder.rmdir()
    note(appender, 2)
    assert told(folder) == [
        "header",
        *([("policy", 1)] if what == "replaced" else []),
        ("policy", 2),
    ]
    assert verify(str(folder)).whole


# Clocks


def test_a_clock_that_goes_back_is_told_once(folder: Path) -> None:
    times = iter([NOON] * 4 + [NOON - 2 * DAY] * 3 + [NOON] * 2)
    appender = Appender(str(folder), clock=lambda: next(times))
    for n in range(5):
        note(appender, n)
    assert told(folder) == [
        "header", ("policy", 0), ("policy", 1), ("policy", 2), ("clock",), ("policy", 3),
        ("policy", 4),
    ]  # fmt: skip
    (clock,) = [r for r in records(str(folder)) if r.get("kind") == "clock"]
    assert clock["detail"] == {"last": "2026-11-30T12:00:00.000Z"}
    assert len(segments(str(folder))) == 1
    assert verify(str(folder)).whole


# What cannot be written


def test_a_folder_that_cannot_be_made_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=r"file/ledger: not a directory"):
        note(Appender(str(tmp_path / "file" / "ledger")))


def test_a_segment_that_is_a_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (tmp_path / "victim").write_text("keep\n")
    (folder / "ledger-2026-11-30-001.jsonl").symlink_to(tmp_path / "victim")
    with pytest.raises(LedgerError, match="symbolic links"):
        note(Appender(str(folder)))
    assert (tmp_path / "victim").read_text() == "keep\n"


FULL = """
import resource, signal, sys
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.place import LedgerError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
a = Appender(sys.argv[1])
mark = lambda: a.append("marker", {"kind": "policy", "detail": {"n": 0, "text": "x" * 300}})
mark()
limit = sum(p.stat().st_size for p in __import__("pathlib").Path(sys.argv[1]).iterdir()) + 100
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
for _ in range(2):
    try:
        mark()
        sys.exit("it was written")
    except LedgerError as error:
        assert "too large" in str(error), error
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
mark()
"""


def test_a_disk_that_takes_half_a_record_keeps_none_of_it(folder: Path) -> None:
    """A limit on the file's size stands for a full disk: 100 bytes are written, and no more."""
    subprocess.run([sys.executable, "-c", FULL, str(folder)], check=True)
    assert told(folder) == ["header", ("policy", 0), ("policy", 0)]
    assert verify(str(folder)).whole


def test_a_lock_that_is_not_let_go_is_an_error_and_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "PATIENCE", 0.05)
    appender = Appender(str(folder))
    note(appender)
    (path,) = folder.iterdir()
    with path.open("rb") as held:
        flock(held, LOCK_EX)
        with pytest.raises(LedgerError, match="another process has locked it"):
            note(appender)
    note(appender)
    assert told(folder) == ["header", ("policy", 0), ("policy", 0)]


@pytest.mark.parametrize(
    ("full", "sync", "synced"), [(False, False, 0), (True, False, 1), (False, True, 1)]
)
def test_what_is_to_survive_a_power_cut_is_synced(
    full: bool, sync: bool, synced: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []
    real = os.fdatasync
    appender = Appender(str(folder), full=full)
    note(appender)
    monkeypatch.setattr(os, "fdatasync", lambda fd: (calls.append(fd), real(fd)))
    appender.append("marker", {"kind": "sealed", "detail": {}}, sync=sync)
    assert len(calls) == synced
