"""The Messages interface on loopback with a model that says what it was told to say."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Model(ThreadingHTTPServer):
    """Answers each request that offers tools with the next block of its script, then with text;
    keeps every request."""

    daemon_threads = True

    def __init__(self, script: Sequence[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []

    def next_block(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the model says to a request."""
        if request.get("tools"):
            self.requests.append(request)
            if self.script:
                return self.script.pop(0)
        return {"type": "text", "text": "done"}


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if "/messages" not in self.path or "count_tokens" in self.path:
            self._json({"input_tokens": 1})
            return
        block = self.server.next_block(request)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {
            "id": "msg_1", "type": "message", "role": "assistant", "model": request.get("model"),
            "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }  # fmt: skip
        if not request.get("stream"):
            self._json({**message, "content": [block], "stop_reason": stop})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._event("message_start", message=message)
        self._block(block)
        self._event(
            "message_delta", delta={"stop_reason": stop, "stop_sequence": None},
            usage={"output_tokens": 1},
        )  # fmt: skip
        self._event("message_stop")
        self.close_connection = True

    def _block(self, block: dict[str, Any]) -> None:
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            said = json.dumps(block["input"])
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": said}
        self._event("content_block_start", index=0, content_block=empty)
        self._event("content_block_delta", index=0, delta=delta)
        self._event("content_block_stop", index=0)

    def _event(self, kind: str, **more: Any) -> None:
        data = json.dumps({"type": kind, **more})
        self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())
        self.wfile.flush()

    def _json(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._json({})

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Standard error is for what goes wrong."""


@contextmanager
def scripted(*script: dict[str, Any]) -> Iterator[Model]:
    """A model that says this, one block a request, while the block runs."""
    with Model(script) as model:
        threading.Thread(target=model.serve_forever, daemon=True).start()
        try:
            yield model
        finally:
            model.shutdown()


def tool_use(name: str, **arguments: Any) -> dict[str, Any]:
    """A call, as the model makes it."""
    return {"type": "tool_use", "id": f"toolu_{len(arguments)}", "name": name, "input": arguments}


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool results that a request tells the model of, in order."""
    return [
        block
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
