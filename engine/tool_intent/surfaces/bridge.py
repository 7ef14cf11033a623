"""The engine as a child of its host: newline-delimited JSON-RPC 2.0 on standard input and output.

On the call path: nothing of authoring time is imported while the policy comes from the cache.
Methods, protocol 1 (`Params` name what each takes):

    hello {protocol, cwd, held}      the policies in force; first of all, and once. `resumed` is a
                                     session that went on before: {session, earlier, retold}, with
                                     the stretches that were held of it, and whether calls since
                                     then are told `again`
    extend {tools}                   what each tool is to advertise
    decide {tool, args, id, session} the decision on a call, and where its fields are
    ended {session, id, outcome}     `passed` or `failed`: a call is over, its files as it left them
    outcome {session, id, outcome}   the same, once its turn is over: it counts from now on, and
                                     `result` may give its text
    refused {session, tool}          a refusal by the host or a person, to be counted
    held {session}                   the `stretch` of records that was written of a session, null
                                     before there is one; what to hold of it for a restart
    reload {}                        look whether the policy on disk is another
    status {}                        the policies in force, with their files
    ping {…}                         its own parameters
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import IO, Any, Final

from tool_intent.__about__ import __version__
from tool_intent.compiler.loading import PolicyError
from tool_intent.guard.recalling import stretches
from tool_intent.guard.recording import ledger
from tool_intent.ledger.recorder import Stretch
from tool_intent.runtime.model import Call
from tool_intent.runtime.wire import NotJson, parse
from tool_intent.surfaces.judging import Judgement, Judging, Plan, State, Unavailable

PROTOCOL: Final = 1
#: Bytes of one line: what a host sends is in its memory already, and must not grow without end.
_LONGEST_LINE: Final = 64 << 20
#: A large call is read in a few steps, not in one a page.
_READ_AHEAD: Final = 1 << 18

_PARSE, _REQUEST, _METHOD, _PARAMS, _INTERNAL = -32700, -32600, -32601, -32602, -32603


class RpcError(Exception):
    """A request that is not answered with a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> None:
    """Serve on standard input and output until the input ends."""
    # What anything prints must not end up between the answers.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    # The host may be gone: then nobody asks any more, and nothing was allowed.
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve(os.fdopen(0, "rb", buffering=_READ_AHEAD), answers)


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer each line of `requests`; a line without an id is carried out and not answered."""
    server = Server()
    while line := requests.readline(_LONGEST_LINE):
        if not line.endswith(b"\n") and len(line) >= _LONGEST_LINE:
            return  # no way to tell where the next request begins
        answer = server.answered(line)
        if answer is not None:
            answers.write(answer)


class Server:
    """Answers requests by the methods' names."""

    def __init__(self) -> None:
        self._judging: Judging | None = None
        self._methods: dict[str, Callable[[dict[str, Any]], Any]] = {
            "hello": self._hello,
            "extend": self._extend,
            "decide": self._decide,
            "ended": self._ended,
            "outcome": self._outcome,
            "refused": self._refused,
            "held": self._held,
            "reload": self._reload,
            "status": self._status,
            "ping": lambda params: params,
        }

    def answered(self, line: bytes) -> bytes | None:
        """The line that answers a request; None for one that wants no answer."""
        number = None
        try:
            request = _request(line)
            number = request.get("id")
            result = self._called(request)
        except RpcError as error:
            return _line({"id": number, "error": {"code": error.code, "message": str(error)}})
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            return _line({"id": number, "error": {"code": _INTERNAL, "message": text}})
        return None if number is None else _line({"id": number, "result": result})

    def _called(self, request: dict[str, Any]) -> Any:
        method = self._methods.get(request["method"])
        if method is None:
            raise RpcError(_METHOD, f"there is no method {request['method']!r}")
        return method(request.get("params", {}))

    @property
    def _ready(self) -> Judging:
        if self._judging is None:
            raise RpcError(_REQUEST, "say hello first")
        return self._judging

    def _hello(self, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("protocol") != PROTOCOL:
            raise RpcError(
                _PARAMS,
                f"the extension speaks protocol {params.get('protocol')}, and tool-intent"
                f" {__version__} protocol {PROTOCOL}: run `tool-intent pi install` again",
            )
        try:
            cwd = _text(params, "cwd")
            held = params.get("held") or ()
            self._judging = Judging(
                cwd, held=held, recorder=ledger("pi", cwd), point="pi", earlier=_earlier(params),
                retold=(params.get("resumed") or {}).get("retold") is True,
            )  # fmt: skip
        except (Unavailable, PolicyError) as error:
            raise RpcError(_REQUEST, str(error)) from None
        python = ".".join(map(str, sys.version_info[:3]))
        about = {"protocol": PROTOCOL, "engine": __version__, "python": python}
        return about | _state(self._judging.state)

    def _extend(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"tools": [_plan(self._ready.extend(tool)) for tool in params["tools"]]}

    def _decide(self, params: dict[str, Any]) -> dict[str, Any]:
        call = Call(
            params.get("id"),
            _text(params, "tool"),
            params.get("args", {}),
            params.get("context"),
            params.get("session"),
            params.get("now"),
        )
        again, invalid = params.get("again") is True, params.get("invalid") is True
        parent, omitted = params.get("parent"), params.get("omitted")
        return _judgement(
            self._ready.decide(
                call,
                again=again,
                invalid=invalid,
                parent=parent if isinstance(parent, str) else None,
                omitted=tuple(omitted) if isinstance(omitted, list) else (),
            )
        )

    def _ended(self, params: dict[str, Any]) -> dict[str, Any]:
        ok = params.get("outcome") == "passed"
        self._ready.ended(params.get("session"), params.get("id"), ok)
        return {}

    def _outcome(self, params: dict[str, Any]) -> dict[str, Any]:
        ok = params.get("outcome") == "passed"
        result = params.get("result")
        text = result if isinstance(result, str) else None
        again = params.get("again") is True
        self._ready.outcome(params.get("session"), params.get("id"), ok, text, again=again)
        return {}

    def _refused(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"enough": self._ready.refused(params.get("session"), _text(params, "tool"))}

    def _held(self, params: dict[str, Any]) -> dict[str, Any]:
        stretch = self._ready.stretch(_text(params, "session"))
        return {"stretch": None if stretch is None else stretch._asdict()}

    def _reload(self, _: dict[str, Any]) -> dict[str, Any]:
        return _state(self._ready.reload())

    def _status(self, _: dict[str, Any]) -> dict[str, Any]:
        judging = self._ready
        sources = [{"file": f, "rank": r, "digest": d} for f, r, d in judging.sources]
        return _state(judging.state) | {"sources": sources}


def _request(line: bytes) -> dict[str, Any]:
    try:
        request = parse(line.decode("utf-8").rstrip("\r\n"))
    except (UnicodeDecodeError, NotJson) as error:
        raise RpcError(_PARSE, f"not JSON: {error}") from None
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        raise RpcError(_REQUEST, "a request is an object with a method")
    if not isinstance(request.get("params", {}), dict):
        raise RpcError(_PARAMS, "params must be an object")
    return request


def _text(params: dict[str, Any], name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise RpcError(_PARAMS, f"`{name}` must be a text")
    return value


def _state(state: State) -> dict[str, Any]:
    return {
        "policies": state.policies,
        "held": state.kept,
        "notes": state.notes,
        "asks": state.asks,
        "readsHistory": state.reads_history,
        "maxRetries": state.max_retries,
    }


def _earlier(params: dict[str, Any]) -> dict[str | None, tuple[Stretch, ...]] | None:
    """The session that a host goes on with, and what it held of it."""
    given = params.get("resumed")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise RpcError(_PARAMS, "`resumed` must be an object")
    session = _text(given, "session")
    return {session: stretches(given.get("earlier"), session)}


def _plan(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "places": [{"at": a.at, "properties": a.properties, "own": a.own} for a in plan.adverts],
        "schema": plan.schema,
        "notAdvertised": plan.not_advertised,
        "fields": plan.fields,
        "reads": plan.reads,
    }


def _judgement(judged: Judgement) -> dict[str, Any]:
    return {
        "decision": judged.decision,
        "message": judged.message,
        "findings": [f.to_dict() for f in judged.findings],
        "strip": judged.strip,
        "stop": judged.stop,
        "refusals": judged.refusals,
        "policies": judged.policies,
    }


def _line(answer: dict[str, Any]) -> bytes:
    text = json.dumps({"jsonrpc": "2.0", **answer}, separators=(",", ":"))
    return text.encode("ascii") + b"\n"
