"""What the filter passes on, changes and answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tool_intent.guard.guard import Guard
from tool_intent.ledger.recorder import NullRecorder, Told
from tool_intent.runtime.model import Keeping

from .conftest import TOOLS, Bench, call, parsed, request, result

PASSED_ON = [
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n',
    b'{"jsonrpc": "2.0", "id": "x", "method": "resources/read", "params": {"uri": "a:b"}}\n',
    b'{"method":"tasks/get","id":-7,"jsonrpc":"2.0","params":{"n":1.0e2,"z":"\\u00e9\\/"}}\n',
    b'{"jsonrpc":"2.0","id":5,"method":"future/method","params":[1,{"a":null}],"new":true}\n',
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}\n',
    b'{"jsonrpc":"2.0","id":"s-1","result":{"roots":[]}}\n',
    b'{"jsonrpc":"2.0","id":9,"error":{"code":-1,"message":"no"}}\n',
    '{"jsonrpc":"2.0","id":6,"method":"ping","params":{"t":"\u2028"}}\r\n'.encode(),
    b'{"jsonrpc":"2.0","id":7,"method":"ping"}',
    b"\n",
]
SAID = [
    b'{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}}, "x" : 1e2}}\n',
    b'{"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{}}\r\n',
    b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n',
    b'{"jsonrpc":"2.0","id":44,"result":{"content":[{"type":"text","text":"\\u2028"}]}}\n',
    b"not JSON at all\n",
    b'{"jsonrpc":"2.0","id":1,"result":"\xff"}\n',
    b"[]\n",
    b'"text"\n',
]


@pytest.mark.parametrize("one", PASSED_ON)
def test_what_is_no_call_reaches_the_server_byte_for_byte(bench: Bench, one: bytes) -> None:
    assert bench.client(one) == ([], [one])


@pytest.mark.parametrize("one", SAID)
def test_what_is_no_list_of_tools_reaches_the_client_byte_for_byte(
    bench: Bench, one: bytes
) -> None:
    assert bench.server(one) == ([one], [])


def test_listed_tools_carry_the_fields_and_stay_as_they_are_otherwise(bench: Bench) -> None:
    run, *_ = bench.list()
    assert list(run) == list(TOOLS[0])
    assert run["name"] == "run"
    assert list(run["inputSchema"]["properties"]) == ["intent", "command"]
    assert run["inputSchema"]["required"] == ["intent"]
    assert run["description"].startswith("run\n`intent` is required")


def test_a_list_that_carries_no_fields_is_passed_on_byte_for_byte(bench: Bench) -> None:
    bench.client(request(1, "tools/list"))
    said = b'{"jsonrpc":"2.0", "id":1, "result":{"tools":[{"name":"free"}], "ttlMs":1.0}}\n'
    assert bench.server(said) == ([said], [])


def test_numbers_in_a_list_of_tools_keep_their_spelling(bench: Bench) -> None:
    bench.client(request(1, "tools/list"))
    said = b'{"id":1,"result":{"tools":[{"name":"run","inputSchema":{"maximum":1.50E+2}}]}}\n'
    (shown,), _ = bench.server(said)
    assert b'"maximum": 1.50E+2' in shown
    assert b'"intent"' in shown


def test_an_answer_that_nobody_waits_for_is_extended_if_it_lists_tools(bench: Bench) -> None:
    (shown,), _ = bench.server(result(77, {"tools": TOOLS}))
    assert b"is required with each call" in shown


def test_a_result_of_another_request_is_no_list_whatever_it_holds(bench: Bench) -> None:
    bench.client(request(3, "resources/read"))
    said = json.dumps(result(3, {"tools": TOOLS})).encode() + b"\n"
    assert bench.server(said) == ([said], [])


def test_a_schema_that_cannot_be_extended_is_said_once(bench: Bench) -> None:
    bench.list()
    bench.list()
    assert [n for n in bench.notes if "mcp__s__own" in n] == [
        "mcp__s__own: fields are not advertised: the tool defines `intent` itself"
    ]


def test_a_call_is_stripped_from_its_text_and_nothing_else_changes(bench: Bench) -> None:
    bench.list()
    said = (
        b'{ "id":1 ,"jsonrpc":"2.0","params" : {"_meta":{"intent":"kept","n":1.0},'
        b'"arguments": { "command":"\\u006c\\/s" , "intent":"See it.",  "n": 1.50E+2, '
        b'"m":{"intent":1} },"name":"run"},"method":"tools/call"}\r\n'
    )
    assert bench.client(said) == ([], [said.replace(b'"intent":"See it.",  ', b"")])


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ('{"intent":"Go."}', "{}"),
        ('{ "intent" : "Go." }', "{  }"),
        ('{"a":1,"intent":"Go."}', '{"a":1}'),
        ('{"intent":"Go.","a":1}', '{"a":1}'),
        ('{"a":1, "intent":"Go.", "b":2}', '{"a":1, "b":2}'),
    ],
)
def test_a_field_is_cut_wherever_it_stands(bench: Bench, sent: str, kept: str) -> None:
    bench.list()
    whole = (
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":%s}}\n'
    )
    assert bench.client((whole % sent).encode()) == ([], [(whole % kept).encode()])


def test_fields_of_entries_are_cut_at_their_places(bench: Bench) -> None:
    bench.list()
    edits = [{"intent": "One.", "old": "[{"}, {"old": "b", "intent": "Two."}]
    _, (sent,) = bench.client(call(1, "change", intent="All.", edits=edits))
    assert json.loads(sent)["params"]["arguments"] == {"edits": [{"old": "[{"}, {"old": "b"}]}


def test_a_refusal_is_a_failed_result_of_text_alone_with_the_calls_own_id(bench: Bench) -> None:
    bench.list()
    for key in (1, "1", "\u2028é", -3, ""):
        (said,), passed = bench.client(call(key, "run", command="ls"))
        answer = json.loads(said)
        assert passed == []
        assert answer["id"] == key
        assert type(answer["id"]) is type(key)
        assert set(answer["result"]) == {"content", "isError"}
        assert answer["result"]["isError"] is True
        assert "intent is missing" in answer["result"]["content"][0]["text"]


def test_a_refusal_since_2026_07_28_says_that_it_is_complete(bench: Bench) -> None:
    bench.list()
    made = call(1, "run")
    made["params"]["_meta"] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    (said,), _ = bench.client(made)
    assert json.loads(said)["result"]["resultType"] == "complete"


def test_the_server_is_asked_for_its_tools_before_the_first_call_is_judged(bench: Bench) -> None:
    asked = parsed(bench.client(call(1, "run", intent="Go."))[1])
    assert [m["method"] for m in asked] == ["tools/list"]
    assert bench.client(request(2, "ping")) == ([], []), "what follows waits its turn"
    response = b'{"jsonrpc":"2.0","id":"r","result":{}}\n'
    assert bench.client(response) == ([], [response]), "the server may need it to go on"
    shown, sent = bench.server(result(asked[0]["id"], {"tools": TOOLS[:1]}))
    assert shown == [], "the client did not ask"
    assert [(m["method"], m["id"]) for m in parsed(sent)] == [("tools/call", 1), ("ping", 2)]
    assert parsed(sent)[0]["params"]["arguments"] == {}


def test_all_pages_are_read_before_a_tool_counts_as_unknown(bench: Bench) -> None:
    (first,) = parsed(bench.client(call(1, "look", intent="Go."))[1])
    _, (more,) = bench.server(result(first["id"], {"tools": TOOLS[:1], "nextCursor": "c"}))
    assert json.loads(more)["params"] == {"cursor": "c"}
    _, sent = bench.server(result(json.loads(more)["id"], {"tools": TOOLS[1:]}))
    assert parsed(sent)[0]["params"]["name"] == "look"


def test_a_tool_that_is_not_listed_is_an_error_with_the_nearest_name(bench: Bench) -> None:
    (asked,) = parsed(bench.client(call(1, "runn", intent="Go."))[1])
    (said,), sent = bench.server(result(asked["id"], {"tools": TOOLS}))
    assert sent == []
    assert json.loads(said)["error"]["code"] == -32602
    assert 'did you mean "run"?' in said.decode().replace("\\", "")
    (said,), sent = bench.client(call(2, "runn", intent="Go."))
    assert sent == [], "the list is known by now"


def test_a_server_that_tells_no_tools_runs_none(bench: Bench) -> None:
    (asked,) = parsed(bench.client(call(1, "run", intent="Go."))[1])
    refusal = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}
    (said,), sent = bench.server(refusal)
    assert sent == []
    assert "lists no tool" in json.loads(said)["error"]["message"]


def test_after_a_change_of_the_list_a_call_is_judged_by_the_new_one(bench: Bench) -> None:
    bench.list()
    bench.server(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n')
    (asked,) = parsed(bench.client(call(1, "run", intent="Go."))[1])
    assert asked["method"] == "tools/list"
    changed = {"name": "run", "inputSchema": {"properties": {"intent": {"type": "string"}}}}
    (said,), sent = bench.server(result(asked["id"], {"tools": [changed]}))
    assert sent == []
    assert "intent" in json.loads(said)["result"]["content"][0]["text"]


def test_a_batch_is_judged_one_by_one_and_answered_once(bench: Bench) -> None:
    bench.list()
    good, bad = call(1, "run", intent="Go."), call(2, "run")
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    shown, sent = bench.client([good, note, bad, request(3, "ping"), 7])
    assert shown == [], "the answers go out together"
    assert [m.get("id") for m in parsed(sent)] == [1, None, 3]
    assert bench.server(result(1, {"content": []})) == ([], [])
    (all_,), _ = bench.server(result(3, {}))
    answers = json.loads(all_)
    assert sorted(str(a["id"]) for a in answers) == ["1", "2", "3", "None"]
    assert bench.server(result(3, {"again": 1}))[0] != [], "what comes after is passed on"


def test_numeric_and_textual_ids_are_two(bench: Bench) -> None:
    bench.client(request(1, "tools/list"))
    bench.client(request("1", "resources/list"))
    said = json.dumps(result("1", {"tools": TOOLS})).encode() + b"\n"
    assert bench.server(said) == ([said], [])
    (shown,), _ = bench.server(result(1, {"tools": TOOLS}))
    assert b"is required with each call" in shown


def test_equal_ids_are_judged_each_and_answered_each(bench: Bench) -> None:
    bench.list()
    assert len(bench.client(call(1, "run", intent="Go."))[1]) == 1
    assert len(bench.client(call(1, "run"))[0]) == 1
    assert len(bench.client(call(1, "run", intent="Go."))[1]) == 1
    for _ in range(2):
        assert len(bench.server(result(1, {"content": []}))[0]) == 1


def test_outcomes_are_the_servers_own(bench: Bench) -> None:
    bench.list()
    for n, (answer, passes) in enumerate(
        [
            ({"isError": True, "content": []}, False),
            ({"resultType": "input_required"}, False),
            ({"task": {"taskId": "1"}}, False),
            ({"content": []}, True),
        ]
    ):
        bench.client(call(f"look{n}", "look", intent="See."))
        assert bench.client(call(f"early{n}", "after", intent="Go."))[1] == [], "not yet"
        bench.server(result(f"look{n}", answer))
        _, sent = bench.client(call(f"after{n}", "after", intent="Go."))
        assert bool(sent) is passes


def test_a_call_without_an_id_is_dropped_and_said(bench: Bench) -> None:
    bench.list()
    made = call(1, "run", intent="Go.")
    del made["id"]
    before = len(bench.notes)
    assert bench.client(made) == ([], [])
    assert [n.partition(":")[0] for n in bench.notes[before:]] == [
        'dropped a call of "mcp__s__run" without an id'
    ]


def test_a_cancelled_call_is_no_longer_waited_for(bench: Bench) -> None:
    bench.list()
    bench.client(call(1, "run", intent="Go."))
    assert bench.filter.waits == 1
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert len(bench.client(note)[1]) == 1
    assert bench.filter.waits == 0


def test_when_the_server_is_gone_everything_is_answered(bench: Bench) -> None:
    bench.client(request(1, "ping"))
    bench.client([request(2, "ping"), call(3, "run")])
    bench.client(request(4, "ping"))
    bench.filter.server_ended("the server ended (exit code 3)")
    single, together, held = parsed(bench.filter.to_client)
    assert (single["id"], held["id"]) == (1, 4)
    assert {a["id"] for a in together} == {2, 3}
    assert "exit code 3" in single["error"]["message"]


class _FullDisk(NullRecorder):
    """A recorder that can keep nothing."""

    def decision(self, told: Told) -> None:
        raise OSError("the disk is full")


def test_a_call_that_cannot_be_recorded_is_passed_on_with_a_notice(artifact: Any) -> None:
    notices: list[str] = []
    guard = Guard(artifact, recorder=_FullDisk(), notice=notices.append)
    bench = Bench(guard, elicit=False)
    bench.list()
    for number in (1, 2):
        _, sent = bench.client(call(number, "run", intent="Go."))
        assert len(sent) == 1
    assert notices == ["a decision was not recorded: the disk is full"]


def test_a_call_that_cannot_be_recorded_is_refused_where_a_record_is_required(
    artifact: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(artifact, "_keeping", Keeping(required=True))
    bench = Bench(Guard(artifact, recorder=_FullDisk(), notice=str), elicit=False)
    bench.list()
    (said,), sent = bench.client(call(1, "run", intent="Go."))
    assert sent == []
    assert "this call cannot be recorded" in json.loads(said)["result"]["content"][0]["text"]


def test_a_schema_that_faults_the_engine_refuses_the_tools_calls(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> Any:
        raise RecursionError

    with monkeypatch.context() as patch:
        patch.setattr(bench.session.guard, "extend", broken)
        assert bench.list() == TOOLS, "the list is passed on as it is"
    (said,), sent = bench.client(call(1, "run", intent="Go."))
    assert sent == []
    assert "could not be read" in json.loads(said)["error"]["message"]
