"""A hostile client: every attempt is answered as it should be, and none reaches a tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from .raw import Raw, lenient, proxied, refused

ROWS = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text(encoding="utf-8"))
OK = ',"intent":"Build the index.","rationale":"The reporter asked for it."'
DEEP = "[" * 300 + "]" * 300


class Came(NamedTuple):
    """What came of an attempt: the answers to it, and the calls that ran because of it."""

    answers: list[Any]
    ran: list[str]


def attempt(row: dict[str, Any], number: int) -> bytes:
    """The bytes of an attempt, its line's end included."""
    if "hex" in row:
        return bytes.fromhex(row["hex"]) + b"\n"
    line = row["text"].replace("{ID}", str(number)).replace("{OK}", OK).replace("{DEEP}", DEEP)
    encoding = row.get("bytes", "utf-8")
    return line.encode(encoding) + "\n".encode(encoding.removesuffix("-sig"))[-4:]


@pytest.fixture(scope="module")
def came(project: Path, user: Path) -> Iterator[dict[str, Came]]:
    log = project.parent / "ran"
    log.touch()
    came: dict[str, Came] = {}
    with Raw(proxied(lenient(log), "--ask", "elicit"), project, user) as client:
        client.hello(elicitation={})
        for number, row in enumerate(ROWS, 1_000):
            before = log.read_text()
            client.passed_over.clear()
            client.send(attempt(row, number) + b"\n")
            client.ask("ping")  # the server is done with all that reached it before
            client.ask("ping")
            ran = log.read_text().removeprefix(before).splitlines()
            came[row["name"]] = Came(list(client.passed_over), ran)
        yield came


def test_there_are_enough_attempts() -> None:
    assert len({row["name"] for row in ROWS}) == len(ROWS) >= 40


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_an_attempt_reaches_no_tool_and_is_answered(
    row: dict[str, Any], came: dict[str, Came]
) -> None:
    answers, ran = came[row["name"]]
    assert ran == []
    if row["answer"] == "nothing":
        assert answers == []
    elif row["answer"] == "refused":
        (answer,) = answers[0] if isinstance(answers[0], list) and len(answers) == 1 else answers
        assert refused(answer), answer
    else:
        assert answers, "no request is left unanswered"
        assert all("error" in (a[0] if isinstance(a, list) else a) for a in answers), answers


def test_the_server_behind_would_have_run_most_attempts(project: Path, user: Path) -> None:
    log = project.parent / "ran-directly"
    log.touch()
    reached = []
    with Raw(lenient(log), project, user) as client:
        for number, row in enumerate(ROWS, 1_000):
            before = log.read_text()
            client.send(attempt(row, number) + b"\n")
            client.ask("ping")
            if log.read_text() != before:
                reached.append(row["name"])
    spared = {row["name"] for row in ROWS} - set(reached)
    assert spared == {
        "an answer to a question nobody asked", "a comment, which some readers pass over",
        "single quotes", "a batch within a batch", "the method in a list",
        "two messages on one line", "UTF-16",
    }  # fmt: skip


def test_an_honest_call_runs_without_its_reasons(project: Path, user: Path) -> None:
    log = project.parent / "ran-honestly"
    with Raw(proxied(lenient(log)), project, user) as client:
        client.hello()
        reasons = json.loads("{" + OK[1:] + "}")
        answer = client.call("run", command="make", **reasons)
        assert answer["result"] == {"content": [{"type": "text", "text": "ran"}]}
    assert [json.loads(line) for line in log.read_text().splitlines()] == [
        {"name": "run", "arguments": {"command": "make"}}
    ]
