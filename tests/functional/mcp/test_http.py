"""The HTTP proxy, request by request."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from .raw import REASONS, refused, text
from .serving import free_port, http_proxy, running

ODD = str(Path(__file__).with_name("odd_http.py"))
ACCEPT = {"Accept": "application/json, text/event-stream"}


class Both(NamedTuple):
    """The proxy's address, and a server's behind it."""

    url: str
    behind: str

    def post(self, message: Any, **headers: str) -> httpx.Response:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        named = {k.replace("_", "-"): v for k, v in headers.items()}
        return httpx.post(
            self.url, content=body, headers={"Content-Type": "application/json", **ACCEPT, **named}
        )

    def seen(self) -> Any:
        return httpx.get(self.behind.replace("/mcp", "/seen")).json()


@pytest.fixture(scope="module")
def both(place: Path) -> Iterator[Both]:
    port = free_port()
    behind = f"http://127.0.0.1:{port}/mcp"
    with (
        running([sys.executable, ODD, str(port)], port, place),
        http_proxy(behind, "s", place) as url,
    ):
        yield Both(url, behind)


def call(name: str, id: Any = 1, **args: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": args}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


def reached(answer: httpx.Response) -> Any:
    """What the server behind says reached it."""
    return json.loads(text(answer.json()))


def test_a_call_is_judged_stripped_and_answered(both: Both) -> None:
    good = both.post(call("echo", a=1.50, **REASONS))
    assert reached(good)["args"] == {"a": 1.5}
    bad = both.post(call("echo", a=1))
    assert bad.status_code == 200
    assert refused(bad.json())
    unknown = both.post(call("hidden", **REASONS))
    assert "lists no tool" in unknown.json()["error"]["message"]


def test_nothing_of_the_body_but_the_fields_changes(both: Both) -> None:
    body = b'{"id":1 ,"method":"tools\\/call","params":{"name":"echo","arguments":'
    body += b'{"n":1.50E+2, "intent":"Build it.","rationale":"It is asked for."}},"jsonrpc":"2.0"}'
    assert reached(both.post(body))["body"] == body.decode().replace(
        '1.50E+2, "intent":"Build it.","rationale":"It is asked for."', "1.50E+2"
    )


def test_headers_of_authorisation_and_session_are_passed_on(both: Both) -> None:
    got = reached(
        both.post(
            call("echo", **REASONS), Authorization="Bearer t", Mcp_Session_Id="s1",
            MCP_Protocol_Version="2025-11-25", X_Own="1", Connection="close, X-Own",
        )
    )["headers"]  # fmt: skip
    assert got["authorization"] == "Bearer t"
    assert got["mcp-session-id"] == "s1"
    assert got["mcp-protocol-version"] == "2025-11-25"
    assert got["accept-encoding"] == "identity"
    assert got["host"] == both.behind.split("/")[2]
    assert "x-own" not in got


def test_a_session_id_reaches_the_client(both: Both) -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t"}}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    assert both.post(hello).headers["mcp-session-id"] == "s1"


def test_streams_pass_with_their_event_ids(both: Both) -> None:
    answer = both.post(call("stream", **REASONS))
    assert answer.headers["content-type"].startswith("text/event-stream")
    hello, progress, done, _ = answer.text.split("\n\n")
    assert hello == ": hi"
    assert progress.startswith("id: e0\nevent: message\ndata: ")
    assert done.startswith("id: e1\n")
    assert refused(both.post(call("stream")).json()), "a refusal needs no stream"


def test_a_list_of_tools_that_is_replayed_is_extended_too(both: Both) -> None:
    answer = httpx.get(both.url, headers={**ACCEPT, "Last-Event-ID": "e1"})
    data = answer.text.partition("data: ")[2]
    assert "id: e2" in answer.text
    tools = json.loads(data)["result"]["tools"]
    assert tools[0]["inputSchema"]["required"] == ["intent", "rationale"]


def test_a_batch_is_judged_one_by_one(both: Both) -> None:
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    answers = both.post([call("echo", a=1), ping, call("echo", id=3)]).json()
    by_id = {a["id"]: a for a in answers}
    assert refused(by_id[1])
    assert refused(by_id[3])
    assert by_id[2]["result"] == {"said": "ping"}


def test_what_is_packed_is_unpacked_judged_and_sent_plain(both: Both) -> None:
    packed = gzip.compress(json.dumps(call("echo", **REASONS)).encode())
    got = reached(both.post(packed, Content_Encoding="gzip"))
    assert got["args"] == {}
    assert "content-encoding" not in got["headers"]
    bad = gzip.compress(json.dumps(call("echo")).encode())
    assert refused(both.post(bad, Content_Encoding="gzip").json())


def test_a_packed_answer_reaches_the_client_plain(both: Both) -> None:
    answer = both.post(call("gzip", **REASONS))
    assert "content-encoding" not in answer.headers
    assert reached(answer)["args"] == {}


def test_a_redirect_is_not_followed_and_not_passed_on(both: Both) -> None:
    answer = both.post(call("redirect", **REASONS))
    assert answer.status_code == 502
    assert "location" not in answer.headers
    assert "other" not in both.seen()


def test_only_the_path_of_the_server_is_proxied(both: Both) -> None:
    for path in ("/other", "/seen", "/mcp/", "/"):
        answer = httpx.get(both.url.replace("/mcp", path), follow_redirects=False)
        assert answer.status_code in (404, 307), path
    assert httpx.put(both.url).status_code == 405
    assert both.post(call("echo", **REASONS)).status_code == 200
    assert httpx.post(both.url + "?x=1", json=call("echo", **REASONS)).status_code == 400


ATTEMPTS = [
    ({"Origin": "https://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Host": "evil.example"}, 421),
    ({"Mcp-Method": "ping"}, 400),
    ({"Mcp-Name": "stream"}, 400),
    ({"Mcp-Param-Region": "us"}, 400),
    ({"Mcp-Param-Other": "x"}, 400),
    ({"Content-Type": "text/plain"}, 415),
    ({"Content-Type": "application/json; charset=utf-16"}, 415),
    ({"Content-Encoding": "br"}, 415),
    ({"Content-Encoding": "gzip"}, 400),
]


@pytest.mark.parametrize(("headers", "status"), ATTEMPTS)
def test_a_request_that_can_be_read_in_two_ways_reaches_nothing(
    headers: dict[str, str], status: int, both: Both
) -> None:
    before = both.seen()
    message = call("echo", region="eu", **REASONS)
    named = {"Content-Type": "application/json", **ACCEPT, **headers}
    answer = httpx.post(both.url, content=json.dumps(message).encode(), headers=named)
    assert answer.status_code == status
    assert answer.json()["error"]["message"].startswith("tool-intent: ")
    assert both.seen() == before


def test_headers_that_agree_are_passed_on(both: Both) -> None:
    message = call("echo", region="eu", **REASONS)
    got = reached(
        both.post(
            message, Mcp_Method="tools/call", Mcp_Name="echo", Mcp_Param_Region="eu",
            Origin="http://localhost:3000",
        )
    )  # fmt: skip
    assert got["headers"]["mcp-name"] == "echo"


def test_a_header_given_twice_reaches_nothing(both: Both) -> None:
    headers = [("Mcp-Name", "echo"), ("Mcp-Name", "stream"), ("Content-Type", "application/json")]
    body = json.dumps(call("echo", **REASONS)).encode()
    assert httpx.post(both.url, content=body, headers=headers).status_code == 400


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b'"x"', b'{"jsonrpc":"2.0"}'])
def test_a_body_that_is_no_message_is_an_error(body: bytes, both: Both) -> None:
    answer = both.post(body)
    assert answer.status_code == 400
    assert "error" in answer.json()


def test_a_call_without_an_id_is_dropped(both: Both) -> None:
    before = both.seen()
    message = call("echo", **REASONS)
    del message["id"]
    assert both.post(message).status_code == 202
    assert both.seen() == before


def test_notifications_and_answers_are_passed_on(both: Both) -> None:
    assert both.post({"jsonrpc": "2.0", "method": "notifications/x"}).status_code == 202
    assert both.post({"jsonrpc": "2.0", "id": "s", "result": {}}).status_code == 202


def test_an_error_of_the_server_reaches_the_client(both: Both) -> None:
    answer = both.post(call("plain", **REASONS))
    assert (answer.status_code, answer.text) == (404, "no such thing")
    assert httpx.get(both.url).status_code == 405
    assert httpx.delete(both.url, headers={"Mcp-Session-Id": "s1"}).status_code == 204


def test_a_stream_that_ends_early_still_answers(both: Both) -> None:
    answer = both.post(call("early", **REASONS))
    assert "ended its answer early" in answer.text
    assert json.loads(answer.text.rpartition("data: ")[2])["id"] == 1


def test_a_stream_that_can_be_resumed_is_left_to_the_client(both: Both) -> None:
    answer = both.post(call("resumable", **REASONS))
    assert answer.text.count("data: ") == 1


def test_a_call_whose_answer_is_resumed_counts_by_what_came_of_it(both: Both) -> None:
    def after() -> bool:
        return not refused(both.post(call("after", **REASONS)).json())

    answer = both.post(call("breaking", id="again", **REASONS))
    assert answer.text.count("data: ") == 1
    assert not after(), "nothing is known of it yet"
    resumed = httpx.get(both.url, headers={**ACCEPT, "Last-Event-ID": "broken"})
    assert '"again"' in resumed.text
    assert after()


def test_a_server_that_is_gone_leaves_no_request_unanswered(place: Path) -> None:
    with http_proxy(f"http://127.0.0.1:{free_port()}/mcp", "s", place) as url:
        gone = Both(url, "")
        for message in (call("echo", id="x", **REASONS), {"id": "x", "method": "ping"}):
            answer = gone.post(message)
            assert answer.json()["id"] == "x"
            assert "cannot be reached" in answer.json()["error"]["message"]
        assert httpx.get(url).status_code == 502


def test_a_server_that_does_not_tell_its_tools_runs_none(both: Both) -> None:
    before = both.seen()
    answer = both.post(call("echo", **REASONS), Authorization="Bearer quiet")
    assert answer.json()["id"] == 1
    assert "did not tell which tools it has" in answer.json()["error"]["message"]
    assert both.seen() == before


def test_it_listens_on_loopback_unless_told_otherwise(both: Both) -> None:
    from tool_intent.cli.mcp import _address

    assert _address("8080") == ("127.0.0.1", 8080)
    assert _address(":8080") == ("127.0.0.1", 8080)
    assert _address("[::1]:8080") == ("::1", 8080)
    assert _address("0.0.0.0:8080") == ("0.0.0.0", 8080)


def test_what_a_session_did_before_the_proxy_was_started_is_unknown(
    place: Path, tmp_path: Path
) -> None:
    port = free_port()
    behind = f"http://127.0.0.1:{port}/mcp"
    policy = tmp_path / "once.yaml"
    policy.write_text(
        "version: 1\nextends: std/baseline\nrules: |\n"
        "  rule team/once on mcp__s__echo\n"
        '    forbid count(earlier mcp__s__echo within 50 calls) >= 1 else deny "Once."\n'
    )
    said = []
    with running([sys.executable, ODD, str(port)], port, place):
        for named in ({}, {"mcp_session_id": "of-another"}):
            with http_proxy(behind, "s", place, "--policy", str(policy)) as url:
                said.append(Both(url, behind).post(call("echo", **REASONS), **named).json())
    assert not refused(said[0])
    assert refused(said[1])
    assert "It could not be told" in text(said[1])
