"""Real calls are put together from their two halves, and judged as far as they are known."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

SCRIPT: Final = Path(__file__).parents[2] / "corpus/real.py"


@pytest.fixture(scope="module")
def real() -> ModuleType:
    spec = importlib.util.spec_from_file_location("real", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def call(field: str, text: str, args: Any, tool: str = "Bash", source: str = "a") -> dict[str, Any]:
    held = args if isinstance(args, str) else json.dumps(args)
    return {"source": source, "tool": tool, "args": held, "text": text, "field": field}


ROWS: Final = [
    call("description", "List files", {"command": "ls"}),
    call("description", "List files", {"command": "ls -l"}),
    call("description", "Elsewhere", {"command": "pwd"}, source="b"),
    call("preceding_text", "The build needs a.c.", {"summary": "List files"}),
    call("preceding_text", "Elsewhere too.", {"summary": "Elsewhere"}),
    call(
        "preceding_text",
        "Lena saw 40 % of the run time spent there.",
        {"summary": "src/a.c"},
        tool="Read",
    ),
    call("thought", "n/a", {"summary": "TODO"}, tool="Grep"),
]


def test_a_pair_is_a_description_and_the_sentence_before_of_one_transcript(
    real: ModuleType,
) -> None:
    (item,) = real.pairs(ROWS)
    assert item.args == {
        "command": "ls", "intent": "List files", "rationale": "The build needs a.c.",
    }  # fmt: skip


def test_a_description_is_an_intent_and_a_sentence_a_rationale(real: ModuleType) -> None:
    assert [i.args["intent"] for i in real.descriptions(ROWS)] == [
        "List files", "List files", "Elsewhere",
    ]  # fmt: skip
    assert [(i.tool, i.args) for i in real.sentences(ROWS)] == [
        ("read", {"path": "src/a.c", "rationale": "Lena saw 40 % of the run time spent there."}),
        ("grep", {"pattern": "TODO", "rationale": "n/a"}),
    ]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ('{"command": "ls', {"command": "ls"}),
        ('{"command": "ls\\', {"command": "ls"}),
        ('{"a": [1', {"a": [1]}),
        ("nothing of the kind", {"text": "nothing of the kind"}),
    ],
)
def test_arguments_that_were_cut_off_are_taken_as_far_as_they_go(
    text: str, args: dict[str, Any], real: ModuleType
) -> None:
    assert real._args({"args": text}) == args


def test_verdicts_are_counted_and_printed(
    real: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "calls.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    real.main([str(file), "--what", "sentences", "--sample", "5", "--only", "deny"])
    said = capsys.readouterr().out
    assert said.startswith("2 calls\n")
    assert "1   50.0%  strongest deny" in said
    assert "[7] deny: " in said
    assert "rationale: n/a" in said
    assert "Lena saw 40 % of the run time spent there." not in said
