"""`tool-intent.lock`: what a repository's policy is made of, to the byte. Read, held, written."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from tool_intent.__about__ import __version__
from tool_intent.policy import schema_errors, sources
from tool_intent.policy.git_objects import is_commit_id
from tool_intent.policy.git_source import GitSource
from tool_intent.policy.positions import START, Document, Report, Span
from tool_intent.policy.sources import Unreadable
from tool_intent.policy.yaml_nodes import parse
from tool_intent.rules.functions import FUNCTION_TABLE
from tool_intent.runtime.text import UNICODE_VERSION

LOCK_FILE: Final = "tool-intent.lock"
#: The lists of a lock and, but for `git`, the member that names an entry of each.
NAMED_BY: Final = {"files": "path", "packs": "name", "catalogs": "name", "shipped": "path"}

_VERSION: Final = 1
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"


class Pin(NamedTuple):
    """What a git source stood for: the commit, the reference's full name ("" for a commit id), and
    when that was asked (None where it is not known)."""

    commit: str
    reference: str = ""
    resolved: datetime | None = None


class Entry(NamedTuple):
    """One source. `list` is the lock's list that it stands in, `name` what people call it."""

    list: str
    name: str
    sha256: str
    git: tuple[GitSource, Pin] | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.list, self.name


class Lock(NamedTuple):
    """What was locked, and by which engine. `max_stale` is in days."""

    entries: Mapping[tuple[str, str], Entry]
    engine: str = __version__
    functions: int = FUNCTION_TABLE
    unicode: str = UNICODE_VERSION
    max_stale: int | None = None

    def pin(self, source: GitSource) -> tuple[str, Pin] | None:
        """The sha256 and commit locked for a file in git."""
        entry = self.entries.get(("git", str(source)))
        return (entry.sha256, entry.git[1]) if entry is not None and entry.git else None

    def revision(self, source: GitSource) -> Pin | None:
        """What the revision of a file in git stood for, whichever file it was locked for."""
        for entry in self.entries.values():
            if entry.git is not None and entry.git[0][:2] == source[:2]:
                return entry.git[1]
        return None

    def text(self) -> str:
        """As it is written: JSON, sorted; the same sources give the same bytes."""
        versions: dict[str, Any] = {
            "version": _VERSION,
            "engine": self.engine,
            "functions": self.functions,
            "unicode": self.unicode,
        }
        if self.max_stale is not None:
            versions["max_stale"] = self.max_stale
        lists: dict[str, list[dict[str, Any]]] = {name: [] for name in (*NAMED_BY, "git")}
        for entry in sorted(self.entries.values(), key=lambda e: e.key):
            lists[entry.list].append(_row(entry))
        return json.dumps(versions | lists, indent=2, ensure_ascii=False) + "\n"


class LockFile(NamedTuple):
    """A lock that was read: its path, its name for people, the SHA-256 of its bytes, and where its
    parts stand."""

    path: str
    shown: str
    digest: str
    lock: Lock
    document: Document

    def span(self, *path: str | int) -> Span:
        """The place of a value."""
        return self.document.span(self.document.value(path))

    def entry_span(self, entry: Entry) -> Span:
        """The place of an entry's sha256."""
        for index, row in enumerate(self.document.data[entry.list]):
            if _name(entry.list, row) == entry.name:
                return self.span(entry.list, index, "sha256")
        return START


def read_lock(folder: str, shown: str, report: Report) -> LockFile | None:
    """The lock in `folder`, known to people as `shown`; None where there is none, or where it
    cannot be used, which goes to `report`."""
    path = os.path.join(folder, LOCK_FILE)
    try:
        data = _read(path)
    except FileNotFoundError:
        return None
    except (OSError, Unreadable) as error:
        reason = error.reason if isinstance(error, Unreadable) else str(error.strerror).lower()
        report.error(
            "policy/unreadable", shown, START, f"`{shown}` cannot be read: {reason}",
            "remove it and run `tool-intent lock`",
        )  # fmt: skip
        return None
    own = Report()
    document = parse(data, shown, own)
    if document.root is not None:
        schema_errors.check(document, "lock", own)
    lock = None if own.of("error") else _lock(document, own)
    report.extend((*own.of("error"), *own.of("warning")))
    if lock is None or own.of("error"):
        return None
    return LockFile(path, shown, sources.fingerprint(data), lock, document)


def _read(path: str) -> bytes:
    if stat.S_ISLNK(os.lstat(path).st_mode):
        raise Unreadable("it is a link")
    return sources.read(path, "repo")


def _lock(document: Document, report: Report) -> Lock:
    data = document.data
    entries: dict[tuple[str, str], Entry] = {}
    for kind in (*NAMED_BY, "git"):
        for index, row in enumerate(data[kind]):
            try:
                entry = _entry(kind, row)
            except ValueError:
                node = document.value([kind, index, "resolved"])
                report.error(
                    "policy/value", document.file, document.span(node),
                    f"`{row['resolved']}` is no day of the calendar",
                    "run `tool-intent lock --update`",
                )  # fmt: skip
                continue
            if entry.key in entries:
                report.error(
                    "lock/twice", document.file, document.span(document.value([kind, index])),
                    f"`{entry.name}` is locked twice", "remove one, or run `tool-intent lock`",
                )  # fmt: skip
            entries[entry.key] = entry
    _check_commits(document, report)
    return Lock(entries, data["engine"], data["functions"], data["unicode"], data.get("max_stale"))


def _check_commits(document: Document, report: Report) -> None:
    """One revision stands for one commit, and a commit id for itself."""
    commits: dict[tuple[str, str], str] = {}
    for index, row in enumerate(document.data["git"]):
        first = row["rev"] if is_commit_id(row["rev"]) else row["commit"]
        meant = commits.setdefault((row["url"], row["rev"]), first)
        if row["commit"] != meant:
            node = document.value(["git", index, "commit"])
            report.error(
                "lock/commit", document.file, document.span(node),
                f"`{row['rev']}` of {row['url']} is the commit {meant}, and this is another",
                "remove this entry and run `tool-intent lock`",
            )  # fmt: skip


def _entry(kind: str, row: Mapping[str, Any]) -> Entry:
    name = _name(kind, row)
    if kind != "git":
        return Entry(kind, name, row["sha256"])
    pin = Pin(row["commit"], row.get("reference", ""), _time(row["resolved"]))
    return Entry(kind, name, row["sha256"], (_source(row), pin))


def _name(kind: str, row: Mapping[str, Any]) -> str:
    return str(_source(row)) if kind == "git" else str(row[NAMED_BY[kind]])


def _source(row: Mapping[str, Any]) -> GitSource:
    return GitSource(row["url"], row["rev"], row["path"])


def _row(entry: Entry) -> dict[str, Any]:
    if entry.git is None:
        return {NAMED_BY[entry.list]: entry.name, "sha256": entry.sha256}
    source, pin = entry.git
    named = {"reference": pin.reference} if pin.reference else {}
    resolved = (pin.resolved or datetime.fromtimestamp(0, UTC)).astimezone(UTC)
    return {
        "url": source.url,
        "rev": source.rev,
        "path": source.path,
        "commit": pin.commit,
        **named,
        "resolved": resolved.strftime(_TIME),
        "sha256": entry.sha256,
    }


def _time(text: str) -> datetime:
    return datetime.strptime(text, _TIME).replace(tzinfo=UTC)


def entries_of(found: Iterable[Entry]) -> dict[tuple[str, str], Entry]:
    """The entries by their keys."""
    return {entry.key: entry for entry in found}
