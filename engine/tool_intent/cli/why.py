"""`why` and `seal`: the call behind each line of a file, asked for and frozen."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from tool_intent.cli.asked import Span, asked, knowing, names_in, no_record, parted
from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.terminal import err, fail, out, visible
from tool_intent.cli.versions import Touched, Versions
from tool_intent.cli.why_text import told
from tool_intent.ledger.answering import Answer, Ledger
from tool_intent.ledger.attribution.hops import Author
from tool_intent.ledger.attribution.model import count_lines
from tool_intent.ledger.attribution.runs import Run
from tool_intent.ledger.objects import oid_of
from tool_intent.ledger.place import LedgerError, Worktree, ledger_folder, worktree
from tool_intent.ledger.sealing import REF, note_of
from tool_intent.policy.git_objects import GitError
from tool_intent.runtime.wire import dump


def why(
    target: Annotated[
        str, typer.Argument(metavar="FILE[:LINE[-LINE]]", help="A file, or lines of it.")
    ],
    rev: Annotated[
        str | None, typer.Option("--rev", metavar="REV", help="The file as committed there.")
    ] = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Tell which call wrote each line of a file, and the reasons that it gave.

    A line is `exact` as the call wrote it, `reformatted` or `moved` since, `edited-after` where
    somebody unrecorded changed it since, or `untracked`. The calls before it are told too.

    Example: tool-intent why src/login.py:12-20
    """
    file, span = parted(target)
    about = asked(file, rev)
    lines = count_lines(about.text)
    if span is not None:
        _expect_within(about.shown, span, lines)
    if not about.ledger.steps and not about.sealed:
        fail(no_record(os.path.dirname(os.path.realpath(file))))
    answer = about.ledger.answer(about.names, about.text, about.sealed, about.contents)
    _warn(about.ledger)
    if span is not None:
        answer = answer.within(span.start, min(span.end, lines))
    if format_ is Format.JSON:
        typer.echo(dump(_as_json(about.names[0], rev, answer)))
        return
    out.print(visible(about.shown.replace("\n", "\\n")), style="bold")
    for text in told(answer):
        out.print(text)
    if not lines:
        out.print("The file is empty.")


def seal(
    rev: Annotated[
        str, typer.Argument(metavar="[REV]", help="The commit whose files are sealed.")
    ] = "HEAD",
    format_: Formatted = Format.TEXT,
) -> None:
    """Freeze which call wrote each line of the files that a commit touches, as a git note, so that
    clones without the ledger can ask `why` too.

    Example: tool-intent seal HEAD
    """
    here = worktree(os.getcwd())
    if here is None:
        fail("seal writes a git note, and this folder is in no repository")
    try:
        versions = Versions(here.root)
        commit = versions.commit(rev)
        touched = versions.touched(commit)
        ledger, roots = knowing(here, [file.path for file in touched])
        answers = _sealable(versions, commit, touched, ledger, here, roots)
        _warn(ledger)
        if answers:
            versions.annotate(commit, note_of(answers, len(commit)))
    except GitError as error:
        fail(f"{rev} cannot be sealed: {error.reason}")
    calls = {call for answer in answers.values() for call in answer.calls}
    if answers:
        _mark(here.root, {"commit": commit, "files": len(answers), "calls": len(calls)})
    if format_ is Format.JSON:
        typer.echo(dump({"commit": commit, "files": list(answers), "calls": sorted(calls)}))
    elif not answers:
        out.print(f"No line of {commit[:12]} is known to be a call's: nothing was sealed.")
    else:
        files = f"{len(answers)} file{'s' if len(answers) != 1 else ''}"
        count = f"{len(calls)} call{'s' if len(calls) != 1 else ''}"
        out.print(f"Sealed {files} of {commit[:12]} by {count}, as a note under {REF}.")
        out.print(f"Share it: git push origin {REF}")


def _sealable(
    versions: Versions,
    commit: str,
    touched: list[Touched],
    ledger: Ledger,
    here: Worktree,
    roots: list[str],
) -> dict[str, Answer]:
    """The files that a commit touches and whose lines are calls', with who wrote them."""
    found: dict[str, Answer] = {}
    for path, blob in touched:
        text = versions.content(blob)
        if text is None or b"\0" in text:
            continue
        names = versions.names(commit, path)
        sealed = versions.sealed(commit, names, text)
        answer = ledger.answer(names_in(here, names, roots), text, sealed, versions.content)
        if answer.calls:
            found[path] = answer
    return found


def _warn(ledger: Ledger) -> None:
    """Say that part of a ledger could not be read, and so is not in the answer."""
    number, first = ledger.unreadable.count, ledger.unreadable.first
    if number:
        lines = "a line" if number == 1 else f"{number:,} lines"
        text = f"{lines} of the ledger cannot be read, and may have told more (tool-intent verify)"
        err.print(visible(f"tool-intent: {text}; {first}"))


def _mark(root: str, detail: dict[str, Any]) -> None:
    """Tell the ledger, where there is one, that something was sealed."""
    from tool_intent.ledger.appending import Appender
    from tool_intent.ledger.records import marker

    try:
        folder = ledger_folder(root)
        if folder is not None and os.path.isdir(folder):
            Appender(folder).append("marker", marker("sealed", detail), sync=True)
    except LedgerError as error:
        fail(f"the note was written, and the ledger could not be told: {error}")


def _expect_within(shown: str, span: Span, lines: int) -> None:
    if span.start < 1 or span.end < span.start:
        fail(f"{span.start}-{span.end} are no lines: the first is 1, and the last comes after it")
    if span.end > lines:
        has = "is empty" if not lines else f"has {lines} line{'s' if lines != 1 else ''}"
        fail(f"{shown} {has}: there is no line {span.end}")


def _as_json(path: str, rev: str | None, answer: Answer) -> dict[str, Any]:
    return {
        "file": path,
        **({} if rev is None else {"rev": rev}),
        "blob": oid_of(answer.text),
        "lines": [_run(run) for run in answer.runs],
        "calls": answer.calls,
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "start": run.start,
        "end": run.end,
        "state": run.state,
        "by": None if run.by is None else _author(run.by),
        "earlier": [_author(author) for author in run.earlier],
    }


def _author(author: Author) -> dict[str, Any]:
    return {"call": author.call, "entries": list(author.entries)}
