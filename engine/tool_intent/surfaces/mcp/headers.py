"""What the headers of a request say, and whether they may be believed."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from tool_intent.surfaces.mcp.events import TooMuch
from tool_intent.surfaces.mcp.messages import CALL, Message

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
#: Of these, a request has one at most: two readers could take different ones.
_SINGLE: Final = (
    "authorization", "content-encoding", "content-length", "content-type", "host", "last-event-id",
    "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "origin",
)  # fmt: skip
#: About one connection, or written anew by us.
_OURS: Final = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "expect", "forwarded",
    "host", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade", "x-forwarded-for", "x-forwarded-host",
})  # fmt: skip
_PARAM: Final = "mcp-param-"
_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Refused(Exception):
    """A request that is not passed on, with its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def passed_on(headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that go to the other side as they are."""
    named = {n.strip().lower() for k, v in headers if k == "connection" for n in v.split(",")}
    return [(k, v) for k, v in headers if k not in _OURS and k not in named]


def expect_single(headers: Sequence[tuple[str, str]]) -> None:
    """Raises Refused where a header that must be single is given twice."""
    names = [name for name, _ in headers]
    for name in _SINGLE:
        if names.count(name) > 1:
            raise Refused(400, f"the header {name} is given twice")
    if "transfer-encoding" in names and "content-length" in names:
        raise Refused(400, "both content-length and transfer-encoding are given")


def expect_near(headers: Mapping[str, str], allowed: frozenset[str]) -> None:
    """Raises Refused for a request to another host's name, or from another site's page: pages in a
    browser reach what listens on this machine."""
    host = _host(f"//{headers.get('host', '')}")
    if host not in _LOOPBACK | allowed:
        raise Refused(421, f"this proxy does not answer for the host {host!r}; see --allow-host")
    origin = headers.get("origin")
    if origin is not None and _host(origin) not in _LOOPBACK | allowed:
        raise Refused(403, "requests from pages of other sites are refused; see --allow-host")


def expect_no_query(query: str) -> None:
    """Raises Refused where an address has a query: what is behind it was chosen at the start."""
    if query:
        raise Refused(400, "the address of the proxy takes no query")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def decoded(body: bytes, headers: Mapping[str, str], longest: int) -> bytes:
    """A request's body as JSON text on one line. Raises Refused."""
    kind, _, parameters = headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json":
        raise Refused(415, "a message is sent as application/json")
    charset = parameters.lower().replace(" ", "").replace('"', "")
    if "charset=" in charset and "charset=utf-8" not in charset:
        raise Refused(415, "a message is sent as UTF-8")
    encoding = headers.get("content-encoding", "identity").strip().lower()
    try:
        body = _inflated(body, encoding, longest)
    except TooMuch as error:
        raise Refused(413, str(error)) from None
    except zlib.error:
        raise Refused(400, f"the body is no {encoding}") from None
    # Line breaks stand between tokens only, or it is no JSON.
    return body.replace(b"\r", b" ").replace(b"\n", b" ")


def _inflated(body: bytes, encoding: str, longest: int) -> bytes:
    if encoding in ("identity", ""):
        return body
    if encoding not in ("gzip", "deflate"):
        raise Refused(415, f"the content encoding {encoding!r} is not known; send gzip or none")
    inflater = zlib.decompressobj(47 if encoding == "gzip" else 15)
    inflated = inflater.decompress(body, longest + 1)
    if len(inflated) > longest:
        raise TooMuch(f"the body is longer than {longest >> 20} MiB")
    if not inflater.eof or inflater.unused_data:
        raise Refused(400, f"the body is no {encoding}")
    return inflated


def expect_agreement(
    message: Message | None, headers: Mapping[str, str], schema: Any = None
) -> None:
    """Raises Refused where headers say something else than the body: what stands behind may go by
    either. `schema` is the called tool's own; `message` is None for a batch."""
    said = {k: v for k, v in headers.items() if k in ("mcp-method", "mcp-name")}
    if message is None or message.method is None:
        if said:
            raise Refused(400, f"the header {next(iter(said))} goes with a single request")
        return
    if said.get("mcp-method", message.method) != message.method:
        raise Refused(400, "the header mcp-method names another method than the body")
    if "mcp-name" in said:
        key = _NAMED_BY.get(message.method, "")
        if _text(said["mcp-name"]) != message.params.get(key):
            raise Refused(400, "the header mcp-name names something else than the body")
    given = {k.removeprefix(_PARAM): v for k, v in headers.items() if k.startswith(_PARAM)}
    if given and message.method != CALL:
        raise Refused(400, "mcp-param headers go with a call")
    _expect_params(given, message, schema)


def _expect_params(given: Mapping[str, str], message: Message, schema: Any) -> None:
    args = message.params.get("arguments")
    mirrored = dict(_mirrored(schema, args if isinstance(args, dict) else {}))
    for token, value in given.items():
        if token not in mirrored or _text(value) != mirrored[token]:
            raise Refused(400, f"the header {_PARAM}{token} says something else than the body")


def _mirrored(schema: Any, args: Any) -> Iterator[tuple[str, str | None]]:
    """The headers that mirror arguments, by the schema's `x-mcp-header`, and what they say."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        value = args.get(name) if isinstance(args, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("x-mcp-header"), str):
            yield inner["x-mcp-header"].lower(), _spelt(value)
        yield from _mirrored(inner, value)


def _spelt(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None or isinstance(value, dict | list) else str(value)


def _text(value: str) -> str | None:
    """A header's value, which may be base64 of UTF-8: `=?base64?…?=`."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
