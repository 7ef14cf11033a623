"""Corpora are read as their schema says, and each fault is told with its place and how to mend."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft202012Validator

from tool_intent.authoring.evaluation.corpus import Corpus, CorpusError, arguments, read_corpus
from tool_intent.policy.sources import shipped

ROOT: Final = Path(__file__).parents[3]
SHIPPED: Final = ROOT / "tests/corpus/fluff.jsonl"
SCHEMA: Final = json.loads((Path(shipped()) / "schema/corpus.schema.json").read_text("utf-8"))
CASES: Final = yaml.safe_load(Path(__file__).with_name("corpora.yaml").read_text("utf-8"))["cases"]
ROW: Final = {"id": "1", "tool": "bash", "args": {"command": "ls"}, "label": "good"}


def corpus(tmp_path: Path, *rows: dict[str, Any]) -> Corpus:
    file = tmp_path / "c.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return read_corpus(str(file))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_fault_is_told_with_its_place_and_how_to_mend_it(
    case: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text("\n".join(case["lines"]), encoding="utf-8")
    with pytest.raises(CorpusError) as raised:
        read_corpus(str(file))
    told = [
        [d.line, d.column, d.code.removeprefix("corpus/"), d.message, d.help]
        for d in raised.value.diagnostics
    ]
    assert told == case["told"]
    assert {d.file for d in raised.value.diagnostics} == {str(file)}


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"\xff", "the line is not UTF-8 at byte 1"), (None, "it cannot be read: no such file")],
)
def test_what_is_no_text_or_no_file_is_told(
    data: bytes | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "c.jsonl"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(CorpusError, match=message):
        read_corpus(str(file))


def test_a_file_of_another_format_is_told_in_a_bounded_number_of_faults(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    file.write_text("not a corpus\n" * 5_000, encoding="utf-8")
    with pytest.raises(CorpusError) as raised:
        read_corpus(str(file))
    assert len(raised.value.diagnostics) == 100


def test_the_schema_holds_for_the_corpus_of_this_repository() -> None:
    check = Draft202012Validator(SCHEMA)
    lines = SHIPPED.read_text("utf-8").splitlines()
    assert not [e.message for line in lines for e in check.iter_errors(json.loads(line))]
    assert len(read_corpus(str(SHIPPED)).items) == len(lines) - 1


def test_a_row_is_read_with_its_fields_among_its_arguments(tmp_path: Path) -> None:
    row = ROW | {
        "intent": "Look", "rationale": None, "label": "fluff", "kinds": ["a"], "lang": "en",
        "note": "hard: short; plain", "family": "f", "source": "anything",
    }  # fmt: skip
    (item,) = corpus(tmp_path, row).items
    assert item.args == {"command": "ls", "intent": "Look"}
    assert (item.bad, item.kinds, item.lang, item.family) == (True, ("a",), "en", "f")
    assert item.notes == ("hard: short", "plain")


def test_texts_are_found_in_each_entry(tmp_path: Path) -> None:
    edits = [{"newText": "x", "intent": "a", "rationale": "b"}, {"intent": "c", "rationale": 4}]
    (item,) = corpus(tmp_path, ROW | {"args": {"edits": edits}, "rationale": "d"}).items
    assert item.texts == ("d", "a", "b", "c")


def test_a_hard_row_is_a_good_one_whose_note_says_so(tmp_path: Path) -> None:
    rows = [
        ROW | {"id": "1", "note": "x; hard: short"},
        ROW | {"id": "2", "note": "long"},
        ROW | {"id": "3", "note": "hard: long", "label": "bad"},
    ]
    assert [item.is_hard for item in corpus(tmp_path, *rows).items] == [True, False, False]


def test_borderline_rows_count_nowhere(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"id": "2", "label": "borderline"}]
    found = corpus(tmp_path, *rows)
    assert [item.bad for item in found.items] == [False, None]
    assert [item.id for item in found.counted] == ["1"]


@pytest.mark.parametrize(
    ("said", "args"),
    [
        ("npm test", "npm test"),
        ('{"command": "ls"}', {"command": "ls"}),
        ("{ ls; }", "{ ls; }"),
        ({"path": "a"}, {"path": "a"}),
    ],
)
def test_the_text_of_an_earlier_call_is_its_arguments_or_stands_for_them(
    said: Any, args: Any, tmp_path: Path
) -> None:
    before = {"tool": "bash", "args": said, "intent": "i"}
    (item,) = corpus(tmp_path, ROW | {"history": [before]}).items
    assert item.earlier == (("bash", args, {"intent": "i"}),)


@pytest.mark.parametrize(
    ("roles", "name"),
    [({"command": ("cmd",), "path": ("p",)}, "cmd"), ({"path": ("file",)}, "file"), ({}, "path")],
)
def test_a_text_stands_for_the_command_or_the_path(
    roles: dict[str, tuple[str, ...]], name: str
) -> None:
    assert arguments(("t", "x", {"intent": "i"}), roles) == {name: "x", "intent": "i"}
