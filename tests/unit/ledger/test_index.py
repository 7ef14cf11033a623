"""The index answers what reading every line answers, whatever happens to it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tool_intent.ledger import adding, appending, choosing, index, postings
from tool_intent.ledger.adding import Adding
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.families import Family
from tool_intent.ledger.index import NAME, Index
from tool_intent.ledger.queries import Entry, Wanted, matches
from tool_intent.ledger.reading import records

TOOLS = ("edit", "bash", "mcp__a__[x]")


def decision(n: int) -> dict[str, Any]:
    verdict = ("allow", "ask", "deny")[n % 3]
    rules = [{"id": f"fields/{n % 2}", "effect": verdict, "at": ""}] if n % 3 else []
    return {
        "session": {"id": f"s{n % 4}"},
        "actor": {"worktree": "/w"},
        "call": {"tool": TOOLS[n % 3], "surface": "run"},
        "actions": [{"kind": "read", "path": f"/w/src/{n % 5}.py"}],
        "files": [{"path": f"doc/{n % 2}\n.md", "pre": None}],
        "args": {},
        "decision": {"verdict": verdict, "rules": rules, "policy": "p"},
    }


def fill(folder: Path, numbers: range, seconds: float = 1_796_040_000.0) -> None:
    times = iter(seconds + n for n in range(10_000))
    appender = Appender(str(folder), clock=lambda: next(times))
    for n in numbers:
        kept = appender.append("decision", decision(n))
        if n % 2:
            appender.append("outcome", {"of": kept.id, "ok": n % 4 == 1})


def by_reading(folder: Path, wanted: Wanted) -> list[Entry]:
    everything = list(records(str(folder)))
    family = Family(wanted.session or "")
    for record in everything:
        family.learn(record)
    outcomes = {r["of"]: r for r in everything if r["type"] == "outcome"}
    return [Entry(r, outcomes.get(r["id"])) for r in everything if matches(r, wanted, family)]


def asked(folder: Path, wanted: Wanted = Wanted(), last: int | None = None) -> list[Entry]:  # noqa: B008
    index = Index(str(folder))
    try:
        return list(index.entries(wanted, last))
    finally:
        index.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fill(tmp_path, range(60))
    return tmp_path


SESSIONS = (None, "s1", "s", "")
PATHS = (None, "src", "src/2.py", "sr", "doc/1\n.md", ".", "/w/src")
RULES = (None, "fields/1", "fields/*", "*/0")


def test_it_answers_what_reading_every_line_answers(folder: Path) -> None:
    index = Index(str(folder))
    found = 0
    choices = product(
        SESSIONS, (None, "bash", "[be]*", "mcp__*", "mcp__a__[x]"), PATHS, RULES, (None, "deny"),
        (None, "2026-11-30T12:00:30.000Z"),
    )  # fmt: skip
    for choice in choices:
        wanted = Wanted(*choice)
        expected = by_reading(folder, wanted) if hash(choice) % 7 == 0 else None
        answer = list(index.entries(wanted))
        assert expected is None or answer == expected, wanted
        found += len(answer)
    index.close()
    assert found > 1_000


def test_the_newest_come_oldest_first(folder: Path) -> None:
    everything = asked(folder)
    assert len(everything) == 60
    assert asked(folder, last=3) == everything[-3:]
    assert asked(folder, last=0) == []
    assert asked(folder, Wanted(tool="bash"), last=2) == asked(folder, Wanted(tool="bash"))[-2:]


def test_what_is_written_later_is_found_and_only_that_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(folder)
    monkeypatch.setattr(appending, "LARGEST", 4_000)
    fill(folder, range(60, 90), 1_796_050_000.0)
    added: list[Any] = []
    real = Adding.add
    monkeypatch.setattr(Adding, "add", lambda self, line: (added.append(line), real(self, line)))
    assert asked(folder) == by_reading(folder, Wanted())
    assert 30 <= len(added) < 90


@pytest.mark.parametrize("what", ["deleted", "rubbish", "empty", "other version", "a folder"])
def test_an_index_that_is_gone_or_broken_is_made_again(what: str, folder: Path) -> None:
    before = asked(folder)
    path = folder / NAME
    if what == "other version":
        database = sqlite3.connect(path)
        database.execute("PRAGMA user_version = 99")
        database.close()
    else:
        path.unlink()
        if what == "a folder":
            path.mkdir()
        elif what != "deleted":
            path.write_bytes(b"rubbish" * 1_000 if what == "rubbish" else b"")
    assert asked(folder) == before


@pytest.mark.parametrize("what", ["cut", "replaced", "gone", "edited"])
def test_the_lines_count_and_not_what_the_index_says_of_them(what: str, folder: Path) -> None:
    asked(folder)
    (path,) = folder.glob("*.jsonl")
    data = path.read_bytes()
    if what == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif what == "replaced":
        path.unlink()
        fill(folder, range(5))
    elif what == "gone":
        path.unlink()
    else:
        path.write_bytes(data.replace(b'"tool":"bash"', b'"tool":"dash"'))
    assert asked(folder, Wanted(tool="bash")) == by_reading(folder, Wanted(tool="bash"))


def test_swapped_segments_are_told_in_the_order_of_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "LARGEST", 4_000)
    fill(tmp_path, range(20))
    before = asked(tmp_path)
    first, second, *_ = sorted(tmp_path.glob("*.jsonl"))
    texts = second.read_bytes(), first.read_bytes()
    first.write_bytes(texts[0])
    second.write_bytes(texts[1])
    answer = asked(tmp_path)
    assert answer == by_reading(tmp_path, Wanted()) != before
    assert len(answer) == len(before)


def test_what_was_written_while_the_clock_was_back_is_found_by_its_time(tmp_path: Path) -> None:
    for begin in (1_796_040_000.0, 1_796_030_000.0, 1_796_050_000.0):
        fill(tmp_path, range(10), begin)
    times = [entry.decision["ts"] for entry in asked(tmp_path)]
    assert times != sorted(times)
    for since in (times[0], times[12], times[25], "2026-11-30T10:00:00.000Z"):
        wanted = Wanted(since=since)
        assert asked(tmp_path, wanted) == by_reading(tmp_path, wanted)
        assert asked(tmp_path, wanted, last=3) == by_reading(tmp_path, wanted)[-3:]


ASKING = """
import sys
from tool_intent.ledger.index import Index
from tool_intent.ledger.queries import Wanted
for _ in range(5):
    index = Index(sys.argv[1])
    seqs = [entry.decision["seq"] for entry in index.entries(Wanted(tool="bash"))]
    assert seqs == sorted(set(seqs)), seqs
    print(len(seqs))
    index.close()
"""


def test_several_that_ask_while_one_writes_see_every_record_once(folder: Path) -> None:
    command = [sys.executable, "-c", ASKING, str(folder)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    while any(process.poll() is None for process in processes):
        fill(folder, range(60, 63), 1_796_060_000.0)
    for process in processes:
        counts = [int(count) for count in process.communicate()[0].split()]
        assert process.returncode == 0
        assert len(counts) == 5
        assert counts == sorted(counts)
    assert asked(folder) == by_reading(folder, Wanted())


def test_an_index_that_another_process_holds_is_left_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = asked(folder)
    fill(folder, range(60, 62), 1_796_060_000.0)
    monkeypatch.setattr(index, "_PATIENCE", 0.1)
    with closing(sqlite3.connect(folder / NAME, isolation_level=None)) as other:
        for lock in ("IMMEDIATE", "EXCLUSIVE"):
            other.execute(f"BEGIN {lock}")
            other.execute("DELETE FROM decisions WHERE row = 0")
            assert asked(folder)[:-2] == expected
            other.execute("ROLLBACK")
        file = (folder / NAME).stat().st_ino
    assert asked(folder) == by_reading(folder, Wanted())
    assert (folder / NAME).stat().st_ino == file


def test_an_index_that_is_up_to_date_is_read_while_another_process_means_to_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = asked(folder)
    monkeypatch.setattr(Index, "_in_memory", None)
    with closing(sqlite3.connect(folder / NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert asked(folder) == expected


def test_a_segment_that_another_process_saw_first_does_not_begin_the_index_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appending, "LARGEST", 4_000)
    fill(folder, range(60, 70), 1_796_060_000.0)
    asked(folder)
    now = index.segments(str(folder))
    seen = iter([now[:-1]])  # as it was when this process looked first
    monkeypatch.setattr(index, "segments", lambda _: next(seen, now))
    monkeypatch.setattr(Index, "_forget", None)
    assert asked(folder) == by_reading(folder, Wanted())


def test_the_index_is_private(folder: Path) -> None:
    asked(folder)
    assert os.stat(folder / NAME).st_mode & 0o777 == 0o600


def _started(folder: Path, *sessions: tuple[str, str | None]) -> None:
    appender = Appender(str(folder))
    for own, parent in sessions:
        body = decision(0) | {"session": {"id": own} | ({"parent": parent} if parent else {})}
        appender.append("decision", body)


CHAINS = [
    ([("a", None), ("b", "a"), ("c", "b")], "a", "abc"),
    ([("a", None), ("b", "a"), ("c", "b")], "b", "bc"),
    ([("c", "b"), ("b", "a"), ("a", None), ("c", "b")], "a", "cbac"),  # the youngest first
    ([("c", "b"), ("b", "a")], "a", "cb"),  # its own calls are nowhere
    ([("a", "b"), ("b", "a"), ("c", "c")], "a", "ab"),  # a ring
    ([("ab", None), ("b", "ab"), ("x", "y")], "a", ["ab", "b"]),  # how an id begins
    ([("a", None), ("b", "a"), ("x", None)], "", "abx"),
]


@pytest.mark.parametrize(("sessions", "asked_for", "shown"), CHAINS)
def test_a_session_takes_in_those_that_it_started(
    sessions: list[tuple[str, str | None]], asked_for: str, shown: str, tmp_path: Path
) -> None:
    _started(tmp_path, *sessions)
    wanted = Wanted(session=asked_for)
    answer = asked(tmp_path, wanted)
    assert [entry.decision["session"]["id"] for entry in answer] == list(shown)
    assert answer == by_reading(tmp_path, wanted)
    assert asked(tmp_path, wanted, last=1) == answer[-1:]


def test_what_crosses_blocks_is_found_whole_and_in_order(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (adding, choosing, postings):
        monkeypatch.setattr(module, "BLOCK", 16)
    fill(folder, range(60, 107), 1_796_050_000.0)
    for wanted in (Wanted(), Wanted(tool="bash"), Wanted(session="s1", decision="ask")):
        expected = by_reading(folder, wanted)
        assert asked(folder, wanted) == expected
        assert asked(folder, wanted, last=9) == expected[-9:]
    late = expected[-2].decision["ts"]
    assert asked(folder, Wanted(since=late)) == by_reading(folder, Wanted(since=late))
    fill(folder, range(107, 120), 1_796_060_000.0)
    assert asked(folder, Wanted(tool="bash")) == by_reading(folder, Wanted(tool="bash"))


def test_only_what_is_shown_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = Index(str(folder))
    read: list[Any] = []
    real = Index._record
    monkeypatch.setattr(Index, "_record", lambda self, *p: (read.append(p), real(self, *p))[1])
    # Every third call is one of bash, and every third is allowed, but they are never the same.
    assert list(index.entries(Wanted(tool="bash", decision="allow"), 20)) == []
    assert read == []
    assert len(list(index.entries(Wanted(path="src"), 2))) == 2
    assert len(read) <= 6
    index.close()


@pytest.mark.parametrize("path", ["d/" * 40 + "f", "/" + "d/" * 40 + "f", "x" * 5_000, "/"])
def test_a_path_of_any_depth_is_found_by_itself_and_what_it_lies_in(
    path: str, tmp_path: Path
) -> None:
    appender = Appender(str(tmp_path))
    for said in (path, f"{path.rstrip('/')}/below", path[:-1] + "e"):
        appender.append("decision", decision(0) | {"files": [], "actions": [{"path": said}]})
    for wanted in (path, os.path.dirname(path) or ".", "d", "d/d", "/", "."):
        assert asked(tmp_path, Wanted(path=wanted)) == by_reading(tmp_path, Wanted(path=wanted))
    assert len(asked(tmp_path, Wanted(path=path))) >= 2


ODD = [
    {"session": "text"}, {"session": {"id": ["a"], "parent": 3}}, {"call": []},
    {"decision": None}, {"decision": {"rules": "x", "verdict": 7}}, {"files": [1, {"path": 2}]},
    {"actions": {}, "actor": "?"}, {"call": {"tool": "\ud800"}}, {"entries": {}},
]  # fmt: skip


def test_members_of_another_type_stop_nobody(tmp_path: Path) -> None:
    appender = Appender(str(tmp_path))
    for odd in ODD:
        appender.append("decision", decision(0) | odd)
        appender.append("outcome", {"of": 3, "ok": True})
    for wanted in (Wanted(), Wanted(tool="edit"), Wanted(session=""), Wanted(path="src")):
        assert asked(tmp_path, wanted) == by_reading(tmp_path, wanted)
    assert len(asked(tmp_path)) == len(ODD)


KILLED = """
import os, signal, sys
from tool_intent.ledger import adding, choosing, postings
from tool_intent.ledger.index import Index
adding.BLOCK = choosing.BLOCK = postings.BLOCK = 16
real, calls = adding.Adding.flush, []

def flush(self):
    # What does not fit in one page of memory is in the file before it is committed.
    self._database.execute("PRAGMA cache_size = 1")
    real(self)
    calls.append(1)
    if len(calls) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

adding.Adding.flush = flush
Index(sys.argv[1])
"""


@pytest.mark.parametrize("flushes", ["1", "3"])
def test_who_is_killed_while_indexing_leaves_no_half_of_it(flushes: str, folder: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(folder), flushes]
    assert subprocess.run(command, check=False).returncode == -9
    for wanted in (Wanted(), Wanted(tool="bash"), Wanted(session="s1")):
        assert asked(folder, wanted) == by_reading(folder, wanted)
