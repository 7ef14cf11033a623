"""The HTTP proxy: streamable HTTP between clients and one server, passed through the filter.

An exchange is one request of a client's and all that answers it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from typing import Final

import httpx
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tool_intent.surfaces.mcp import messages
from tool_intent.surfaces.mcp.events import Events, TooMuch, event
from tool_intent.surfaces.mcp.filter import Filter
from tool_intent.surfaces.mcp.framing import LONGEST_LINE
from tool_intent.surfaces.mcp.headers import (
    Refused,
    decoded,
    expect_agreement,
    expect_near,
    expect_no_query,
    expect_single,
    passed_on,
)
from tool_intent.surfaces.mcp.messages import Malformed, Message
from tool_intent.surfaces.mcp.session import Session

#: Sessions remembered; the one that was quiet longest goes first.
_MOST_SESSIONS: Final = 1_000
_SESSION: Final = "mcp-session-id"
_JSON: Final = "application/json"
_STREAM: Final = "text/event-stream"


class HttpProxy:
    """Serves one path, and passes on what the filter leaves of it to `upstream`."""

    def __init__(
        self, new_session: Callable[[bool], Session], upstream: str, allowed: frozenset[str]
    ) -> None:
        """`new_session` is told whether the session begins here, or went on somewhere else before;
        `allowed` are the host names, besides loopback's, that it answers for."""
        self._new_session = new_session
        self._upstream = httpx.URL(upstream)
        self._allowed = allowed
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        # A call takes as long as it takes; the client says when it has waited enough.
        timeout = httpx.Timeout(30.0, read=None)
        self.client = httpx.AsyncClient(follow_redirects=False, timeout=timeout, trust_env=False)

    def app(self) -> Starlette:
        """The ASGI application."""
        methods = ["GET", "POST", "DELETE"]
        path = self._upstream.path or "/"
        return Starlette(routes=[Route(path, self.handle, methods=methods)])

    async def handle(self, request: Request) -> Response:
        """Answer one request."""
        headers = [
            (k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in request.headers.raw
        ]
        try:
            expect_single(headers)
            expect_near(dict(headers), self._allowed)
            expect_no_query(request.url.query)
            if request.method == "POST":
                return await _Post(self, headers).answer(await _body(request))
            return await self._stream(request.method, headers)
        except Refused as refused:
            return _refusal(refused.status, None, refused.message)
        except ClientDisconnect:
            return Response(status_code=499)
        except httpx.HTTPError as error:
            return _refusal(502, None, unreachable(error))
        except Exception as error:
            why = f"it failed inside ({type(error).__name__}); nothing was executed"
            return _refusal(500, None, why, messages.INTERNAL_ERROR)

    def session(self, headers: dict[str, str], *, new: bool = False) -> Session:
        """The session that a request belongs to: by its id, else by who sends it."""
        key = headers.get(_SESSION)
        begins = new or key is None
        if key is None:
            who = headers.get("authorization", "").encode()
            key = f"by {hashlib.sha256(who).hexdigest()}"
        session = None if new else self._sessions.get(key)
        return self.remember(key, session or self._new_session(begins))

    def remember(self, key: str, session: Session) -> Session:
        """Keep a session under a key."""
        self._sessions[key] = session
        self._sessions.move_to_end(key)
        if len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    def upstream(
        self, method: str, headers: list[tuple[str, str]], body: bytes | None
    ) -> httpx.Request:
        """A request to the server; its answer is asked for without an encoding."""
        sent = [*passed_on(headers), ("accept-encoding", "identity")]
        return self.client.build_request(method, self._upstream, headers=sent, content=body)

    async def _stream(self, method: str, headers: list[tuple[str, str]]) -> Response:
        """GET and DELETE: no message of the client's, but messages of the server's."""
        session = self.session(dict(headers))
        answer = await self.client.send(self.upstream(method, headers, None), stream=True)
        return await relay(answer, Filter(session))


class _Post:
    """One exchange that a client begins with a message, or a batch."""

    def __init__(self, proxy: HttpProxy, headers: list[tuple[str, str]]) -> None:
        self._proxy = proxy
        self._headers = headers
        self._named = dict(headers)

    async def answer(self, body: bytes) -> Response:
        line = decoded(body, self._named, LONGEST_LINE)
        try:
            read = messages.read(line)
        except Malformed as malformed:
            return _refusal(400, malformed.id, malformed.message, malformed.code)
        single = read if isinstance(read, Message) else None
        expect_agreement_but_params(single, self._named)
        begins = single is not None and single.method == "initialize"
        session = self._proxy.session(self._named, new=begins)
        exchange = Filter(session)
        exchange.from_client(line)
        await self._list(exchange)
        if single is not None and single.method == messages.CALL and exchange.to_server:
            expect_agreement(single, self._named, session.tools.own_schema(single.params["name"]))
        if exchange.to_client and not exchange.to_server:
            return await self._ours(exchange)
        if not exchange.to_server:
            return Response(status_code=202)
        return await self._pass(exchange, session, single is None)

    async def _list(self, filter: Filter) -> None:
        """Read the server's list of tools where the filter wants to know it first."""
        while filter.holds:
            wanted = filter.to_server.pop()
            try:
                said = await self._asked(wanted)
            except (httpx.HTTPError, TooMuch) as error:
                filter.server_ended(unreachable(error))
                return
            for line in said:
                filter.from_server(line)
            if filter.holds and not filter.to_server:
                filter.server_ended("the server did not tell which tools it has")

    async def _asked(self, request: bytes) -> list[bytes]:
        """The server's answers to a request of ours, sent as the client would send it."""
        ours = [(k, v) for k, v in self._headers if not k.startswith(("mcp-name", "mcp-param-"))]
        ours = [(k, messages.LIST if k == "mcp-method" else v) for k, v in ours]
        wanted = json.loads(request)["id"]
        answer = await self._proxy.client.send(
            self._proxy.upstream("POST", ours, request.strip()), stream=True
        )
        try:
            if _kind(answer) != _STREAM:
                return [await _read(answer)]
            splitter = Events(LONGEST_LINE)
            async for chunk in answer.aiter_bytes():
                for one in splitter.feed(chunk):
                    if one.data is not None and _id(one.data) == wanted:
                        return [one.data]
            return []
        finally:
            await answer.aclose()

    async def _ours(self, filter: Filter) -> Response:
        """An answer of our own. A question to the person goes out as a stream, which goes on once
        they have answered."""
        if not filter.asks:
            return _json(200, filter.to_client)
        return StreamingResponse(self._after_the_answer(filter), media_type=_STREAM)

    async def _after_the_answer(self, filter: Filter) -> AsyncIterator[bytes]:
        answered = asyncio.Event()
        filter.when_answered(answered.set)
        yield b"".join(map(event, _drained(filter.to_client)))
        await answered.wait()
        if filter.to_server:
            request = self._proxy.upstream("POST", self._headers, filter.to_server.pop().strip())
            try:
                answer = await self._proxy.client.send(request, stream=True)
                response = await relay(answer, filter)
                if isinstance(response, StreamingResponse):
                    async for chunk in response.body_iterator:
                        yield bytes(chunk) if not isinstance(chunk, str) else chunk.encode()
                elif response.body:
                    yield event(bytes(response.body))
            except httpx.HTTPError as error:
                filter.server_ended(unreachable(error))
        yield b"".join(map(event, _drained(filter.to_client)))

    async def _pass(self, filter: Filter, session: Session, batch: bool) -> Response:
        lines = [line.strip() for line in _drained(filter.to_server)]
        body = b"[" + b",".join(lines) + b"]" if batch else lines[0]
        request = self._proxy.upstream("POST", self._headers, body)
        try:
            answer = await self._proxy.client.send(request, stream=True)
        except httpx.HTTPError as error:
            filter.server_ended(unreachable(error))
            return _json(502, filter.to_client)
        given = answer.headers.get(_SESSION)
        if given is not None:
            self._proxy.remember(given, session)
        return await relay(answer, filter)


def expect_agreement_but_params(message: Message | None, headers: dict[str, str]) -> None:
    """The headers that can be compared before the tool's schema is known."""
    known = {k: v for k, v in headers.items() if not k.startswith("mcp-param-")}
    expect_agreement(message, known)


async def relay(answer: httpx.Response, filter: Filter) -> Response:
    """The server's answer, each message of it passed through the filter."""
    if answer.is_redirect:
        await answer.aclose()
        return _refusal(502, None, "the server redirects elsewhere, where nothing would be judged")
    headers = dict(passed_on([(k.lower(), v) for k, v in answer.headers.multi_items()]))
    if _kind(answer) == _STREAM:
        stream = _filtered(answer, filter)
        return StreamingResponse(stream, answer.status_code, headers)
    try:
        body = await _read(answer)
    except (httpx.HTTPError, TooMuch) as error:
        filter.server_ended(unreachable(error))
        return _json(502, filter.to_client)
    finally:
        await answer.aclose()
    if _kind(answer) == _JSON and body.strip():
        filter.from_server(body)
        lines = _drained(filter.to_client)
        if lines:
            body = (
                lines[0] if len(lines) == 1 else b"[" + b",".join(x.strip() for x in lines) + b"]"
            )
    return Response(body, answer.status_code, headers)


async def _filtered(answer: httpx.Response, filter: Filter) -> AsyncIterator[bytes]:
    splitter = Events(LONGEST_LINE)
    resumable = False
    try:
        async for chunk in answer.aiter_bytes():
            for one in splitter.feed(chunk):
                resumable = resumable or b"\nid:" in b"\n" + one.raw
                if one.data is None or not one.data.strip():
                    yield one.raw
                    continue
                filter.from_server(one.data)
                lines = _drained(filter.to_client)
                if lines == [one.data]:
                    yield one.raw
                elif lines:
                    yield b"".join([*map(event, lines[:-1]), one.with_data(lines[-1])])
        yield splitter.end()
    except (httpx.HTTPError, TooMuch) as error:
        if not resumable:
            filter.server_ended(unreachable(error))
    finally:
        if resumable:
            filter.broken_off()
        await answer.aclose()
    if filter.waits and not resumable:
        filter.server_ended("the server ended its answer early")
    yield b"".join(map(event, _drained(filter.to_client)))


def _id(data: bytes) -> object:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value.get("id") if isinstance(value, dict) else None


async def _body(request: Request) -> bytes:
    parts, length = [], 0
    async for part in request.stream():
        parts.append(part)
        length += len(part)
        if length > LONGEST_LINE:
            raise Refused(413, f"a message is longer than {LONGEST_LINE >> 20} MiB")
    return b"".join(parts)


async def _read(answer: httpx.Response) -> bytes:
    """The whole body, decoded. Raises TooMuch."""
    parts, length = [], 0
    async for part in answer.aiter_bytes():
        parts.append(part)
        length += len(part)
        if length > LONGEST_LINE:
            raise TooMuch(f"the server's answer is longer than {LONGEST_LINE >> 20} MiB")
    return b"".join(parts)


def unreachable(error: Exception) -> str:
    """Why no answer comes."""
    return (
        str(error)
        if isinstance(error, TooMuch)
        else (f"the server cannot be reached ({type(error).__name__})")
    )


def _kind(answer: httpx.Response) -> str:
    kind: str = answer.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def _drained(lines: list[bytes]) -> list[bytes]:
    drained = list(lines)
    lines.clear()
    return drained


def _json(status: int, lines: list[bytes]) -> Response:
    body = b",".join(line.strip() for line in _drained(lines))
    return Response(body, status, media_type=_JSON)


def _refusal(
    status: int, id: str | None, why: str, code: int = messages.INVALID_REQUEST
) -> Response:
    return Response(messages.error(id, code, why).strip(), status, media_type=_JSON)


def serve(proxy: HttpProxy, host: str, port: int) -> None:
    """Serve until told to end."""
    import uvicorn

    uvicorn.run(
        proxy.app(), host=host, port=port, log_level="warning", access_log=False, lifespan="off",
        server_header=False, date_header=False,
    )  # fmt: skip
