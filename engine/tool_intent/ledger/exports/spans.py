"""OpenTelemetry: each decision is an `execute_tool` span, written by OpenTelemetry's own SDK.

Attributes follow the semantic conventions for generative AI (`gen_ai.*`); what they have no name
for is `tool_intent.*`. Trace and span ids come from the session and the record, so that a second
export says the same.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from tool_intent.__about__ import __version__
from tool_intent.ledger.joining import joined
from tool_intent.ledger.members import Members, part, parts, said, text, when

#: The setting under which the conventions let arguments into spans.
CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
#: Spans of one request, or of one line of a file.
BATCH: Final = 512


def spans(records: Iterable[Members], *, content: bool = False) -> Sequence[ReadableSpan]:
    """The spans of `records`. With `content`, kept arguments are among their attributes."""
    ids = _Ids()
    kept = InMemorySpanExporter()
    provider = TracerProvider(
        sampler=ALWAYS_ON,
        resource=Resource({"service.name": "tool-intent", "service.version": __version__}),
        id_generator=ids,
        shutdown_on_exit=False,
    )
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("tool_intent", __version__)
    for decision, outcome in joined(records):
        ids.session = text(part(decision, "session"), "id") or text(decision, "id")
        ids.record = text(decision, "id")
        tool = text(part(decision, "call"), "tool")
        begin = _nanoseconds(decision)
        span = tracer.start_span(
            f"execute_tool {_clean(tool)}",
            context=Context(),
            kind=SpanKind.INTERNAL,
            attributes=_attributes(decision, outcome, content=content),
            start_time=begin,
        )
        _finish(span, decision, outcome, begin)
    return kept.get_finished_spans()


def otlp_lines(found: Sequence[ReadableSpan]) -> Iterator[str]:
    """OTLP/JSON, a line for each `BATCH` spans, as files of OpenTelemetry have it."""
    for start in range(0, len(found), BATCH):
        request = MessageToDict(encode_spans(found[start : start + BATCH]))
        yield json.dumps(_hexadecimal(request), ensure_ascii=False)


def sent(found: Sequence[ReadableSpan]) -> bool:
    """Send spans to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names; whether it took all."""
    exporter = OTLPSpanExporter()
    try:
        batches = (found[start : start + BATCH] for start in range(0, len(found), BATCH))
        return all(exporter.export(batch) is SpanExportResult.SUCCESS for batch in batches)
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


def captures_content() -> bool:
    """Whether `CAPTURE` is set to let arguments in."""
    return os.environ.get(CAPTURE, "").lower() in ("true", "1", "span_only", "span_and_event")


class _Ids(IdGenerator):
    session = ""
    record = ""

    def generate_trace_id(self) -> int:
        return int.from_bytes(_digest(self.session)[:16]) or 1

    def generate_span_id(self) -> int:
        return int.from_bytes(_digest(self.record)[:8]) or 1


def _digest(name: str) -> bytes:
    return sha256(name.encode("utf-8", "surrogatepass")).digest()


def _attributes(
    decision: Members, outcome: Members | None, *, content: bool
) -> dict[str, str | list[str]]:
    session, call, verdict = (part(decision, key) for key in ("session", "call", "decision"))
    fields = [field for _, fields in said(decision) for field in fields]
    attributes: dict[str, str | list[str]] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": text(call, "tool"),
        "gen_ai.tool.call.id": _id(call),
        "gen_ai.conversation.id": text(session, "id"),
        "gen_ai.agent.name": text(session, "agent"),
        "gen_ai.agent.version": text(session, "agent_version"),
        "gen_ai.request.model": text(session, "model"),
        "error.type": _error(text(verdict, "verdict"), outcome),
        "tool_intent.record.id": text(decision, "id"),
        "tool_intent.surface": text(call, "surface"),
        "tool_intent.decision.verdict": text(verdict, "verdict"),
        "tool_intent.decision.rule_ids": [text(rule, "id") for rule in parts(verdict, "rules")],
        "tool_intent.policy.digest": text(verdict, "policy"),
        "tool_intent.intent": [value for name, value in fields if name == "intent"],
        "tool_intent.rationale": [value for name, value in fields if name == "rationale"],
    }
    if content:
        kept = part(part(decision, "args"), "kept")
        attributes["gen_ai.tool.call.arguments"] = json.dumps(kept) if kept else ""
    return {
        key: _clean(value) if isinstance(value, str) else [_clean(item) for item in value]
        for key, value in attributes.items()
        if value
    }


def _id(call: Members) -> str:
    value = call.get("id")
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _error(verdict: str, outcome: Members | None) -> str:
    if outcome is None:
        return {"deny": "denied", "ask": "not_approved"}.get(verdict, "")
    return "" if outcome.get("ok") is True else "tool_error"


def _finish(span: Span, decision: Members, outcome: Members | None, begin: int) -> None:
    verdict = part(decision, "decision")
    for rule in parts(verdict, "rules"):
        found = {f"tool_intent.{key}": _clean(text(rule, key)) for key in ("id", "effect", "at")}
        span.add_event("tool_intent.finding", found, begin)
    for at, fields in said(decision):
        named = {f"tool_intent.field.{name}": value for name, value in fields}
        event = {_clean(name): _clean(value) for name, value in named.items()}
        span.add_event("tool_intent.reason", {"tool_intent.at": _clean(at), **event}, begin)
    if error := _error(text(verdict, "verdict"), outcome):
        span.set_status(Status(StatusCode.ERROR, error))
    span.end(begin if outcome is None else max(begin, _nanoseconds(outcome)))


def _nanoseconds(record: Members) -> int:
    try:
        then = datetime.fromisoformat(when(record))
    except ValueError:
        return 0
    return round(then.timestamp() * 1000) * 1_000_000


def _clean(value: str) -> str:
    """Half a surrogate pair is no text for other programs."""
    return value.encode("utf-8", "replace").decode()


def _hexadecimal(value: Any) -> Any:
    """OTLP/JSON writes ids in hexadecimal, where JSON of protocol buffers has base 64."""
    if isinstance(value, list):
        return [_hexadecimal(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {k: b64decode(v).hex() if k in ids else _hexadecimal(v) for k, v in value.items()}
