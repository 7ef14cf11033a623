"""`lock`: to the byte, what a repository's policy is made of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from tool_intent.cli.diagnostics import rendered
from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.terminal import err, fail, out, visible
from tool_intent.policy.fetching import Fetcher
from tool_intent.policy.git import Git
from tool_intent.policy.git_sources import GitSources, Place, holder, workspaces
from tool_intent.policy.lock import LOCK_FILE, Entry, LockFile, read_lock
from tool_intent.policy.locking import Comparison, closure, lock_of, roots_of, write_lock
from tool_intent.policy.opening import FOLDER
from tool_intent.policy.positions import START, Report
from tool_intent.policy.sources import Root, SourceError, discover
from tool_intent.policy.store import open_store
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.wire import dump


def lock(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            help="The folder whose .tool-intent/ is locked; without, the outermost from here.",
        ),
    ] = None,
    frozen: Annotated[
        bool, typer.Option("--frozen", help="Write nothing; exit 1 where the lock is not right.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Ask again what tags and branches stand for.")
    ] = False,
    format_: Formatted = Format.TEXT,
) -> None:
    """Write tool-intent.lock: the sha256 of every source of a repository's policy. Fetches the git
    sources that the policy names.

    Example: tool-intent lock --frozen
    """
    if frozen and update:
        fail("lock takes one of --frozen and --update")
    place, shown = _place(folder)
    try:
        roots = roots_of(place, shown)
    except SourceError as error:
        fail(f"{error.message}{f' ({error.help})' if error.help else ''}")
    report = Report()
    name = os.path.join(shown, LOCK_FILE)
    before = read_lock(place, name, report)
    written = False
    if not report.of("error"):
        with _fetcher(roots, update=update) as fetcher:
            git = GitSources(report, lambda: fetcher.store, fetcher)
            entries = closure(place, roots, git, report)
            if frozen and not report.of("error"):
                _compare(before, name, entries, fetcher, report)
        if not frozen and not report.of("error"):
            written = _write(place, name, entries, before)
    _end(report, format_, name, before if frozen else None, written=written)


def _place(folder: Path | None) -> tuple[str, str]:
    """The folder whose `.tool-intent/` is meant, and what people call it: "" for this one."""
    if folder is not None:
        return os.path.abspath(folder), "" if str(folder) == "." else str(folder)
    found = [c for c in discover(os.getcwd(), os.environ) if c.rank == "repo"]
    path = next((c.path for c in found if c.state != "absent"), None)
    if path is None:
        fail(
            f"there is no {FOLDER}/ here or above; `tool-intent init` writes a first policy."
            " Policies of the machine and of users are not locked"
        )
    while os.path.basename(path) != FOLDER:
        path = os.path.dirname(path)
    here = os.path.relpath(os.path.dirname(path), os.path.realpath(os.getcwd()))
    return os.path.dirname(path), "" if here == "." else here


def _fetcher(roots: list[Root], *, update: bool) -> Fetcher:
    places = workspaces(os.environ, roots, os.getcwd())

    def say(text: str) -> None:
        err.print(visible(f"tool-intent: {text}"))

    return Fetcher(
        lambda: open_store(os.environ, places), lambda: Git.found(places), _now(), say,
        update=update,
    )  # fmt: skip


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _compare(
    before: LockFile | None,
    name: str,
    entries: Mapping[Entry, Place | None],
    fetcher: Fetcher,
    report: Report,
) -> None:
    if before is None:
        report.error(
            "lock/missing", name, START, f"there is no {name}",
            "run `tool-intent lock`, and commit what it writes",
        )  # fmt: skip
        return
    comparison = Comparison(before, report, strict=True)
    comparison.sources(entries)
    comparison.versions()
    comparison.ages(_now())
    for unasked in comparison.tags(fetcher):
        err.print(visible(f"tool-intent: {unasked}"))


def _write(place: str, name: str, entries: Iterable[Entry], before: LockFile | None) -> bool:
    """Write the lock unless it is the same already; whether it was written."""
    after = lock_of(entries, before.lock if before is not None else None)
    if before is not None and before.lock == after:
        return False
    try:
        write_lock(place, after)
    except OSError as error:
        fail(f"{name} cannot be written: {error.strerror}")
    return True


def _end(
    report: Report, format_: Format, name: str, held: LockFile | None, *, written: bool
) -> NoReturn:
    found = (*report.of("error"), *report.of("warning"))
    wrong = bool(report.of("error"))
    if format_ is Format.JSON:
        said = [d.to_dict() for d in found]
        typer.echo(dump({"lock": name, "written": written, "diagnostics": said}))
    else:
        if found:
            out.print(visible(rendered(found)))
        if written:
            out.print(visible(f"Wrote {name}."))
        elif not wrong:
            out.print(visible(f"{name} is {'right' if held is not None else 'up to date'}."))
    unreadable = any(d.code == "policy/unreadable" for d in found)
    raise typer.Exit(2 if unreadable else int(wrong))


def drift(roots: list[Root]) -> tuple[Diagnostic, ...]:
    """In what the locks beside these policies, if there are any, differ from what is there now;
    nothing is fetched or asked. What is wrong with a lock itself is an error."""
    report = Report()
    for place, name in dict.fromkeys(held for held in map(holder, roots) if held is not None):
        before = read_lock(place, name, report)
        if before is None:
            continue
        own = roots_of(place, os.path.dirname(name))
        git = GitSources.kept(Report(), own)
        comparison = Comparison(before, report, strict=False)
        comparison.sources(closure(place, own, git, Report()))
        comparison.versions()
        comparison.ages(_now())
    return (*report.of("error"), *report.of("warning"))
