"""The official client, driven by data: what it sends, and all that comes back."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp_types as types
import yaml
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from .raw import DEADLINE, REASONS

PROBES: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("probes.yaml").read_text(encoding="utf-8")
)
#: What differs from run to run.
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{1,2}:\d\d:\d\d( [AP]M)?"
    r"|[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{32}\b"
)


@dataclass
class Seen:
    """What the server said of its own accord."""

    events: list[Any] = field(default_factory=list)
    #: Lists that changed: over HTTP, that is told on a stream of its own, at its own time.
    changes: set[str] = field(default_factory=set)

    def add(self, kind: str, what: Any) -> None:
        said = what.model_dump(mode="json", by_alias=True) if hasattr(what, "model_dump") else what
        self.events.append([kind, said])

    async def settled(self) -> None:
        """Wait until the server has asked for the roots, as both servers do at their start, and
        forget that it did."""
        end = time.monotonic() + DEADLINE
        while ["roots", None] not in self.events:
            assert time.monotonic() < end, self.events
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)  # what it says about them
        self.events.clear()

    async def message(self, message: Any) -> None:
        if isinstance(message, Exception):
            return
        if message.method.endswith("list_changed"):
            self.changes.add(message.method)
        elif message.method != "notifications/message":
            self.add(message.method, message)

    async def sample(self, _: object, params: Any) -> types.CreateMessageResult:
        self.add("sampling", params)
        content = types.TextContent(type="text", text="Hello from the model")
        return types.CreateMessageResult(role="assistant", content=content, model="m")

    async def elicit(self, _: object, params: Any) -> types.ElicitResult:
        self.add("elicitation", params)
        return types.ElicitResult(action="accept", content={"name": "Ada", "approve": True})

    async def roots(self, _: object) -> types.ListRootsResult:
        self.add("roots", None)
        return types.ListRootsResult(roots=[types.Root(uri="file:///srv/data", name="data")])


def client(transport: Any, seen: Seen, mode: str = "legacy") -> Client:
    """The official client with everything that it can show a server."""
    return Client(
        transport,
        mode=mode,
        read_timeout_seconds=60,
        sampling_callback=seen.sample,
        elicitation_callback=seen.elicit,
        list_roots_callback=seen.roots,
        message_handler=seen.message,
    )


async def run(
    connected: Client, seen: Seen, probe: dict[str, Any], known: dict[str, str], *, reasons: bool
) -> Any:
    """What came of one probe: the answer, or the error, and the events meanwhile."""
    method, params = request(probe, known, reasons=reasons)
    # Its session would judge answers by its own models, and has none for tasks.
    send = connected.session._dispatcher.send_raw_request
    more: dict[str, Any] = {"timeout": 60.0}
    if probe.get("progress"):

        async def progress(done: float, total: float | None, message: str | None) -> None:
            seen.events.append(["progress", [done, total, message]])

        more["on_progress"] = progress
    try:
        said: Any = await send(method, params, more)
    except MCPError as error:
        said = ["error", error.error.code, error.error.message, error.error.data]
    if isinstance(said, dict) and "task" in said:
        known["TASK"] = said["task"]["taskId"]
    text = json.dumps([_readable(said), seen.events], sort_keys=True)
    seen.events.clear()
    for name, value in known.items():
        text = text.replace(value, f"{{{name}}}")
    return _VOLATILE.sub("*", text)


def _readable(value: Any) -> Any:
    """Blobs as the text that they are here, so that the times in them are seen."""
    if isinstance(value, dict):
        return {
            k: base64.b64decode(v).decode("latin-1") if k == "blob" else _readable(v)
            for k, v in value.items()
        }
    return [_readable(v) for v in value] if isinstance(value, list) else value


def request(
    probe: dict[str, Any], known: dict[str, str], *, reasons: bool
) -> tuple[str, dict[str, Any]]:
    """The method and parameters of a probe; with `reasons`, those of a call carry them."""
    if "call" not in probe:
        return probe["method"], _filled(probe.get("params", {}), known)
    params = {"name": probe["call"], "arguments": _filled(probe.get("args", {}), known)}
    if reasons:
        params["arguments"] |= REASONS
    params |= {"_meta": probe["meta"]} if "meta" in probe else {}
    return "tools/call", params | ({"task": probe["task"]} if "task" in probe else {})


def _filled(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, dict) and set(value) == {"repeat"}:
        text, times = value["repeat"]
        return text * times
    if isinstance(value, dict):
        return {k: _filled(v, known) for k, v in value.items()}
    if isinstance(value, list):
        return [_filled(v, known) for v in value]
    for name, text in known.items() if isinstance(value, str) else ():
        value = value.replace(f"{{{name}}}", text)
    return value


@contextmanager
def quiet_deprecations() -> Iterator[None]:
    """Sampling, roots and logging are deprecated, and to be passed on all the same."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
