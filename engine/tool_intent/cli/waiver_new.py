"""`waiver new`: an entry from options, held against everything that an entry is held against."""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Annotated, Any, NamedTuple

import typer

from tool_intent.cli.options import Format, Formatted
from tool_intent.cli.terminal import err, fail, out, visible
from tool_intent.policy.load import load
from tool_intent.policy.opening import FOLDER, WAIVERS, is_waivers
from tool_intent.policy.positions import Report
from tool_intent.policy.sources import Candidate, Root, Unreadable, discover, read
from tool_intent.policy.waiver_findings import findings
from tool_intent.policy.waivers import WaiversFile
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.model import Rank
from tool_intent.runtime.wire import dump

_Names = list[str] | None


class _Target(NamedTuple):
    """The waivers file that an entry is for: where, at which rank, and what it says so far."""

    path: str
    rank: Rank
    before: str


def new(
    id_: Annotated[str, typer.Option("--id", help="Its name in decisions, such as W-17.")],
    rule: Annotated[str, typer.Option(help="The id of the rule.")],
    owner: Annotated[str, typer.Option(help="Who answers for it.")],
    reason: Annotated[str, typer.Option(help="Why it is needed.")],
    expires: Annotated[str, typer.Option(metavar="DATE", help="Its last day (UTC).")],
    path: Annotated[_Names, typer.Option(help="A glob of paths; repeatable.")] = None,
    tool: Annotated[_Names, typer.Option(help="A tool, glob or @group; repeatable.")] = None,
    agent: Annotated[_Names, typer.Option(help="An agent's name; repeatable.")] = None,
    effect: Annotated[str, typer.Option(help="note, warn or ask.")] = "note",
    approved_by: Annotated[_Names, typer.Option(help="Who approved it; repeatable.")] = None,
    ticket: Annotated[str | None, typer.Option(help="Where it is dealt with.")] = None,
    created: Annotated[
        str | None, typer.Option(metavar="DATE", help="When it was written; today if unsaid.")
    ] = None,
    max_uses: Annotated[int | None, typer.Option(help="How many calls it is for.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="The waivers file; .tool-intent/waivers.yaml if unsaid.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Append it to the file.")] = False,
    format_: Formatted = Format.TEXT,
) -> None:
    """Print a waiver, or append it to a waivers file with --write.

    One that is wrong is refused with exit code 2, one that a `waiver_policy:` refuses with 1.

    Example: tool-intent waiver new --id W-1 --rule acme/no-docs --owner @lena --reason "Moving"
    --expires 2026-12-31 --path "docs/**"
    """
    scope = {"paths": path, "tools": tool, "agents": agent}
    said: dict[str, Any] = {
        "id": id_,
        "rule": rule,
        "scope": {key: value for key, value in scope.items() if value},
        "effect": effect,
        "owner": owner,
        "approved_by": approved_by,
        "ticket": ticket,
        "reason": reason,
        "created": created or datetime.fromtimestamp(time(), UTC).date().isoformat(),
        "expires": expires,
        "max_uses": max_uses,
    }
    entry = {key: value for key, value in said.items() if value not in (None, {}, [])}
    target, roots, refused = _target(file)
    whole = _appended(target, entry)
    _judge(target, whole, entry, roots, refused)
    if write:
        _write(target.path, whole)
        err.print(visible(f"tool-intent: wrote {id_} to {target.path}"))
    elif format_ is Format.JSON:
        typer.echo(dump(entry))
    else:
        out.print(visible(_text(entry)))


def _target(file: Path | None) -> tuple[_Target, list[Root], list[Candidate]]:
    """The file, and all that is found beside it."""
    candidates = discover(os.getcwd(), os.environ)
    found = [c.root for c in candidates if c.state == "loaded"]
    refused = [c for c in candidates if c.unusable and not is_waivers(c.path)]
    places = [os.path.dirname(c.path) for c in candidates if c.rank == "repo"]
    folders = [place for place in places if os.path.basename(place) == FOLDER]
    folder = folders[0] if folders else os.path.join(os.getcwd(), FOLDER)
    path = os.path.realpath(file) if file is not None else os.path.join(folder, WAIVERS)
    if os.path.basename(path) != WAIVERS:
        fail(f"a waivers file is called {WAIVERS}, not {os.path.basename(path)}")
    beside = {os.path.dirname(c.path): c.rank for c in reversed(candidates)}
    rank: Rank = beside.get(os.path.dirname(path), "repo")
    before = ""
    if os.path.lexists(path):
        try:
            before = read(path, rank).decode()
        except (Unreadable, UnicodeDecodeError) as error:
            fail(f"{path} cannot be read: {error}")
    others = [root for root in found if root.path != path]
    return _Target(path, rank, before), others, refused


def _appended(target: _Target, entry: dict[str, Any]) -> str:
    """The file with the entry at its end. Where that changes anything else, a person must do it."""
    before = target.before.rstrip("\n") + "\n" if target.before.strip() else "waivers:\n"
    whole = f"{before}{_text(entry)}\n"
    known = _parsed(target.before) if target.before.strip() else []
    if known is None:
        fail(f"{target.path} is not sound; mend it first: tool-intent check {target.path}")
    after = _parsed(whole)
    if after is None or after[:-1] != known:
        fail(f"{target.path} does not end in a list of waivers, one a line; append by hand:\n"
             f"{_text(entry)}")  # fmt: skip
    return whole


def _parsed(text: str) -> list[Any] | None:
    file = WaiversFile("", WAIVERS, text.encode(), Report())
    data = file.document.data
    listed = data.get("waivers") if file.sound and isinstance(data, dict) else None
    return listed if isinstance(listed, list) else None


def _judge(
    target: _Target,
    whole: str,
    entry: dict[str, Any],
    roots: list[Root],
    refused: list[Candidate],
) -> None:
    """Refuse what would not count for what it says, whoever said it."""
    now = time()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, WAIVERS)
        Path(path).write_text(whole, encoding="utf-8")
        shown = os.path.relpath(target.path)
        policy = load([*roots, Root(path, target.rank, shown)], refused, now=now)
    first = whole.count("\n") - _text(entry).count("\n")
    mine = [d for d in findings(policy, now, None) if d.file == shown and d.line >= first]
    lines = whole.splitlines()
    for codes, exit_code in ((_WRONG, 2), (("waivers/refused",), 1)):
        wrong = [d for d in mine if d.severity == "error" or d.code in codes]
        if wrong:
            err.print(visible("\n".join(d.render(lines) for d in wrong)))
            raise typer.Exit(exit_code)
    _tell(mine)


#: Warnings of a waiver that no one can have meant to write.
_WRONG = ("waivers/expired", "waivers/unused")


def _tell(found: list[Diagnostic]) -> None:
    for diagnostic in found:
        err.print(visible(f"tool-intent: {diagnostic.message}"))


def _text(entry: dict[str, Any]) -> str:
    """The entry as YAML, an element of a list."""
    lines: list[str] = []
    for key, value in entry.items():
        plain = key in ("id", "rule", "effect", "created", "expires") and _is_plain(value)
        lines.append(f"{key}: {value if plain else json.dumps(value, ensure_ascii=False)}")
    return "\n".join(f"  {'-' if n == 0 else ' '} {line}" for n, line in enumerate(lines))


def _is_plain(value: str) -> bool:
    return value[:1].isalpha() and all(c.isalnum() or c in "-_./" for c in value)


def _write(path: str, text: str) -> None:
    """The whole file or nothing of it."""
    draft = f"{path}.{os.getpid()}.new"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        Path(draft).write_text(text, encoding="utf-8")
        if os.path.lexists(path):
            os.chmod(draft, os.stat(path).st_mode & 0o777)
        os.replace(draft, path)
    except OSError as error:
        Path(draft).unlink(missing_ok=True)
        fail(f"{path} cannot be written: {error.strerror}")
