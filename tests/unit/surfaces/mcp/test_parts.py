"""Lines, events, headers and names."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.surfaces.mcp.events import Event, Events, TooMuch
from tool_intent.surfaces.mcp.framing import Lines, TooLong
from tool_intent.surfaces.mcp.headers import (
    Refused,
    decoded,
    expect_agreement,
    expect_near,
    expect_single,
    passed_on,
)
from tool_intent.surfaces.mcp.messages import Message, read
from tool_intent.surfaces.mcp.naming import BadLabel, checked_label, guessed_label

PIECES = st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"\r", b"{}", b"\x85", b"\x0b"]))


@given(PIECES, st.integers(1, 9))
def test_lines_end_at_line_feeds_alone_however_they_arrive(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    lines = Lines()
    found = [x for n in range(0, len(data), size) for x in lines.feed(data[n : n + size])]
    assert b"".join(found + lines.end()) == data
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in found)


@pytest.mark.parametrize("size", [7, 1_000])
def test_a_line_past_the_limit_is_told_apart_and_the_next_one_is_read(size: int) -> None:
    lines = Lines(longest=50)
    data = b'{"id":"x","params":"' + b"a" * 90 + b'"}\n{"id":2}\n'
    found = [x for n in range(0, len(data), size) for x in lines.feed(data[n : n + size])]
    long, after = found
    assert isinstance(long, TooLong)
    assert after == b'{"id":2}\n'


@pytest.mark.parametrize(
    ("head", "tail", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"params":"aa', b'aa"}\n', "7"),
        (b'{"id" : "q\\"" , "params":"aa', b'aa"}\n', '"q\\""'),
        (b'{"result":{"id":1,"x":"aa', b'aa"},"id":8}\n', "8"),
        (b'{"result":{"id":1,"x":"aa', b'aa"},"jsonrpc":"2.0","id":"s" }\n', '"s"'),
        (b'{"id":null,"x":"aa', b'aa"}\n', None),
        (b'{"x":"aa', b'aa","id":1.5}\n', None),
        (b"[aaa", b"aa]\n", None),
    ],
)
def test_the_id_of_a_line_past_the_limit_is_read_from_its_ends(
    head: bytes, tail: bytes, id: str | None
) -> None:
    assert TooLong(head, tail).id() == id


STREAM = b': hi\n\nid: 1\nevent: message\ndata: {"a":1}\n\ndata: x\r\ndata: y\r\n\r\nretry: 3\r\r'


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_events_are_split_however_they_arrive(size: int) -> None:
    events = Events(1_000)
    found = [e for n in range(0, len(STREAM), size) for e in events.feed(STREAM[n : n + size])]
    assert [e.data for e in found[:3]] == [None, b'{"a":1}', b"x\ny"]
    assert b"".join(e.raw for e in found) + events.end() == STREAM


def test_an_event_with_other_data_keeps_its_id_and_name() -> None:
    event = Event(b'id: 1\r\nevent: message\r\ndata: {"a":1}\r\n\r\n', b'{"a":1}')
    assert event.with_data(b'{"b":2}\n') == b'id: 1\nevent: message\ndata: {"b":2}\n\n'


def test_an_event_without_end_is_too_much() -> None:
    with pytest.raises(TooMuch):
        Events(10).feed(b"data: aaaaaaaaaaaaaaaa")


BODY = b'{"jsonrpc":"2.0",\r\n"id":1,"method":"ping"}'
#: Without the time, which would make each worker's tests have names of their own.
PACKED = gzip.compress(BODY, mtime=0)
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (BODY, {}),
        (BODY, {"content-type": "Application/JSON; charset=UTF-8"}),
        (PACKED, {"content-encoding": "gzip"}),
    ],
)
def test_a_body_is_decoded_to_one_line(body: bytes, more: dict[str, str]) -> None:
    line = decoded(body, JSON | more, 1_000)
    assert line == BODY.replace(b"\r", b" ").replace(b"\n", b" ")


@pytest.mark.parametrize(
    ("body", "more", "status"),
    [
        (BODY, {"content-type": "text/plain"}, 415),
        (BODY, {"content-type": "application/json; charset=utf-16"}, 415),
        (BODY, {"content-encoding": "br"}, 415),
        (BODY, {"content-encoding": "gzip, gzip"}, 415),
        (BODY, {"content-encoding": "gzip"}, 400),
        (PACKED[:-9], {"content-encoding": "gzip"}, 400),
        (PACKED + BODY, {"content-encoding": "gzip"}, 400),
        (gzip.compress(b" " * 5_000, mtime=0), {"content-encoding": "gzip"}, 413),
    ],
)
def test_a_body_that_readers_might_read_differently_is_refused(
    body: bytes, more: dict[str, str], status: int
) -> None:
    with pytest.raises(Refused) as refused:
        decoded(body, JSON | more, 1_000)
    assert refused.value.status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8080"}, None),
        ({"host": "[::1]:8080", "origin": "http://localhost:3000"}, None),
        ({"host": "proxy.example", "origin": "https://proxy.example"}, None),
        ({"host": "evil.example"}, 421),
        ({"host": ""}, 421),
        ({}, 421),
        ({"host": "localhost", "origin": "https://evil.example"}, 403),
        ({"host": "localhost", "origin": "null"}, 403),
        ({"host": "localhost", "origin": "http://[::1"}, 403),
    ],
)
def test_requests_of_other_hosts_and_pages_are_refused(
    headers: dict[str, str], status: int | None
) -> None:
    allowed = frozenset({"proxy.example"})
    if status is None:
        expect_near(headers, allowed)
        return
    with pytest.raises(Refused) as refused:
        expect_near(headers, allowed)
    assert refused.value.status == status


def test_a_header_that_must_be_single_is_refused_twice() -> None:
    for name in ("mcp-name", "content-type", "authorization", "mcp-session-id"):
        with pytest.raises(Refused):
            expect_single([(name, "a"), (name, "b")])
    expect_single([("accept", "a"), ("accept", "b")])


def test_headers_about_one_connection_end_here() -> None:
    headers = [
        ("connection", "keep-alive, X-Mine"), ("x-mine", "1"), ("authorization", "Bearer t"),
        ("content-length", "3"), ("mcp-protocol-version", "2025-11-25"), ("host", "h"),
    ]  # fmt: skip
    assert passed_on(headers) == [
        ("authorization", "Bearer t"), ("mcp-protocol-version", "2025-11-25"),
    ]  # fmt: skip


SCHEMA: dict[str, Any] = {
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
    }
}


def a_call() -> Message:
    text = (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":'
        b'{"region":"eu","dry":false}}}'
    )
    message = read(text)
    assert isinstance(message, Message)
    return message


@pytest.mark.parametrize(
    ("headers", "agrees"),
    [
        ({}, True),
        ({"mcp-method": "tools/call", "mcp-name": "run"}, True),
        ({"mcp-name": "=?base64?cnVu?="}, True),
        ({"mcp-param-region": "eu", "mcp-param-dry": "false"}, True),
        ({"mcp-method": "ping"}, False),
        ({"mcp-name": "wipe"}, False),
        ({"mcp-name": "=?base64?cnVu"}, False),
        ({"mcp-name": "=?base64?////?="}, False),
        ({"mcp-param-region": "us"}, False),
        ({"mcp-param-dry": "true"}, False),
        ({"mcp-param-other": "x"}, False),
    ],
)
def test_headers_say_what_the_body_says(headers: dict[str, str], agrees: bool) -> None:
    if agrees:
        expect_agreement(a_call(), headers, SCHEMA)
        return
    with pytest.raises(Refused) as refused:
        expect_agreement(a_call(), headers, SCHEMA)
    assert refused.value.status == 400


def test_headers_of_a_single_message_do_not_go_with_a_batch() -> None:
    with pytest.raises(Refused):
        expect_agreement(None, {"mcp-method": "ping"})


@pytest.mark.parametrize(
    ("command", "label"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /data", "filesystem"),
        (
            "node dist/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
            "everything",
        ),
        ("uvx mcp-server-git --repository .", "git"),
        ("/usr/bin/github-mcp-server stdio", "github"),
        ("python3.11 -m notes", "notes"),
        ("python tools/wiki.py", "wiki"),
        ("docker run -i --rm ghcr.io/acme/mcp-jira", "jira"),
        ("node index.js", None),
        ("", None),
    ],
)
def test_a_server_is_called_what_its_command_calls_it(command: str, label: str | None) -> None:
    assert guessed_label(command.split()) == label


@pytest.mark.parametrize("label", ["a__b", "a_", "_a", "", "a b", "a/b", "é", "@a", "a*"])
def test_a_label_that_would_mean_another_server_too_is_refused(label: str) -> None:
    with pytest.raises(BadLabel):
        checked_label(label)


@pytest.mark.parametrize("label", ["github", "my_server", "a.b-c", "7"])
def test_a_plain_label_is_taken(label: str) -> None:
    assert checked_label(label) == label
