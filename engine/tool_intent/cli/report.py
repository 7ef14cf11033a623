"""`report`: what the ledger says, for people and for other programs."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tool_intent.cli.moments import moment
from tool_intent.cli.terminal import err, fail, visible
from tool_intent.ledger.place import LedgerError, ledger_folder, worktree
from tool_intent.ledger.segments import segments
from tool_intent.reports.model import MOST_CALLS
from tool_intent.runtime.wire import dump


class ReportFormat(StrEnum):
    """What a report is written as."""

    HTML = "html"
    MARKDOWN = "markdown"
    JSON = "json"
    SARIF = "sarif"
    OTEL = "otel"
    AGENT_TRACE = "agent-trace"
    PARQUET = "parquet"


_FOR_PEOPLE = (ReportFormat.HTML, ReportFormat.MARKDOWN, ReportFormat.JSON)


def report(
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write to FILE; without, it is printed."
        ),
    ] = None,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="For people, or for other programs.")
    ] = ReportFormat.HTML,
    since: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="From then on: 2026-11-30, 2026-11-30T09:00Z, today, 3d."
        ),
    ] = "",
    session: Annotated[
        str, typer.Option(metavar="ID", help="Calls of one session; the start of its id will do.")
    ] = "",
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="The last N calls are shown one by one (html).")
    ] = MOST_CALLS,
    expect: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="A head of the ledger that was kept elsewhere."),
    ] = None,
    rev: Annotated[
        str, typer.Option("--rev", metavar="REV", help="The commit that agent-trace tells of.")
    ] = "HEAD",
) -> None:
    """Show what agents did, why they said they did it, and what the policy made of it.

    Exits with 1 where the ledger is not whole.

    Example: tool-intent report -o report.html
    """
    folder = _folder()
    moment = _moment(since)
    try:
        if format_ in _FOR_PEOPLE:
            _told(folder, format_, output, moment, session, limit, expect)
        else:
            _exported(folder, format_, output, moment, session, rev)
    except OSError as error:
        fail(f"the ledger cannot be read: {error.filename}: {error.strerror}")


def _told(
    folder: str,
    format_: ReportFormat,
    output: Path | None,
    since: str,
    session: str,
    limit: int,
    expect: str | None,
) -> None:
    from tool_intent.reports.opening import report_of

    with err.status("Reading the ledger…"):
        summary = report_of(folder, since=since, session=session, expect=expect)
    if session and not summary.calls:
        fail(
            f"no call of a session whose id begins with {session!r} is in the ledger{_from(since)}"
        )
    title = _title()
    if format_ is ReportFormat.HTML:
        from tool_intent.reports.page import page

        text = page(summary, title, generated=_now(), limit=limit)
    elif format_ is ReportFormat.MARKDOWN:
        from tool_intent.reports.markdown import markdown

        text = markdown(summary, title)
    else:
        text = dump(asdict(summary)) + "\n"
    _write(text.encode("utf-8", "replace"), output)
    if summary.integrity.state == "broken":
        err.print(visible(f"tool-intent: the ledger is not whole: {summary.integrity.message}"))
        raise typer.Exit(1)


def _exported(
    folder: str, format_: ReportFormat, output: Path | None, since: str, session: str, rev: str
) -> None:
    from tool_intent.cli import exporting
    from tool_intent.reports.opening import selected

    records = selected(folder, since=since, session=session)
    if format_ is ReportFormat.SARIF:
        _write(exporting.sarif_text(records), output)
    elif format_ is ReportFormat.AGENT_TRACE:
        _write(exporting.agent_trace_text(folder, rev), output)
    elif format_ is ReportFormat.PARQUET:
        if output is None:
            fail("Parquet is a format of files: name one with -o")
        _write(exporting.parquet_bytes(records), output)
    elif output is None and exporting.sends_spans():
        count = exporting.send_spans(records)
        err.print(f"Sent {count} span{'' if count == 1 else 's'}.")
    else:
        _write(exporting.otlp_text(records), output)


def _folder() -> str:
    try:
        folder = ledger_folder(os.getcwd())
    except LedgerError as error:
        fail(str(error))
    if folder is None:
        fail("TOOL_INTENT_LEDGER is off, so nothing is recorded; unset it, or name a folder")
    if not segments(folder):
        fail(
            f"nothing is recorded in {folder} yet; calls that are judged in this repository are"
            " (TOOL_INTENT_LEDGER names another folder)"
        )
    return folder


def _title() -> str:
    here = worktree(os.getcwd())
    return os.path.basename(os.getcwd()) if here is None else here.repository


def _moment(since: str) -> str:
    try:
        return moment("--since", since) if since else ""
    except ValueError as error:
        fail(str(error))


def _from(since: str) -> str:
    return f" since {since}" if since else ""


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _write(data: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(data)
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror}")
    err.print(visible(f"Wrote {output}."))
