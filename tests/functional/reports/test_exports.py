"""Records in the formats of other programs, by the schemas and readers of those programs."""

from __future__ import annotations

import io
import json
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tool_intent.ledger.exports.sarif import sarif
from tool_intent.ledger.exports.spans import BATCH, CAPTURE, otlp_lines, spans
from tool_intent.ledger.exports.table import SCHEMA, write_parquet
from tool_intent.ledger.reading import records

from ..command import ASSETS, Command
from .ledgers import Ledger, call, finding
from .story import ROUNDED, TEST, story

ODD = "\ud800 {0} [x](y) \\ \u202e"


def check(value: Any, name: str) -> None:
    schema = json.loads((ASSETS / "schemas" / name).read_text("utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind(schema, format_checker=kind.FORMAT_CHECKER).validate(value)


@pytest.fixture
def told(home: Path, tmp_path: Path) -> Command:
    folder = tmp_path / "payments"
    folder.mkdir()
    story(tmp_path / "ledger")
    return Command(home, folder)


def with_ledger(told: Command) -> dict[str, str]:
    return {"TOOL_INTENT_LEDGER": str(told.cwd.parent / "ledger")}


# --- SARIF ---------------------------------------------------------------------------------------


def test_sarif_holds_every_finding_and_is_valid(told: Command) -> None:
    done = told("report", "--format", "sarif", env=with_ledger(told))
    assert (done.code, done.err) == (0, "")
    log = json.loads(done.out)
    check(log, "sarif-2.1.0.json")
    [run] = log["runs"]
    results = run["results"]
    assert len(results) == 10
    names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [names[r["ruleIndex"]] for r in results] == [r["ruleId"] for r in results]
    second = results[1]
    assert (second["level"], second["properties"]["verdict"]) == ("error", "deny")
    [place] = second["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/payments/fees.py"
    assert second["properties"]["reasons"][0]["intent"] == "Edit fees.py"
    [waived] = [r for r in results if "suppressions" in r]
    assert (waived["ruleId"], waived["suppressions"][0]["justification"]) == (
        "acme/ticket", "waived by W-7",
    )  # fmt: skip
    assert len({r["partialFingerprints"]["toolIntentFinding/v1"] for r in results}) == 10


def test_sarif_of_odd_texts_is_valid_and_holds_no_link(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.decide(ODD, "deny", path=f"/{ODD}", rules=[finding(ODD, "deny", ODD)])
    log = sarif(records(str(tmp_path)))
    check(log, "sarif-2.1.0.json")
    message = log["runs"][0]["results"][0]["message"]["text"]
    assert "\\[x\\](y)" in message
    assert "{{0}}" in message


def test_sarif_of_nothing_is_valid(tmp_path: Path) -> None:
    check(sarif([]), "sarif-2.1.0.json")


# --- Agent Trace ---------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    who = [
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    done = subprocess.run(
        ["git", *who, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return done.stdout.strip()


def test_agent_trace_tells_whose_the_lines_of_a_commit_are(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "payments"
    (folder / "src/payments").mkdir(parents=True)
    (folder / "tests").mkdir()
    git(folder, "init", "--quiet")
    story(folder / ".git" / "tool-intent")
    (folder / "src/payments/fees.py").write_bytes(ROUNDED)
    (folder / "tests/test_fees.py").write_bytes(TEST.replace(b"payments.fees", b"payments"))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Round fees")
    done = Command(home, folder)("report", "--format", "agent-trace")
    assert (done.code, done.err) == (0, "")
    trace = json.loads(done.out)
    check(trace, "agent-trace-0.1.0.json")
    assert trace["vcs"] == {"type": "git", "revision": git(folder, "rev-parse", "HEAD")}
    files = {file["path"]: file["conversations"] for file in trace["files"]}
    assert set(files) == {"src/payments/fees.py", "tests/test_fees.py"}
    [fees] = files["src/payments/fees.py"]
    assert fees["contributor"] == {"type": "ai", "model_id": "anthropic/claude-opus-4-5"}
    ranges = [(r["start_line"], r["end_line"]) for r in fees["ranges"]]
    assert ranges == [(3, 3), (7, 7), (11, 12)]
    lines = ROUNDED.splitlines(keepends=True)
    assert fees["ranges"][2]["content_hash"] == f"sha256:{sha256(b''.join(lines[10:])).hexdigest()}"
    told = trace["metadata"]["dev.tool-intent"]["ranges"]["src/payments/fees.py#11-12"]
    assert told["reasons"][0]["ticket"] == "PAY-412"
    assert fees["related"][0]["url"] == f"urn:tool-intent:record:{told['call']}"
    [test] = files["tests/test_fees.py"]
    changed = [r for r in test["ranges"] if r.get("contributor") == {"type": "mixed"}]
    assert [(r["start_line"], r["end_line"]) for r in changed] == [(3, 3)]


def test_agent_trace_says_what_it_lacks(told: Command) -> None:
    done = told("report", "--format", "agent-trace", env=with_ledger(told))
    assert (done.code, "in no repository" in done.err) == (2, True)
    git(told.cwd, "init", "--quiet")
    done = told("report", "--format", "agent-trace", env=with_ledger(told))
    assert (done.code, "HEAD cannot be read" in done.err) == (2, True)


# --- OpenTelemetry -------------------------------------------------------------------------------


def test_spans_follow_the_conventions(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    found = spans(records(str(ledger.folder)))
    assert len(found) == 10
    edit = next(s for s in found if s.attributes and "tool_intent.rationale" in s.attributes
                and s.name == "execute_tool edit" and s.status.is_ok)  # fmt: skip
    attributes = dict(edit.attributes or {})
    assert attributes["gen_ai.operation.name"] == "execute_tool"
    assert attributes["gen_ai.tool.name"] == "edit"
    assert attributes["gen_ai.conversation.id"] == "7f3a91c2"
    assert attributes["gen_ai.agent.name"] == "pi"
    assert attributes["tool_intent.intent"] == ("Round fees to whole cents, half to even",)
    assert edit.end_time is not None
    assert edit.start_time is not None
    assert edit.end_time - edit.start_time == 37_000_000_000
    assert "error.type" not in attributes
    assert {s.name.partition(" ")[0] for s in found} == {"execute_tool"}
    errors = [(s.attributes or {}).get("error.type") for s in found]
    assert errors == [
        None, "denied", "denied", None, None, None, None, "not_approved", "denied", "tool_error",
    ]  # fmt: skip
    assert [e.name for e in found[1].events] == [
        "tool_intent.finding", "tool_intent.finding", "tool_intent.reason",
    ]  # fmt: skip
    assert len({s.context.trace_id for s in found}) == 2


def test_a_second_export_says_the_same(tmp_path: Path) -> None:
    ledger = story(tmp_path)
    one, two = (list(otlp_lines(spans(records(str(ledger.folder))))) for _ in range(2))
    assert one == two


@pytest.mark.parametrize(("setting", "there"), [("true", True), ("", False)])
def test_arguments_are_in_spans_only_where_that_is_asked(
    told: Command, setting: str, there: bool
) -> None:
    done = told("report", "--format", "otel", env=with_ledger(told) | {CAPTURE: setting})
    assert (done.code, "gen_ai.tool.call.arguments" in done.out) == (0, there)


def test_otlp_json_has_ids_in_hexadecimal_and_lines_of_batches(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, pace=0.01)
    for _ in range(BATCH + 1):
        ledger.decide(ODD, reasons=[call(ODD, ODD)])
    lines = [json.loads(line) for line in otlp_lines(spans(records(str(tmp_path))))]
    sizes = [len(line["resourceSpans"][0]["scopeSpans"][0]["spans"]) for line in lines]
    assert sizes == [BATCH, 1]
    span = lines[1]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    assert (len(bytes.fromhex(span["traceId"])), len(bytes.fromhex(span["spanId"]))) == (16, 8)


@pytest.fixture
def collector() -> Iterator[tuple[str, list[bytes]]]:
    """A collector of spans on this machine: its address, and the bodies of what it got."""
    got: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(400 if self.path.startswith("/refuses") else 200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    thread.join()
    server.server_close()


def test_spans_are_sent_to_the_collector_of_the_environment(
    told: Command, collector: tuple[str, list[bytes]]
) -> None:
    address, got = collector
    env = with_ledger(told) | {"OTEL_EXPORTER_OTLP_ENDPOINT": address}
    done = told("report", "--format", "otel", env=env)
    assert (done.code, done.out, done.err) == (0, "", "Sent 10 spans.\n")
    request = ExportTraceServiceRequest.FromString(b"".join(got))
    assert len(request.resource_spans[0].scope_spans[0].spans) == 10
    refused = told("report", "--format", "otel", env=env | {
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"{address}/refuses"})  # fmt: skip
    assert (refused.code, "did not take all spans" in refused.err) == (2, True)


# --- Parquet -------------------------------------------------------------------------------------


def test_parquet_has_a_row_for_each_decision(told: Command) -> None:
    done = told("report", "--format", "parquet", "-o", "calls.parquet", env=with_ledger(told))
    assert (done.code, done.err) == (0, "Wrote calls.parquet.\n")
    table = pq.read_table(told.cwd / "calls.parquet")
    assert table.schema.equals(SCHEMA)
    rows = table.to_pylist()
    assert [row["verdict"] for row in rows].count("deny") == 3
    edit = rows[3]
    assert (edit["tool"], edit["intent"], edit["ok"], edit["target"]) == (
        "edit", "Round fees to whole cents, half to even", True, "src/payments/fees.py",
    )  # fmt: skip
    assert edit["time"] == datetime(2026, 11, 30, 9, 3, 42, tzinfo=UTC)
    assert json.loads(edit["reasons"])[0]["ticket"] == "PAY-412"
    assert (rows[8]["intent"], rows[8]["ok"], rows[8]["rules"]) == (
        None,
        None,
        ["fields/missing"] * 2,
    )


def test_parquet_takes_odd_texts(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    made = ledger.decide(ODD, path=ODD, reasons=[call(ODD, ODD)], rules=[finding(ODD, "warn", ODD)])
    ledger.append("outcome", {"of": made, "ok": False, "exit": 1 << 70})
    file = io.BytesIO()
    assert write_parquet(records(str(tmp_path)), file) == 1
    [row] = pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    assert (row["ok"], row["exit"], row["intent"]) == (False, None, ODD.replace("\ud800", "?"))


def test_parquet_is_not_printed(told: Command) -> None:
    done = told("report", "--format", "parquet", env=with_ledger(told))
    assert (done.code, "name one with -o" in done.err) == (2, True)
