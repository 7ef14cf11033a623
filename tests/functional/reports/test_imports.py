"""Sessions that agents keep themselves, imported into a ledger."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tool_intent.ledger.imports.importing import Importer
from tool_intent.ledger.imports.model import NotASession
from tool_intent.ledger.reading import records
from tool_intent.reports.opening import report_of

from ...agents.installed import claude_code
from ..command import Command
from ..mcp.scripted_messages import scripted, tool_use
from .test_exports import git

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "policies/schema/record.schema.json").read_text("utf-8"))
WHY = {"intent": "Greet the world", "rationale": "The page asks for a greeting."}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def session(folder: Path, *rows: Any, name: str = "session.jsonl") -> str:
    file = folder / name
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    file.write_text(text, encoding="utf-8")
    return str(file)


PI_HEAD = {"type": "session", "version": 3, "id": "s-1", "timestamp": "2026-11-30T10:00:00.000Z",
           "cwd": "/work tree"}  # fmt: skip


def pi_row(second: int, **message: Any) -> dict[str, Any]:
    stamp = f"2026-11-30T10:00:{second:02}.000Z"
    return {"type": "message", "id": f"m{second}", "timestamp": stamp, "message": message}


def pi_call(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": name, "arguments": arguments}


def pi_result(second: int, id: str, said: str = "done", **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": said}]
    told = {"toolName": "x", "content": content, "isError": False} | more
    return pi_row(second, role="toolResult", toolCallId=id, **told)


PI = [
    PI_HEAD,
    pi_row(1, role="user", content="go"),
    pi_row(2, role="assistant", provider="anthropic", model="opus", content=[
        {"type": "text", "text": "I will."},
        pi_call("c1", "write", path="a.py", content="1\n"),
        pi_call("c2", "edit", path="a.py", edits=[{"oldText": "1", "newText": "2", **WHY}]),
        pi_call("c3", "bash", command=f"echo {TOKEN}", **WHY),
        pi_call("c4", "codemode", code="…"),
        pi_call("c5", "read", path="b.py"),
    ]),
    pi_result(3, "c1", "tool-intent denied this write; nothing was executed.", isError=True),
    pi_result(4, "c2"),
    pi_result(5, "c3", "exit 1", isError=True),
    pi_result(6, "c4", nestedCalls={"complete": True, "calls": [
        {"id": "c4/1", "name": "read", "arguments": {"path": "c.py", "intent": "Look"}},
    ]}),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def written(folder: Path) -> list[dict[str, Any]]:
    """The records of calls, each valid by the schema."""
    found = list(records(str(folder)))
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for record in found:
        validator.validate(record)
    return [r for r in found if r["type"] in ("decision", "outcome")]


def test_a_session_of_pi_becomes_records(folder: Path, tmp_path: Path) -> None:
    done = Importer(str(folder), "").take(session(tmp_path, *PI))
    assert (done.written, done.known, done.faults) == (6, 0, ())
    found = written(folder)
    decisions = [r for r in found if r["type"] == "decision"]
    assert [(r["call"]["id"], r["decision"]["verdict"]) for r in decisions] == [
        ("c1", "deny"), ("c2", "allow"), ("c3", "allow"), ("c4", "allow"), ("c4/1", "allow"),
        ("c5", "allow"),
    ]  # fmt: skip
    outcomes = {r["of"]: r["ok"] for r in found if r["type"] == "outcome"}
    assert [outcomes.get(r["id"]) for r in decisions] == [None, True, False, True, True, None]
    edit = decisions[1]
    assert edit["entries"] == [{"at": "/edits/0", **WHY}]
    assert edit["session"] == {"id": "s-1", "agent": "pi", "model": "anthropic/opus"}
    assert edit["imported"] == {
        "from": "pi", "file": "session.jsonl", "line": 3, "ts": "2026-11-30T10:00:02.000Z",
    }  # fmt: skip
    assert decisions[4]["call"]["parent"] == "c4"
    assert decisions[4]["entries"] == [{"at": "", "intent": "Look"}]


def test_no_credential_is_imported(folder: Path, tmp_path: Path) -> None:
    Importer(str(folder), "").take(session(tmp_path, *PI))
    assert TOKEN not in "".join(p.read_text() for p in folder.glob("*.jsonl"))
    [call] = [r for r in written(folder) if r.get("call", {}).get("id") == "c3"]
    assert call["redactions"] == [{"at": "/command", "kind": "github-token"}]


def test_a_call_is_imported_once(folder: Path, tmp_path: Path) -> None:
    file = session(tmp_path, *PI)
    importer = Importer(str(folder), "")
    assert importer.take(file).written == 6
    assert importer.take(file)[:2] == (0, 6)
    more = session(tmp_path, *PI, pi_row(9, role="assistant", content=[pi_call("c9", "bash")]))
    assert Importer(str(folder), "").take(more)[:2] == (1, 6)


def test_calls_with_one_id_are_two_calls(folder: Path, tmp_path: Path) -> None:
    rows = [
        PI_HEAD,
        pi_row(1, role="assistant", content=[pi_call("c", "bash", command="a")]),
        pi_result(2, "c", isError=True),
        pi_row(3, role="assistant", content=[pi_call("c", "bash", command="b")]),
        pi_result(4, "c"),
    ]
    both = [pi_call("d", "bash", command=command) for command in "ab"]
    rows += [pi_row(5, role="assistant", content=both), pi_result(6, "d", isError=True)]
    rows += [pi_result(7, "d")]
    assert Importer(str(folder), "").take(session(tmp_path, *rows)).written == 4
    assert [r["ok"] for r in written(folder) if r["type"] == "outcome"] == [False, True] * 2


CLAUDE = {"sessionId": "s-2", "version": "2.1.332", "cwd": "/repo", "gitBranch": "main",
          "isSidechain": False}  # fmt: skip


def claude_call(second: int, id: str, name: str, **input: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id, "name": name, "input": input}
    return {**CLAUDE, "type": "assistant", "timestamp": f"2026-11-30T11:00:{second:02}.000Z",
            "message": {"role": "assistant", "model": "opus", "content": [block]}}  # fmt: skip


def claude_result(second: int, id: str, told: Any = None, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": "done", **more}
    return {**CLAUDE, "type": "user", "timestamp": f"2026-11-30T11:00:{second:02}.000Z",
            "message": {"role": "user", "content": [block]}, "toolUseResult": told}  # fmt: skip


TRANSCRIPT = [
    {"type": "queue-operation", "operation": "enqueue", "sessionId": "s-2"},
    claude_call(1, "t1", "Write", file_path="/repo/a.py", content="1\n", **WHY),
    claude_result(2, "t1", {"type": "create", "filePath": "/repo/a.py", "content": "1\n",
                            "originalFile": None}),
    claude_call(3, "t2", "Edit", file_path="/repo/a.py", old_string="1", new_string="2", **WHY),
    claude_result(4, "t2", {"filePath": "/repo/a.py", "oldString": "1", "newString": "2",
                            "originalFile": "1\n", "replaceAll": False}),
    claude_call(5, "t3", "Bash", command="make", description="Build the page"),
    claude_result(6, "t3", "Error", is_error=True),
    claude_call(7, "t4", "Bash", command="rm -rf /"),
    claude_result(8, "t4", "User rejected", is_error=True,
                  content="The user doesn't want to proceed with this tool use. …"),
    {**claude_call(9, "t5", "Read", file_path="/repo/b.py"), "isSidechain": True, "agentId": "x"},
]  # fmt: skip


def test_a_transcript_of_claude_code_has_its_changes(folder: Path, tmp_path: Path) -> None:
    done = Importer(str(folder), "/repo").take(session(tmp_path, *TRANSCRIPT))
    assert (done.written, done.faults) == (5, ())
    decisions = [r for r in written(folder) if r["type"] == "decision"]
    assert [r["decision"]["verdict"] for r in decisions] == ["allow"] * 3 + ["deny", "allow"]
    assert decisions[2]["entries"] == [{"at": "", "description": "Build the page"}]
    assert decisions[2]["actions"] == [{"kind": "exec", "command": "make"}]
    assert decisions[4]["session"]["id"] == "x"
    assert decisions[4]["session"]["parent"] == "s-2"
    summary = report_of(str(folder))
    assert summary.first == "2026-11-30T11:00:01.000Z"
    assert [(c.path, c.added, c.removed) for c in summary.changes] == [
        ("a.py", 1, 0), ("a.py", 1, 1),
    ]  # fmt: skip
    assert dict(summary.changes[1].reasons[0].fields) == WHY
    assert (summary.totals.imported, summary.totals.untracked) == (5, 0)


@pytest.mark.parametrize(
    "told",
    [
        {"type": "create", "content": "1", "originalFile": None},
        {"type": "create", "filePath": "/a", "content": "1", "originalFile": 1},
        {"filePath": "/a", "oldString": "1", "newString": "2", "originalFile": "3"},
        {"filePath": "/a", "oldString": "1", "newString": "2", "originalFile": None},
        "an error",
    ],
)
def test_a_result_that_does_not_say_all_names_no_files(
    told: Any, folder: Path, tmp_path: Path
) -> None:
    rows = [claude_call(1, "t", "Edit", file_path="/a"), claude_result(2, "t", told)]
    Importer(str(folder), "").take(session(tmp_path, *rows))
    assert not any("files" in record for record in written(folder))


def test_sessions_are_reported_in_the_order_they_happened(folder: Path, tmp_path: Path) -> None:
    importer = Importer(str(folder), "")
    importer.take(session(tmp_path, *TRANSCRIPT, name="later.jsonl"))
    importer.take(session(tmp_path, *PI, name="earlier.jsonl"))
    found = report_of(str(folder)).calls
    assert [c.imported for c in found] == ["pi"] * 6 + ["claude-code"] * 5
    assert report_of(str(folder), since="2026-11-30T11:00:00.000Z").totals.calls == 5


def test_bad_lines_are_told_and_stepped_over(folder: Path, tmp_path: Path) -> None:
    rows = [*PI[:3], "{", "[1]", "", '{"a": NaN}', *PI[3:]]
    done = Importer(str(folder), "").take(session(tmp_path, *rows))
    assert done.written == 6
    assert [fault[:22] for fault in done.faults] == [
        "4: the line is no JSON",
        "5: the line holds no o",
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "it is no session that can be imported"),
        ([{"type": "else"}], "it is no session that can be imported"),
        ([{**PI_HEAD, "version": 2}], "in version 2 of its format, and version 3 is read"),
    ],
)
def test_what_is_no_session_is_refused(
    rows: list[Any], said: str, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(NotASession, match=said):
        Importer(str(folder), "").take(session(tmp_path, *rows))
    assert not folder.exists()


def test_odd_values_become_records(folder: Path, tmp_path: Path) -> None:
    odd = pi_call("c1", "write", path=["\ud800"], intent={"a": 1}, rationale=None,
                  edits=[1, {"intent": 1 << 80}], command=2)  # fmt: skip
    rows = [PI_HEAD, pi_row(1, role="assistant", content=[odd, {"type": "toolCall"}, 3])]
    assert Importer(str(folder), "").take(session(tmp_path, *rows)).written == 2
    assert len(written(folder)) == 2


@pytest.mark.slow
def test_a_real_transcript_of_claude_code_is_imported(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    page = str(project / "page.txt")
    made = tool_use("Write", file_path=page, content="Hello\n")
    changed = tool_use("Edit", file_path=page, old_string="Hello", new_string="Hello, world")
    ran = tool_use("Bash", command="cat page.txt", description="Look at the page")
    with scripted(made, changed, ran) as model:
        done = subprocess.run(
            [claude_code(), "-p", "Greet.", "--allowedTools", "Write,Edit,Bash"],
            cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=120,
            env={
                "PATH": os.environ["PATH"], "HOME": str(home), "ANTHROPIC_API_KEY": "invented",
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "LC_ALL": "C.UTF-8",
            },
        )  # fmt: skip
        assert done.returncode == 0, done
    [transcript] = home.glob(".claude/projects/*/*.jsonl")
    folder = project / ".git" / "tool-intent"
    assert Importer(str(folder), str(project)).take(str(transcript)).written == 3
    summary = report_of(str(folder))
    assert [(c.path, c.added, c.removed) for c in summary.changes] == [
        ("page.txt", 1, 0), ("page.txt", 1, 1),
    ]  # fmt: skip
    assert [c.fate for c in summary.calls] == ["ok"] * 3


@pytest.fixture
def ledgerless(home: Path, tmp_path: Path) -> Command:
    """The command in a repository where nothing is recorded yet."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    return Command(home, folder)


def test_log_imports_sessions(ledgerless: Command, tmp_path: Path) -> None:
    pi, claude = (session(tmp_path, *rows, name=name)
                  for rows, name in ((PI, "a.jsonl"), ([*TRANSCRIPT, "{"], "b.jsonl")))  # fmt: skip
    done = ledgerless("log", "--import", pi, "--import", claude)
    assert done.code == 0
    assert done.out == f"{pi}: 6 calls imported\n{claude}: 5 calls imported\n"
    assert done.err.startswith(f"{claude}:11: the line is no JSON: ")
    again = ledgerless("log", "--import", pi, "--format", "json")
    assert again.answers == [{"file": pi, "written": 0, "known": 6, "faults": []}]
    assert "Greet the world" in ledgerless("log", "--tool", "edit").out


def test_log_says_what_it_cannot_import(ledgerless: Command, tmp_path: Path) -> None:
    other, good = session(tmp_path, {"a": 1}), session(tmp_path, *PI, name="a.jsonl")
    done = ledgerless("log", "--import", other, "--import", "no.jsonl", "--import", good)
    assert (done.code, done.out) == (2, f"{good}: 6 calls imported\n")
    assert f"{other}: it is no session that can be imported" in done.err
    assert "no.jsonl cannot be read: No such file or directory" in done.err
    both = ledgerless("log", "--import", good, "--tool", "bash")
    assert (both.code, "import first, then choose" in both.err) == (2, True)
