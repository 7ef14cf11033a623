"""A model on loopback that says what a script says, and keeps every request: what pi showed it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, TypeAlias

#: What the model does next: `{"calls": [{"name", "args" or "raw"}]}` or `{"text"}`; a function `do`
#: is called before.
Step: TypeAlias = dict[str, Any]
#: Steps in order, or a function of the request that holds so many assistant messages.
Script: TypeAlias = Sequence[Step] | Callable[[dict[str, Any], int], Step]

_PIECE = 400


class ScriptedModel(ThreadingHTTPServer):
    """An OpenAI-compatible chat model. The n-th step answers the request that holds n assistant
    messages, so that a repeated request is answered alike; after the last it says it is done.

    The i-th call of the n-th step has the id `call_<n>_<i>`.
    """

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.requests: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        """The base URL for an OpenAI-compatible client."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def step(self, body: dict[str, Any]) -> tuple[int, Step]:
        """The number of the step that answers a request, and the step."""
        number = sum(m["role"] == "assistant" for m in body["messages"])
        if callable(self.script):
            return number, self.script(body, number)
        return number, self.script[number] if number < len(self.script) else {"text": "done"}

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        number, step = self.server.step(body)
        if "do" in step:
            step["do"]()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for delta in _deltas(number, step):
            self._send(body, delta, None)
        self._send(body, {}, "stop" if "text" in step else "tool_calls")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _send(self, body: dict[str, Any], delta: dict[str, Any], end: str | None) -> None:
        chunk = {
            "id": "scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")

    def log_message(self, *_: object) -> None:
        """Standard error is for what goes wrong."""


def _deltas(number: int, step: Step) -> list[dict[str, Any]]:
    """The pieces of an answer as a model streams them."""
    if "text" in step:
        return [{"role": "assistant", "content": step["text"]}]
    pieces: list[dict[str, Any]] = []
    for index, call in enumerate(step["calls"]):
        text = call["raw"] if "raw" in call else json.dumps(call["args"])
        function: dict[str, Any] = {"name": call["name"], "arguments": ""}
        opened = {"index": index, "id": f"call_{number}_{index}", "type": "function"}
        pieces.append({"role": "assistant", "tool_calls": [opened | {"function": function}]})
        for start in range(0, len(text), _PIECE):
            part = {"arguments": text[start : start + _PIECE]}
            pieces.append({"tool_calls": [{"index": index, "function": part}]})
    return pieces
