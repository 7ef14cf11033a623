"""What `report` writes for other programs."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from tool_intent.cli.terminal import fail
from tool_intent.cli.versions import Versions
from tool_intent.ledger.place import worktree
from tool_intent.policy.git_objects import GitError
from tool_intent.runtime.wire import dump

#: Where spans are sent, as OpenTelemetry names it.
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def sarif_text(records: Iterable[dict[str, Any]]) -> bytes:
    """The findings as a SARIF log."""
    from tool_intent.ledger.exports.sarif import sarif

    return (dump(sarif(records)) + "\n").encode()


def parquet_bytes(records: Iterable[dict[str, Any]]) -> bytes:
    """The decisions as a Parquet file."""
    table = _extra("parquet", "tool_intent.ledger.exports.table")
    file = io.BytesIO()
    table.write_parquet(records, file)
    return file.getvalue()


def otlp_text(records: Iterable[dict[str, Any]]) -> bytes:
    """The calls as spans, in OTLP/JSON."""
    spans = _spans()
    found = spans.spans(records, content=spans.captures_content())
    return "".join(f"{line}\n" for line in spans.otlp_lines(found)).encode()


def send_spans(records: Iterable[dict[str, Any]]) -> int:
    """Send the calls as spans to where the environment says; the number of spans."""
    spans = _spans()
    found = spans.spans(records, content=spans.captures_content())
    if not spans.sent(found):
        fail("the collector did not take all spans; what it said is above")
    return len(found)


def sends_spans() -> bool:
    """Whether the environment names a collector."""
    return any(os.environ.get(name) for name in ENDPOINTS)


def agent_trace_text(folder: str, rev: str) -> bytes:
    """Whose the lines of a commit are, as an Agent Trace record."""
    from tool_intent.ledger.answering import Ledger
    from tool_intent.ledger.exports.agent_trace import agent_trace

    here = worktree(os.getcwd())
    if here is None:
        fail("agent-trace tells of the lines of a commit, and this folder is in no repository")
    versions, ledger = Versions(here.root), Ledger(folder)
    answers = {}
    try:
        commit = versions.commit(rev)
        for path in dict.fromkeys(hop.path for step in ledger.steps for hop in step.hops):
            text = _content(versions, commit, path)
            if text is not None and b"\0" not in text:
                names = versions.names(commit, path)
                answers[path] = ledger.answer(names, text, (), versions.content)
    except GitError as error:
        fail(f"{rev} cannot be read: {error.reason}")
    trace = agent_trace(answers, commit)
    if trace is None:
        fail(f"no line of {commit[:12]} is known to be a call's")
    return (dump(trace) + "\n").encode()


def _content(versions: Versions, commit: str, path: str) -> bytes | None:
    try:
        return versions.content(versions.blob(commit, path))
    except GitError:
        return None


def _spans() -> Any:
    return _extra("otel", "tool_intent.ledger.exports.spans")


def _extra(name: str, module: str) -> Any:
    """A module that needs libraries which not every installation has."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        fail(
            f"this format needs {error.name}, which is not installed:"
            f" pip install 'tool-intent[{name}]'"
        )
