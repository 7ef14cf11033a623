"""The engine as a child: its protocol, what it imports, how it ends."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tool_intent.surfaces.bridge import Server, serve

MAIN = "from tool_intent.surfaces.bridge import main; main()"
WHY = {"intent": "Keep the notes", "rationale": "The release asks for them"}
DEADLINE = 60


def request(method: str, number: int | None = 1, /, **params: Any) -> bytes:
    named = {} if number is None else {"id": number}
    asked = {"jsonrpc": "2.0", **named, "method": method, "params": params}
    return json.dumps(asked).encode() + b"\n"


def answers(*lines: bytes) -> list[dict[str, Any]]:
    out = io.BytesIO()
    serve(io.BytesIO(b"".join(lines)), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_conversation_from_hello_to_outcome(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    hello, extended, denied, allowed, told, status = answers(
        request("hello", 1, protocol=1, cwd=str(tmp_path)),
        request("extend", 2, tools=[{"name": "read", "inputSchema": schema}]),
        request("decide", 3, tool="read", args={"path": "a"}, id="c1", session="s"),
        request("decide", 4, tool="read", args={"path": "a"} | WHY, id="c2", session="s"),
        request("outcome", 5, session="s", id="c2", outcome="passed"),
        request("status", 6),
    )
    assert hello["id"] == 1
    assert hello["result"]["protocol"] == 1
    (plan,) = extended["result"]["tools"]
    assert list(plan["schema"]["properties"]) == ["intent", "rationale", "path"]
    assert plan["fields"] == ["intent", "rationale"]
    assert plan["reads"] == ["path"]
    assert denied["result"]["decision"] == "deny"
    assert denied["result"]["strip"] == []
    assert allowed["result"]["decision"] == "allow"
    assert allowed["result"]["strip"] == [["intent"], ["rationale"]]
    assert told["result"] == {}
    assert [s["file"] for s in status["result"]["sources"]][:1] == ["std/baseline"]


def test_what_a_record_is_made_from_is_not_sent_as_a_digest(tmp_path: Path) -> None:
    names = ("bash", "edit", "write")
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    hello = request("hello", 1, protocol=1, cwd=str(tmp_path))
    _, extended = answers(hello, request("extend", 2, tools=tools))
    reads = [plan["reads"] for plan in extended["result"]["tools"]]
    assert reads == [["command"], ["edits", "path"], ["path"]]


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (b"nonsense\n", -32700, "not JSON"),
        (b"\xff\n", -32700, "not JSON"),
        (b"[]\n", -32600, "a request is an object"),
        (request("surf"), -32601, "there is no method 'surf'"),
        (b'{"id": 1, "method": "ping", "params": []}\n', -32602, "params"),
        (request("decide", tool="bash"), -32600, "say hello first"),
        (request("hello", protocol=2, cwd="/"), -32602, "tool-intent pi install"),
        (request("hello", protocol=1), -32602, "`cwd`"),
    ],
)
def test_what_is_no_request_is_answered_with_an_error(line: bytes, code: int, words: str) -> None:
    (answer,) = answers(line)
    assert answer["error"]["code"] == code
    assert words in answer["error"]["message"]


def test_a_request_without_an_id_is_carried_out_and_not_answered(tmp_path: Path) -> None:
    told = answers(
        request("hello", 1, protocol=1, cwd=str(tmp_path)),
        request("outcome", None, session="s", id="c", outcome="passed"),
        request("ping", 2, a=1),
    )
    assert [answer["id"] for answer in told] == [1, 2]


def test_what_goes_wrong_inside_is_an_error_and_the_next_request_is_answered(
    tmp_path: Path,
) -> None:
    server = Server()
    server.answered(request("hello", protocol=1, cwd=str(tmp_path)))
    broken = server.answered(request("extend", 2, tools=[{"description": "no name"}]))
    assert broken is not None
    assert "KeyError" in json.loads(broken)["error"]["message"]
    next_one = server.answered(request("decide", 3, tool="bash", args={"command": "ls"}))
    assert next_one is not None
    assert json.loads(next_one)["result"]["decision"] == "deny"


def child(*lines: bytes, cwd: Path, limit: bool = False) -> subprocess.CompletedProcess[bytes]:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    return subprocess.run(
        [sys.executable, "-X", "importtime", "-c", MAIN],
        input=b"".join(lines),
        capture_output=True,
        cwd=cwd,
        timeout=DEADLINE,
        check=False,
        preexec_fn=limited if limit else None,
    )


HEAVY = {"yaml", "lark", "jsonschema", "typer", "rich", "dataclasses", "pickle", "subprocess"}


def test_from_the_cache_a_child_imports_nothing_of_authoring_time(tmp_path: Path) -> None:
    lines = (
        request("hello", 1, protocol=1, cwd=str(tmp_path)),
        request("extend", 2, tools=[{"name": "write", "inputSchema": {"type": "object"}}]),
        request("decide", 3, tool="write", args={"path": "a"}, id="c", session="s"),
        request("reload", 4),
    )
    cold, warm = child(*lines, cwd=tmp_path), child(*lines, cwd=tmp_path)
    assert warm.stdout == cold.stdout
    imported = {line.rpartition("|")[2].strip() for line in warm.stderr.decode().splitlines()}
    assert "tool_intent.surfaces.judging" in imported
    assert imported & HEAVY == set()


def test_on_a_full_disk_calls_are_judged_without_a_cache(tmp_path: Path) -> None:
    done = child(
        request("hello", 1, protocol=1, cwd=str(tmp_path)),
        request("decide", 2, tool="bash", args={"command": "ls"}, id="c", session="s"),
        request("decide", 3, tool="bash", args={"command": "ls"} | WHY, id="c", session="s"),
        cwd=tmp_path,
        limit=True,
    )
    told = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    assert [t["decision"] for t in told[1:]] == ["deny", "allow"]
    assert done.returncode == 0


def test_what_is_printed_does_not_end_up_between_the_answers(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN + "; print('more')"],
        input=request("ping", 1, a=1),
        capture_output=True,
        cwd=tmp_path,
        timeout=DEADLINE,
        check=False,
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}
    ]
    assert b"more" in done.stderr
