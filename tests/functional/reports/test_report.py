"""`tool-intent report`, as it is run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ..command import Command
from .story import story


@pytest.fixture
def told(home: Path, tmp_path: Path) -> Command:
    """The command in a repository with a ledger."""
    folder = tmp_path / "payments"
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    story(folder / ".git" / "tool-intent")
    return Command(home, folder)


def test_a_page_is_written_where_it_is_wanted(told: Command) -> None:
    done = told("report", "-o", "report.html")
    assert (done.code, done.out, done.err) == (0, "", "Wrote report.html.\n")
    text = (told.cwd / "report.html").read_text("utf-8")
    assert "<h1>payments</h1>" in text
    assert "PAY-412: the bank refuses" in text
    assert ">Ledger consistent</a>" in text


def test_without_a_file_it_is_printed(told: Command) -> None:
    done = told("report", "--format", "markdown", env={"LC_ALL": "C"})
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("### Tool calls and their reasons: `payments`\n")


def test_numbers_are_given_as_json(told: Command) -> None:
    [found] = told("report", "--format", "json", "--session", "c41d").answers
    assert (found["totals"]["calls"], found["integrity"]["state"]) == (4, "consistent")


def test_a_ledger_that_is_not_whole_is_reported_with_exit_code_1(told: Command) -> None:
    [segment] = told.cwd.glob(".git/tool-intent/*.jsonl")
    segment.write_bytes(segment.read_bytes().replace(b"It should be", b"It shoulD be"))
    done = told("report", "--format", "json")
    assert done.code == 1
    assert json.loads(done.out)["integrity"]["state"] == "broken"
    assert done.err == (
        "tool-intent: the ledger is not whole: 17 records; 2 of its lines or links are not right.\n"
    )


def test_a_head_that_is_expected_is_looked_for(told: Command) -> None:
    head = told("report", "--format", "json").answers[0]["integrity"]["head"]
    assert told("report", "--format", "json", "--expect", head).code == 0
    other = told("report", "--format", "json", "--expect", "0" * 63 + "1")
    assert (other.code, "not whole" in other.err) == (1, True)


FAULTS = [
    (("--since", "soon"), "--since soon is no time: write a date (2026-11-30), a time"),
    (("--session", "nobody"), "no call of a session whose id begins with 'nobody'"),
    (("-o", "no/such/folder.html"), "no/such/folder.html cannot be written: No such file"),
]


@pytest.mark.parametrize(("arguments", "said"), FAULTS)
def test_what_cannot_be_done_is_said(told: Command, arguments: tuple[str, ...], said: str) -> None:
    done = told("report", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.replace("\n", " ").startswith(f"tool-intent: {said}")


def test_where_nothing_is_recorded_the_place_is_named(told: Command) -> None:
    folder = told.cwd / ".git" / "tool-intent"
    shutil.rmtree(folder)
    done = told("report")
    assert (done.code, done.out) == (2, "")
    assert f"nothing is recorded in {folder} yet" in done.err
    off = told("report", env={"TOOL_INTENT_LEDGER": "off"})
    assert (off.code, "TOOL_INTENT_LEDGER is off" in off.err) == (2, True)


SINCE = [
    ("2026-11-30", 10),
    ("2026-11-30T09:09:00Z", 3),
    ("2026-11-30T10:09+01:00", 3),
    ("2026-11-30T09:20", 0),
]


@pytest.mark.parametrize(("since", "calls"), SINCE)
def test_calls_since_a_time(told: Command, since: str, calls: int) -> None:
    [found] = told("report", "--format", "json", "--since", since).answers
    assert found["totals"]["calls"] == calls
