"""Readers step over a bad line, and say what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tool_intent.ledger import reading
from tool_intent.ledger.chain import GENESIS, line
from tool_intent.ledger.reading import lines, records
from tool_intent.ledger.records import framed, marker, new_id
from tool_intent.ledger.segments import Segment, segments


def stored(seq: int, v: str | None = None) -> bytes:
    record = framed("marker", seq, new_id(), "2026-11-30T12:00:00.123Z", GENESIS, marker("gap", {}))
    return line(record if v is None else record | {"v": v})[0]


def write(folder: Path, *parts: bytes, name: str = "ledger-2026-11-30-001.jsonl") -> None:
    (folder / name).write_bytes(b"".join(parts))


BAD: list[tuple[bytes, str]] = [
    (b"garbage\n", "the line is no JSON"),
    (b"\n", "the line is no JSON"),
    (b"\xff\xfe\n", "the line is no JSON"),
    (b"[" * 100_000 + b"\n", "the line is no JSON"),
    (b"[]\n", "the line is no record"),
    (b'{"v":1}\n', "the line is no record"),
    (b'{"v":"tool-intent.record/1"}\n', "the record lacks what every record has"),
    (stored(2, "tool-intent.record/2"), "the record is of another version, tool-intent.record/2"),
    (stored(2, "someone.else/1"), "the line is no record"),
]


@pytest.mark.parametrize(("bad", "fault"), BAD, ids=lambda v: repr(v)[:30])
def test_ti_075_the_lines_after_a_bad_one_are_read(bad: bytes, fault: str, tmp_path: Path) -> None:
    write(tmp_path, stored(1), bad, stored(3))
    read = list(lines(str(tmp_path)))
    assert [(r.number, r.record is None) for r in read] == [(1, False), (2, True), (3, False)]
    assert read[1].fault.startswith(fault)
    assert read[1].place == "ledger-2026-11-30-001.jsonl:2"
    assert b"".join(r.raw for r in read) == (tmp_path / read[0].segment.name).read_bytes()
    assert [r["seq"] for r in records(str(tmp_path))] == [1, 3]


def test_a_line_without_an_end_is_no_record(tmp_path: Path) -> None:
    write(tmp_path, stored(1), stored(2)[:-1])
    read = list(lines(str(tmp_path)))
    assert [r.fault[:24] for r in read] == ["", "the line has no end: its"]


def test_a_line_without_end_is_not_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST_LINE", 1000)
    write(tmp_path, stored(1), b"x" * 10_500 + b"\n", stored(3))
    read = list(lines(str(tmp_path)))
    assert [len(r.raw) for r in read][1] == 1000
    assert [r.number for r in read] == [1, 2, 3]
    assert read[2].offset == len(read[0].raw) + 10_501
    assert [r["seq"] for r in records(str(tmp_path))] == [1, 3]


def test_segments_come_in_the_order_they_were_begun(tmp_path: Path) -> None:
    names = [
        "ledger-2026-11-30-002.jsonl", "ledger-2026-11-30-1000.jsonl",
        "ledger-2026-11-30-999.jsonl", "ledger-2026-11-29-001.jsonl",
        "ledger-2026-12-01-001.jsonl",
    ]  # fmt: skip
    for name in [*names, "ledger-2026-11-30-001.jsonl.bak", "index.sqlite", "ledger-1-1.jsonl"]:
        write(tmp_path, name=name)
    assert [s.name for s in segments(str(tmp_path))] == [names[n] for n in (3, 0, 2, 1, 4)]
    assert segments(str(tmp_path / "missing")) == []


@pytest.mark.parametrize(
    ("day", "after"),
    [("2026-11-30", ("2026-11-30", 4)), ("2026-12-01", ("2026-12-01", 1)),
     ("2026-11-01", ("2026-11-30", 4))],
)  # fmt: skip
def test_the_next_segment_sorts_after_this_one_whatever_the_clock_says(
    day: str, after: tuple[Any, ...]
) -> None:
    here = Segment("2026-11-30", 3, "")
    assert here.following(day)[:2] == after
    assert here.following(day) > here
