"""JSON-RPC messages of MCP: read strictly, so that every reader of the text reads the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tool_intent.runtime.arguments import DuplicateKeys
from tool_intent.runtime.pointer import quoted
from tool_intent.runtime.wire import NotJson, dump, parse

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
#: Codes from here are a server's own; this one says that no answer will come.
NO_ANSWER: Final = -32000

CALL: Final = "tools/call"
LIST: Final = "tools/list"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"

_ENVELOPE: Final = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_CALL_PARAMS: Final = frozenset({"name", "arguments"})


class Malformed(Exception):
    """A message that is not passed on. `id` is the JSON text of the id to answer, where there is
    one that can be answered."""

    def __init__(self, message: str, code: int = INVALID_REQUEST, id: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.id = id


class Message(NamedTuple):
    """One message: its text without the line's end, what it says, and the line's end.

    `id` is the JSON text of the id, which tells 1 from "1"; None for notifications.
    """

    text: str
    value: dict[str, Any]
    id: str | None
    method: str | None
    end: bytes = b"\n"

    @property
    def line(self) -> bytes:
        """The message as it came, its line's end included."""
        return self.text.encode() + self.end

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters; empty where there are none, or none that are an object."""
        params = self.value.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def meta(self) -> Mapping[str, Any]:
        """The `_meta` of the parameters."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def modern(self) -> bool:
        """Whether the message carries its protocol's version, as since 2026-07-28."""
        return VERSION_KEY in self.meta

    @property
    def is_request(self) -> bool:
        return self.method is not None and self.id is not None


def read(line: bytes) -> Message | list[Message | Malformed]:
    """The client's message on a line, or those of a batch. Raises Malformed.

    A carriage return may stand at the line's end only: some servers end a line there too, and
    would read a message inside the message.
    """
    body = line.removesuffix(b"\n").removesuffix(b"\r")
    end = line[len(body) :]
    if b"\r" in body:
        raise Malformed("a message holds a carriage return; write \\r", PARSE_ERROR)
    try:
        text = body.decode("utf-8")
        value = parse(text)
    except UnicodeDecodeError as error:
        where = f"not UTF-8 at byte {error.start + 1}"
        raise Malformed(f"a message is one line of UTF-8: {where}", PARSE_ERROR) from None
    except NotJson as error:
        raise Malformed(f"a message is one line of JSON: {error}", PARSE_ERROR) from None
    if isinstance(value, list):
        if not value:
            raise Malformed("an empty batch says nothing")
        return [_element(element) for element in value]
    return message(value, text, end)


def _element(value: Any) -> Message | Malformed:
    try:
        return message(value, dump(value))
    except Malformed as malformed:
        return malformed


def message(value: Any, text: str, end: bytes = b"\n") -> Message:
    """The message that a parsed value is. Raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed("a message is a JSON object")
    _expect_unambiguous(value, _ENVELOPE, "a message", None)
    method = value.get("method")
    if "method" not in value:
        if "result" not in value and "error" not in value:
            raise Malformed("a message has a `method`, a `result` or an `error`")
        return Message(text, value, dump(value.get("id")), None, end)
    key = _request_id(value["id"]) if "id" in value else None
    if not isinstance(method, str) or not method.isprintable():
        raise Malformed("`method` must be plain text", id=key)
    if "result" in value or "error" in value:
        raise Malformed("a message with a `method` has neither `result` nor `error`", id=key)
    if method != CALL and method.strip().casefold() == CALL:
        what = f"no method is called {quoted(method)}; did you mean `{CALL}`?"
        raise Malformed(what, METHOD_NOT_FOUND, key)
    if method == CALL:
        _expect_call(value, key)
    return Message(text, value, key, method, end)


def id_text(id: Any) -> str:
    """The JSON text of an id."""
    return repr(id) if type(id) is int else dump(id)


def _request_id(id: Any) -> str:
    if isinstance(id, str) or type(id) is int:  # neither a boolean nor an odd spelling
        return id_text(id)
    raise Malformed("an `id` must be text or a whole number")


def _expect_call(value: Mapping[str, Any], id: str | None) -> None:
    params = value.get("params")
    if not isinstance(params, dict):
        raise Malformed("`params` must be an object with the tool's `name`", INVALID_PARAMS, id)
    _expect_unambiguous(params, _CALL_PARAMS, "`params`", id)
    if not isinstance(params.get("name"), str):
        raise Malformed("`params.name` must be the tool's name", INVALID_PARAMS, id)


def _expect_unambiguous(
    value: dict[str, Any], known: frozenset[str], what: str, id: str | None
) -> None:
    """Some readers take the first of two equal keys, some the last, some ignore case."""
    if isinstance(value, DuplicateKeys):
        key = value.duplicates[0]
        raise Malformed(f"{what} gives {quoted(key)} twice", id=id)
    for key in value.keys() - known:
        if key.casefold() in known:
            raise Malformed(f"{what} has {quoted(key)}; write `{key.casefold()}`", id=id)


def error(id: str | None, code: int, message: str) -> bytes:
    """A line that answers a request (`id` is JSON text, None where it is not known) with an
    error."""
    said = f'{{"code":{code},"message":{dump("tool-intent: " + message)}}}'
    return f'{{"jsonrpc":"2.0","id":{id or "null"},"error":{said}}}\n'.encode()


def refusal(id: str, text: str, *, modern: bool) -> bytes:
    """A line that answers a call with a failed result: text alone, for the model to read."""
    kind = '"resultType":"complete",' if modern else ""
    content = f'[{{"type":"text","text":{dump(text)}}}]'
    result = f'{{{kind}"content":{content},"isError":true}}'
    return f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}\n'.encode()
