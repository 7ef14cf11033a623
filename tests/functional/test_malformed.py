"""The usual slips of authors, through `check`: each gets its message and help at its place."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

import pytest

from .command import Command

TABLE: Final = Path(__file__).parents[1] / "conformance" / "malformed.jsonl"
ROWS: Final = [json.loads(line) for line in TABLE.read_text("utf-8").splitlines()]
#: Help that we word as all other help of its kind.
OURS: Final = {64: "did you mean `minLength`?"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What one `check` of every row's file says, by file."""
    folder = tmp_path_factory.mktemp("malformed")
    command = Command(folder, folder)
    for row in ROWS:
        (folder / _file(row)).write_text(_text(row), encoding="utf-8")
    done = command("check", "--format", "json", *map(_file, ROWS))
    assert (done.code, done.err) == (1, "")
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for diagnostic in json.loads(done.out):
        # Files that are checked together may clash in an id, which is a warning.
        if diagnostic["severity"] == "error":
            found[diagnostic["file"]].append(diagnostic)
    return found


def _file(row: dict[str, Any]) -> str:
    return f"{row['id']}.{'rules' if row['kind'] == 'rules' else 'yaml'}"


def _text(row: dict[str, Any]) -> str:
    """A row's text; a piece of YAML is made a policy, with the field that one of them names."""
    if row["kind"] == "rules":
        return str(row["text"])
    fields = "" if "fields:" in row["text"] else "\nfields: {ticket: {}}\n"
    return f"version: 1\n{row['text']}{fields}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['id']} {row['kind']}")
def test_a_slip_gets_its_one_message(
    row: dict[str, Any], told: dict[str, list[dict[str, Any]]]
) -> None:
    line, column = map(int, row["at"].split(":"))
    got = [(d["line"], d["column"], d["message"], d["help"]) for d in told[_file(row)]]
    below = line + (row["kind"] == "yaml")
    assert got == [(below, column, _moved(row["message"]), OURS.get(row["id"], row["help"]))]
    (only,) = told[_file(row)]
    assert (only["end_line"], only["end_column"]) > (below, column)


def _moved(message: str) -> str:
    """A message that names a line of a piece of YAML, one line below."""
    return message.replace("already given on line 2", "already given on line 3")


def test_the_table_is_whole() -> None:
    assert len(ROWS) == 66
