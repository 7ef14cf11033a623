"""`log` and `verify`: what was kept, and whether it is as it was written."""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tool_intent.cli.importing import import_sessions
from tool_intent.cli.moments import moment
from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.progress import progress
from tool_intent.cli.terminal import STYLES, fail, out, styled, visible
from tool_intent.ledger.families import Family
from tool_intent.ledger.index import NAME, Index, is_busy
from tool_intent.ledger.members import part, parts, text
from tool_intent.ledger.place import LedgerError, ledger_folder, worktree
from tool_intent.ledger.queries import Entry, Wanted, follow, matches
from tool_intent.ledger.records import Record
from tool_intent.ledger.segments import segments
from tool_intent.ledger.verifying import verify as verify_ledger
from tool_intent.runtime.pointer import spoken
from tool_intent.runtime.wire import dump

_LONGEST_SHOWN = 200


class Verdict(StrEnum):
    """What was decided."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


def log(
    session: Annotated[str | None, typer.Option(help="A session's id, or how it begins.")] = None,
    tool: Annotated[str | None, typer.Option(help="A tool's name, or a glob.")] = None,
    path: Annotated[str | None, typer.Option(help="A file, or a folder and all below.")] = None,
    rule: Annotated[str | None, typer.Option(help="A rule that was broken, or a glob.")] = None,
    decision: Annotated[Verdict | None, typer.Option(help="What was decided.")] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="From then on: 2026-11-30, 2026-11-30T09:00Z, today, 3d."
        ),
    ] = None,
    last: Annotated[
        int | None, typer.Option("--last", "-n", metavar="N", min=0, help="The newest N alone.")
    ] = None,
    follow_: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is written from now on.")
    ] = False,
    import_: Annotated[
        list[Path] | None,
        typer.Option("--import", metavar="FILE", help="Import a session of pi or Claude Code."),
    ] = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Show the calls that were recorded, with their reasons, oldest first.

    JSON is one object a line: the decision's record, and under `outcome` that of its outcome. With
    --import, which may be given again, sessions that agents kept themselves are recorded instead.

    Example: tool-intent log --decision deny --path src
    """
    if import_:
        if follow_ or any((session, tool, path, rule, decision, since, last)):
            fail("--import takes whole sessions: import first, then choose what is shown")
        import_sessions(import_, format_)
    folder = ledger()
    wanted = Wanted(
        session, tool, None if path is None else _from_root(path), rule,
        None if decision is None else decision.value, _time(since),
    )  # fmt: skip
    show = _as_json if format_ is Format.JSON else _as_text
    try:
        with progress("Indexing the ledger") as told:
            index = Index(folder, told)
        for entry in index.entries(wanted, last):
            show(entry)
        family = None if session is None else index.family(session)
        index.close()
        if follow_:
            _follow(folder, wanted, family, show)
    except sqlite3.Error as error:
        if is_busy(error):
            fail("another process indexes the ledger anew: ask again in a minute")
        fail(
            f"the index of the ledger is damaged ({error}): delete {os.path.join(folder, NAME)},"
            " and ask again; it is made anew from the records"
        )
    except BrokenPipeError:
        out.on_broken_pipe()  # nobody reads on: as where rich finds that out
    except OSError as error:
        fail(f"the ledger cannot be read: {error.filename}: {error.strerror}")


def verify(
    expect: Annotated[
        str | None, typer.Option(metavar="HEAD", help="A hash that was the ledger's head once.")
    ] = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Check that every record is as it was written, and none is missing in between.

    Whoever can write the ledger can write all of it anew: only a head that was kept elsewhere
    (--expect) shows that it is still the same. Exit code 1 where anything is wrong.

    Example: tool-intent verify --expect sha256:9f86…
    """
    folder = ledger()
    try:
        with progress("Verifying the ledger") as told:
            found = verify_ledger(folder, expect, told)
    except OSError as error:
        fail(f"the ledger cannot be read: {error.filename}: {error.strerror}")
    state = (
        "broken" if not found.whole else "authenticated" if found.authenticated else "consistent"
    )
    if format_ is Format.JSON:
        problems = [problem._asdict() for problem in found.problems]
        typer.echo(dump(found._asdict() | {"problems": problems, "state": state}))
    else:
        for problem in found.problems:
            out.print(styled(f"{problem.place}: {problem.text}", "red"))
        if found.wrong > len(found.problems):
            out.print(f"… and {found.wrong - len(found.problems)} more")
        said = {
            "broken": "not as it was written",
            "consistent": "consistent, not authenticated (--expect takes a head kept elsewhere)",
            "authenticated": "consistent, and it has the expected head",
        }[state]
        out.print(f"{_many(found.records, 'record')} in {_many(found.segments, 'segment')}: {said}")
        out.print(f"head {found.head}")
    if not found.whole:
        raise typer.Exit(1)


def ledger() -> str:
    """The folder of the ledger of the current directory; ends the command where there is none."""
    try:
        folder = ledger_folder(os.getcwd())
    except LedgerError as error:
        fail(str(error))
    if folder is None:
        fail("TOOL_INTENT_LEDGER is off: there is no ledger to read")
    try:
        found = segments(folder)
    except OSError as error:
        fail(f"the ledger cannot be read: {error.filename}: {error.strerror}")
    if not found:
        fail(f"no call was recorded yet: there is no ledger in {folder}")
    return folder


def _from_root(path: str) -> str:
    """A path from here as records have it: from the root of the work tree."""
    here = worktree(os.getcwd())
    whole = os.path.realpath(path)
    root = os.getcwd() if here is None else here.root
    if whole == root:
        return "."
    return whole[len(root) + 1 :] if whole.startswith(f"{root}{os.sep}") else whole


def _time(since: str | None) -> str | None:
    try:
        return None if since is None else moment("--since", since)
    except ValueError as error:
        fail(str(error))


def _follow(folder: str, wanted: Wanted, family: Family | None, show: Any) -> None:
    """Show what is written from now on: decisions, then their outcomes as they come."""
    shown: dict[str, Record] = {}
    with suppress(KeyboardInterrupt):
        for record in follow(folder):
            if family is not None and record["type"] == "decision":
                family.learn(record)
            if matches(record, wanted, family):
                shown[record["id"]] = record
                show(Entry(record, None))
            elif record["type"] == "outcome" and text(record, "of") in shown:
                show(Entry(shown.pop(text(record, "of")), record))
            sys.stdout.flush()


def _as_json(entry: Entry) -> None:
    more = {} if entry.outcome is None else {"outcome": entry.outcome}
    typer.echo(dump(entry.decision | more))


def _as_text(entry: Entry) -> None:
    record = entry.decision
    decision = part(record, "decision")
    verdict = text(decision, "verdict")
    came = "" if entry.outcome is None else " passed" if entry.outcome.get("ok") else " failed"
    out.print(
        styled(f"{record['ts'][:19]}Z ", "dim"),
        styled(f"{verdict:<6}", STYLES.get(verdict, "")),
        styled(f"{text(part(record, 'call'), 'tool')} ", "bold"),
        visible(_brief(_subject(record))),
        styled(f"{came} {record['id']}", "dim"),
        sep="",
    )
    for said in parts(record, "entries"):
        where = f"{spoken(text(said, 'at'))}." if text(said, "at") else ""
        for field, value in said.items():
            if field != "at":
                out.print(styled(f"      {where}{field}: {_brief(value)}", "dim"))
    for rule in parts(decision, "rules"):
        at = f" at {spoken(text(rule, 'at'))}" if text(rule, "at") else ""
        effect = text(rule, "effect")
        told = _brief(f"      {effect}: {text(rule, 'id')}{at}")
        out.print(styled(told, STYLES.get(effect, "")))
    if "mended" in decision:
        out.print(styled(f"      mends {decision['mended']}", "dim"))


def _subject(record: Record) -> str:
    action = next(iter(parts(record, "actions")), {})
    return text(action, "path") or text(action, "command")


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else dump(value)
    text = text.replace("\n", " ⏎ ")
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
