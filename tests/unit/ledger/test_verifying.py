"""Verifying: what was changed, removed, moved or put in between is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tool_intent.ledger import appending
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.chain import GENESIS, line
from tool_intent.ledger.records import framed, new_id
from tool_intent.ledger.verifying import verify

NOON = 1_796_040_000.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of three segments with some records each."""
    monkeypatch.setattr(appending, "LARGEST", 1_500)
    appender = Appender(str(tmp_path), clock=lambda: NOON)
    while len(list(tmp_path.iterdir())) < 3:
        appender.append("marker", {"kind": "policy", "detail": {"text": "x" * 50}})
    appender.append("marker", {"kind": "policy", "detail": {}})
    return tmp_path


def _edited(change: Callable[[list[bytes]], list[bytes]], number: int) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = sorted(folder.iterdir())[number]
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return edit


def _swapped(folder: Path) -> None:
    first, second, _ = (p for p in sorted(folder.iterdir()))
    texts = second.read_bytes(), first.read_bytes()
    first.write_bytes(texts[0])
    second.write_bytes(texts[1])


def _forged(lines: list[bytes]) -> list[bytes]:
    text, _ = line(
        framed(
            "marker",
            4,
            new_id(),
            "2026-11-30T12:00:00.000Z",
            GENESIS,
            {"kind": "anchor", "detail": {}},
        )
    )
    return [*lines[:3], text, *lines[4:]]


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (lambda _: None, []),
        (_edited(lambda ls: [*ls[:2], ls[2].replace(b"xx", b"xy"), *ls[3:]], 0), ["hash", "link"]),
        (_edited(lambda ls: [*ls[:2], *ls[3:]], 0), ["link"]),
        (_edited(lambda ls: [*ls[:2], ls[3], ls[2], *ls[4:]], 0), ["link"] * 3),
        (_edited(lambda ls: [*ls[:2], ls[1], *ls[2:]], 0), ["link"]),
        (_edited(lambda ls: [*ls[:2], b"garbage\n", *ls[2:]], 0), ["line"]),
        (_edited(lambda ls: ls[:-1], 0), ["link"]),
        (_edited(lambda ls: ls[:-2], 1), ["link"]),
        (_edited(lambda ls: [*ls[:-1], ls[-1][:-9]], 2), ["torn"]),
        (_edited(_forged, 0), ["link", "link"]),
        (lambda folder: sorted(folder.iterdir())[0].unlink(), ["begin"]),
        (lambda folder: sorted(folder.iterdir())[1].unlink(), ["link"]),
        (_swapped, ["begin", "link", "link"]),
    ],
)
def test_a_change_is_found(change: Callable[[Path], None], faults: list[str], folder: Path) -> None:
    change(folder)
    found = verify(str(folder))
    assert [p.fault for p in found.problems] == faults
    assert found.whole is (not faults)


def test_records_that_were_cut_off_are_found_by_a_head_from_outside_alone(folder: Path) -> None:
    head = verify(str(folder)).head
    last = sorted(folder.iterdir())[-1]
    last.write_bytes(b"".join(last.read_bytes().splitlines(keepends=True)[:-1]))
    assert verify(str(folder)).whole
    found = verify(str(folder), head)
    assert [p.fault for p in found.problems] == ["expected"]
    assert not found.authenticated


def test_a_head_of_before_is_enough_for_what_was_before(folder: Path) -> None:
    head = verify(str(folder)).head
    assert not verify(str(folder)).authenticated
    Appender(str(folder), clock=lambda: NOON).append("marker", {"kind": "policy", "detail": {}})
    for spelt in (head, head.removeprefix("sha256:")):
        found = verify(str(folder), spelt)
        assert (found.whole, found.authenticated) == (True, True)


def test_a_chain_written_anew_is_consistent_and_has_not_the_head(
    folder: Path, tmp_path: Path
) -> None:
    head = verify(str(folder)).head
    for path in folder.iterdir():
        path.unlink()
    Appender(str(folder), clock=lambda: NOON).append("marker", {"kind": "policy", "detail": {}})
    assert verify(str(folder)).whole
    assert not verify(str(folder), head).whole


def test_no_ledger_is_a_whole_one(tmp_path: Path) -> None:
    found = verify(str(tmp_path / "none"))
    assert (found.whole, found.records, found.head) == (True, 0, GENESIS)
