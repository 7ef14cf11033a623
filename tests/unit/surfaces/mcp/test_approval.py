"""Asking the person who uses the client."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import Bench, call, parsed, request, result

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
YES = {"action": "accept", "content": {"approve": True}}
NOT_YES = [
    {"action": "decline"}, {"action": "cancel"}, {"action": "accept"}, {},
    {"action": "accept", "content": {"approve": False}},
    {"action": "accept", "content": {"approve": "true"}},
    {"action": "decline", "content": {"approve": True}},
]  # fmt: skip


def modern(made: dict[str, Any], **more: Any) -> dict[str, Any]:
    made["params"] |= {"_meta": dict(MODERN), **more}
    return made


@pytest.fixture
def legacy(asking: Bench) -> Bench:
    asking.client(request("i", "initialize", capabilities={"elicitation": {}}))
    asking.server(result("i", {}))
    asking.list()
    return asking


def refused(lines: list[bytes]) -> bool:
    (answer,) = parsed(lines)
    return bool(answer["result"]["isError"])


def test_the_person_sees_the_call_and_their_yes_runs_it_stripped(legacy: Bench) -> None:
    (asked,), sent = legacy.client(call(1, "danger", intent="Wipe it.", path="/x"))
    question = json.loads(asked)
    assert sent == []
    assert question["method"] == "elicitation/create"
    assert "mcp__s__danger" in question["params"]["message"]
    assert "It cannot be undone." in question["params"]["message"]
    assert '{"path": "/x"}' in question["params"]["message"]
    shown, (ran,) = legacy.client(result(question["id"], YES))
    assert shown == []
    assert json.loads(ran) == call(1, "danger", path="/x")


@pytest.mark.parametrize("said", NOT_YES)
def test_anything_but_a_plain_yes_refuses(legacy: Bench, said: Any) -> None:
    (asked,), _ = legacy.client(call(1, "danger", intent="Wipe it."))
    shown, sent = legacy.client(result(json.loads(asked)["id"], said))
    assert sent == []
    assert refused(shown)


def test_an_error_of_the_client_refuses(legacy: Bench) -> None:
    (asked,), _ = legacy.client(call(1, "danger", intent="Wipe it."))
    error = {"jsonrpc": "2.0", "id": json.loads(asked)["id"], "error": {"code": -1}}
    shown, sent = legacy.client(error)
    assert sent == []
    assert refused(shown)


def test_one_yes_runs_one_call(legacy: Bench) -> None:
    (asked,), _ = legacy.client(call(1, "danger", intent="Wipe it."))
    yes = result(json.loads(asked)["id"], YES)
    assert len(legacy.client(yes)[1]) == 1
    assert legacy.client(yes) == ([], [])


def test_a_call_that_is_denied_is_not_asked_about(legacy: Bench) -> None:
    shown, sent = legacy.client(call(1, "danger"))
    assert (refused(shown), sent) == (True, [])


def test_a_cancelled_call_runs_no_more_whatever_is_answered(legacy: Bench) -> None:
    (asked,), _ = legacy.client(call(1, "danger", intent="Wipe it."))
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    legacy.client(note)
    assert legacy.client(result(json.loads(asked)["id"], YES)) == ([], [])


def test_a_question_left_open_is_a_no_when_the_server_is_gone(legacy: Bench) -> None:
    legacy.client(call(1, "danger", intent="Wipe it."))
    legacy.filter.server_ended("the server ended")
    assert refused(legacy.filter.to_client)


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": None}])
def test_a_client_that_shows_no_forms_is_refused(asking: Bench, capabilities: Any) -> None:
    asking.client(request("i", "initialize", capabilities=capabilities))
    asking.list()
    shown, sent = asking.client(call(1, "danger", intent="Wipe it."))
    assert (refused(shown), sent) == (True, [])


def test_nobody_is_asked_unless_the_proxy_was_told_to(bench: Bench) -> None:
    bench.client(request("i", "initialize", capabilities={"elicitation": {}}))
    bench.list()
    shown, sent = bench.client(call(1, "danger", intent="Wipe it."))
    assert (refused(shown), sent) == (True, [])


def asked_modern(bench: Bench, **args: Any) -> str:
    bench.list()
    (said,), sent = bench.client(modern(call(1, "danger", intent="Wipe it.", **args)))
    answer = json.loads(said)["result"]
    assert sent == []
    assert answer["resultType"] == "input_required"
    assert answer["inputRequests"]["tool-intent"]["method"] == "elicitation/create"
    state: str = answer["requestState"]
    return state


def test_since_2026_07_28_the_yes_comes_with_the_call_sent_again(asking: Bench) -> None:
    state = asked_modern(asking)
    again = call(2, "danger", intent="Wipe it.")
    _, (ran,) = asking.client(
        modern(again, requestState=state, inputResponses={"tool-intent": YES})
    )
    assert json.loads(ran)["params"] == {"name": "danger", "arguments": {}, "_meta": MODERN}


@pytest.mark.parametrize("said", [*NOT_YES, None])
def test_since_2026_07_28_anything_else_refuses(asking: Bench, said: Any) -> None:
    state = asked_modern(asking)
    again = call(2, "danger", intent="Wipe it.")
    shown, sent = asking.client(
        modern(again, requestState=state, inputResponses={"tool-intent": said})
    )
    assert (refused(shown), sent) == (True, [])


@pytest.mark.parametrize("name_and_path", [("danger", "/y"), ("look", "/x")])
def test_a_yes_is_for_the_call_that_was_shown(asking: Bench, name_and_path: Any) -> None:
    state = asked_modern(asking, path="/x")
    name, path = name_and_path
    other = modern(
        call(2, name, intent="Wipe it.", path=path),
        requestState=state,
        inputResponses={"tool-intent": YES},
    )
    shown, sent = asking.client(other)
    if name == "danger":
        assert sent == []
        assert json.loads(shown[0])["result"]["requestState"] != state, "asked anew"
    else:
        assert "requestState" not in json.loads(sent[0])["params"], "ours goes no further"


def test_a_yes_cannot_be_sent_twice(asking: Bench) -> None:
    state = asked_modern(asking)
    more = {"requestState": state, "inputResponses": {"tool-intent": YES}}
    assert asking.client(modern(call(2, "danger", intent="Wipe it."), **more))[1] != []
    assert asking.client(modern(call(3, "danger", intent="Wipe it."), **more))[1] == []


def test_the_server_may_ask_for_more_of_an_approved_call(asking: Bench) -> None:
    state = asked_modern(asking)
    more = {"requestState": state, "inputResponses": {"tool-intent": YES}}
    asking.client(modern(call(2, "danger", intent="Wipe it."), **more))
    asking.server(result(2, {"resultType": "input_required", "requestState": "theirs"}))
    again = {"requestState": "theirs", "inputResponses": {"q": YES}}
    _, (ran,) = asking.client(modern(call(3, "danger", intent="Wipe it."), **again))
    assert json.loads(ran)["params"]["inputResponses"] == {"q": YES}
    assert json.loads(ran)["params"]["requestState"] == "theirs"
    assert asking.client(modern(call(4, "danger", intent="Wipe it."), **again))[1] == []


@pytest.mark.parametrize(("is_error", "sent"), [(False, 1), (True, 0)])
def test_what_came_of_an_approved_call_counts_for_rules(
    is_error: bool, sent: int, legacy: Bench
) -> None:
    (asked,), _ = legacy.client(call(1, "danger", intent="Wipe it."))
    legacy.client(result(json.loads(asked)["id"], YES))
    assert len(legacy.client(call(2, "wiped", intent="Go on."))[1]) == 0, "not answered yet"
    legacy.server(result(1, {"content": [], "isError": is_error}))
    assert len(legacy.client(call(3, "wiped", intent="Go on."))[1]) == sent
    assert len(legacy.client(call(4, "failing", intent="Go on."))[1]) == 1 - sent


def test_since_2026_07_28_an_approved_call_counts_too(asking: Bench) -> None:
    state = asked_modern(asking)
    more = {"requestState": state, "inputResponses": {"tool-intent": YES}}
    asking.client(modern(call(2, "danger", intent="Wipe it."), **more))
    asking.server(result(2, {"content": []}))
    assert len(asking.client(call(3, "wiped", intent="Go on."))[1]) == 1


def test_an_approved_call_that_the_server_never_answers_has_failed(legacy: Bench) -> None:
    (asked,), _ = legacy.client(call(1, "danger", intent="Wipe it."))
    legacy.client(result(json.loads(asked)["id"], YES))
    legacy.filter.server_ended("the server ended")
    assert len(legacy.client(call(2, "failing", intent="Go on."))[1]) == 1
