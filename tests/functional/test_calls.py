"""Calls as hosts send them, one by one: what is found, and that nothing of a refused one runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema
import pytest
import yaml

from .command import ASSETS, Command, rules, tree

SCHEMAS: Final = Path(__file__).parents[2] / "policies" / "schema"
CASES: Final = yaml.safe_load(Path(__file__).with_name("calls.yaml").read_text(encoding="utf-8"))
NAMES: Final = [case["name"] for case in CASES]


def _levels(number: int) -> str:
    return '{"n": ' * number + "1" + "}" * number


MACROS: Final = {
    "$why": '"intent": "Keep it right", "rationale": "The second line is out of date"',
    "$30marks": "\\u0301" * 30,
    "$31marks": "\\u0301" * 31,
    "$65536": "x" * 65_536,
    "$10MB": "x" * 10_000_000,
    "$199levels": _levels(199),
    "$200levels": _levels(200),
    "$100000levels": _levels(100_000),
    "$200lists": "[" * 200 + "]" * 200,
    "$deepest_list": "/n" + "/0" * 199,
    "$deepest": "/n" * 200,
    "$308digits": "9" * 308,
    "$401digits": "9" * 401,
    "$10000digits": "9" * 10_000,
}
_MACRO: Final = re.compile("|".join(re.escape(m) for m in sorted(MACROS, key=len, reverse=True)))


class Judged(NamedTuple):
    """What `decide` and `run` said of every case, by name, and what `run` left behind."""

    lines: dict[str, str]
    decided: dict[str, Any]
    ran: dict[str, Any]
    before: dict[str, bytes | None]
    after: dict[str, bytes | None]


def filled(text: str, case: str) -> str:
    """A case's text with its macros replaced."""
    return _MACRO.sub(lambda m: MACROS[m.group()], text).replace("$case", _file(case))


def _file(case: str) -> str:
    return case.replace(" ", "-").replace(",", "") + ".txt"


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """Every case in one `decide` and in one `run`: a process for each would cost a minute."""
    folder = tmp_path_factory.mktemp("calls")
    (folder / "home").mkdir()
    command = Command(folder / "home", Path(shutil.copytree(ASSETS / "plain", folder / "plain")))
    workspace = folder / "workspace"
    workspace.mkdir()
    shutil.copy(ASSETS / "plain" / "notes.txt", workspace)
    session = "".join(_line(case) for case in CASES)
    decided = command("decide", stdin=session)
    assert (decided.code, decided.err) == (0, "")
    before = tree(workspace)
    options = ("--session", "-", "--workspace", workspace, "--format", "json")
    ran = command("run", *options, stdin=session)
    assert (ran.code, ran.err) == (1, "")
    return Judged(
        dict(zip(NAMES, decided.out.splitlines(), strict=True)),
        {answer["id"]: answer for answer in decided.answers},
        {answer["id"]: answer for answer in ran.answers},
        before,
        tree(workspace),
    )


def _line(case: dict[str, Any]) -> str:
    head = json.dumps({"id": case["name"], "tool": case.get("tool", "write")})
    if case["args"] is None:
        return head + "\n"
    return f'{head[:-1]}, "args": {filled(case["args"], case["name"])}}}\n'


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_call_is_found_fault_with_exactly_as_it_deserves(
    case: dict[str, Any], judged: Judged
) -> None:
    answer = judged.decided[case["name"]]
    expected = [
        (rule, filled(at, case["name"]), effect) for rule, at, effect in case.get("findings", [])
    ]
    assert rules(answer) == expected
    assert answer["decision"] == ("deny" if expected else "allow")
    assert (answer["message"] is None) == (not expected)
    assert case.get("says", "") in (answer["message"] or "")
    assert filled(case.get("kept", ""), case["name"]) in judged.lines[case["name"]]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_run_decides_alike_and_a_refused_call_leaves_nothing(
    case: dict[str, Any], judged: Judged
) -> None:
    answer = dict(judged.ran[case["name"]])
    result = answer.pop("result")
    assert answer == judged.decided[case["name"]]
    assert (result is None) == (answer["decision"] == "deny")
    if result is None:
        assert _file(case["name"]) not in judged.after


def test_only_the_allowed_calls_of_the_session_changed_the_workspace(judged: Judged) -> None:
    written = {
        _file(case["name"])
        for case in CASES
        if not case.get("findings") and case.get("tool", "write") == "write"
    }
    assert set(judged.after) - set(judged.before) == written
    assert judged.after["notes.txt"] == b"first line\n2nd line\n"


def test_arguments_are_stripped_of_the_reasons_and_of_nothing_else(judged: Judged) -> None:
    why = {"intent": "Keep it right", "rationale": "The second line is out of date"}
    answer = judged.decided["both fields given"]
    assert answer["args"] == {"path": "both-fields-given.txt", "content": "x"}
    assert answer["provenance"] == [{"at": "", **why}]
    answer = judged.decided["an edit with its reason"]
    assert answer["args"]["edits"] == [{"oldText": "second", "newText": "2nd"}]
    assert answer["provenance"] == [{"at": "/edits/0", **why}]


def test_a_refused_call_is_stripped_too_and_says_what_it_said(judged: Judged) -> None:
    answer = judged.decided["fields lists"]
    assert answer["args"] == {"path": "fields-lists.txt", "content": "x"}
    assert answer["provenance"] == [{"at": "", "intent": ["Keep it right"], "rationale": []}]
    answer = judged.decided["a full-width key"]
    assert answer["args"].keys() == {"path", "content", "ｉｎｔｅｎｔ"}, "it is no field"


def test_every_decision_fits_the_published_schema(bare: Command) -> None:
    schema = json.loads((SCHEMAS / "decision.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    answers = bare.decide(
        {"tool": "write", "args": {"path": "a", "intent": "i", "rationale": "r"}},
        {"id": None, "tool": "edit", "args": {"edits": [{}, 3]}},
        {"id": True, "tool": "read", "args": []},
        {"id": 1.5, "tool": "bash", "args": {"command": "x", "constructor": 1}},
        options=("--policy", "std/baseline"),
    )
    assert [a["decision"] for a in answers] == ["allow", "deny", "deny", "deny"]
    for answer in answers:
        validator.validate(answer)
