"""Sessions of agents, written into a ledger as records that say where they come from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from tool_intent.ledger.appending import Appender
from tool_intent.ledger.bodies import Redactor
from tool_intent.ledger.imports import claude_code, pi
from tool_intent.ledger.imports.model import NotASession, Row, Seen
from tool_intent.ledger.members import part
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.reading import records
from tool_intent.ledger.records import Record, without_absent
from tool_intent.runtime.wire import NotJson, dump, parse

#: Fields that are taken for provenance: no policy says which a session had.
FIELDS: Final = ("intent", "rationale")
#: Arguments that are kept: what a call is about.
_KEPT: Final = ("path", "file_path", "notebook_path", "command", "url")
_WRITERS: Final = frozenset(("write", "edit", "Write", "Edit", "MultiEdit", "NotebookEdit"))


class Imported(NamedTuple):
    """What became of a file: calls that were written, calls that the ledger had already, and
    what is wrong with single lines (`line: what`)."""

    written: int
    known: int
    faults: tuple[str, ...]


class Importer:
    """Writes sessions into the ledger in a folder. `root` is the work tree whose files are recorded
    by relative paths, "" for none."""

    def __init__(self, folder: str, root: str) -> None:
        """Raises OSError where the ledger cannot be read."""
        self._appender = Appender(folder)
        self._objects = ObjectStore(folder)
        self._root = root
        self._known = {
            _key(
                part(record, "session").get("id"),
                part(record, "call").get("id"),
                part(record, "args").get("original"),
            )
            for record in records(folder)
            if record["type"] == "decision"
        }

    def take(self, path: str) -> Imported:
        """Write the calls of a session that are not in the ledger yet.

        Raises NotASession where the file is none, OSError where it cannot be read, LedgerError
        where a record cannot be kept.
        """
        faults: list[str] = []
        rows = _rows(path, faults)
        source, found = _calls(rows)
        written = known = 0
        for seen in found:
            key = _key(seen.session.get("id"), seen.call, _digest(seen.args))
            if key in self._known:
                known += 1
                continue
            self._known.add(key)
            self._write(seen, {"from": source, "file": os.path.basename(path)})
            written += 1
        return Imported(written, known, tuple(faults))

    def _write(self, seen: Seen, source: Mapping[str, str]) -> None:
        origin = {**source, "line": seen.line, **({"ts": seen.ts} if seen.ts else {})}
        files = [
            {
                "path": self._shown(content.path),
                "pre": None if content.before is None else self._objects.put(content.before),
                "post": None if content.after is None else self._objects.put(content.after),
            }
            for content in (seen.result.files if seen.result else ())
        ]
        before = [{"path": file["path"], "pre": file["pre"]} for file in files]
        body = self._decision(seen) | ({"files": before} if before else {})
        receipt = self._appender.append("decision", body | {"imported": origin})
        if seen.result is not None and not seen.result.refused:
            when = {"ts": seen.result.ts} if seen.result.ts else {}
            outcome = {"of": receipt.id, "ok": seen.result.ok} | ({"files": files} if files else {})
            self._appender.append("outcome", outcome | {"imported": origin | when})

    def _decision(self, seen: Seen) -> Record:
        redactor = Redactor()
        entries = [
            {"at": at, **{k: redactor.value(f"{at}/{k}", v) for k, v in said.items()}}
            for at, said in _said(seen.args, (*FIELDS, *seen.own))
        ]
        executed = _stripped(seen.args)
        kept: dict[str, Any] = {
            k: redactor.value(f"/{k}", executed[k]) for k in _KEPT if k in executed
        }
        refused = seen.result is not None and seen.result.refused
        return without_absent(
            {
                "session": without_absent(seen.session),
                "actor": without_absent(
                    {"worktree": self._root or seen.cwd, "branch": seen.branch}
                ),
                "call": without_absent({"id": seen.call})
                | {"tool": seen.tool, "surface": "pi" if seen.session["agent"] == "pi" else "hook"}
                | without_absent({"parent": seen.parent}),
                "entries": entries,
                "actions": self._actions(seen.tool, kept),
                "args": {"original": _digest(seen.args), "executed": _digest(executed)}
                | without_absent({"kept": kept}),
                "decision": {"verdict": "deny" if refused else "allow", "policy": ""},
                "redactions": redactor.notes,
            }
        )

    def _actions(self, tool: str, kept: Mapping[str, Any]) -> list[Record]:
        found: list[Record] = []
        for name, value in kept.items():
            if not isinstance(value, str):
                continue
            if name == "command":
                found.append({"kind": "exec", "command": value})
            elif name == "url":
                found.append({"kind": "net", "path": value})
            else:
                kind = "write" if tool in _WRITERS else "read"
                found.append({"kind": kind, "path": self._shown(value)})
        return found

    def _shown(self, path: str) -> str:
        inside = f"{self._root}{os.sep}"
        return path.removeprefix(inside) if self._root else path


def _rows(path: str, faults: list[str]) -> list[Row]:
    rows: list[Row] = []
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = parse(line)
            except NotJson as error:
                faults.append(f"{number}: the line is no JSON: {error}")
                continue
            if isinstance(value, dict):
                rows.append(Row(number, value))
            else:
                faults.append(f"{number}: the line holds no object")
    return rows


def _calls(rows: Sequence[Row]) -> tuple[str, Iterator[Seen]]:
    if rows and pi.is_session(rows[0].value):
        return "pi", pi.calls(rows)
    if claude_code.is_session(rows):
        return "claude-code", claude_code.calls(rows)
    raise NotASession(
        "it is no session that can be imported: a file of pi's begins with an object of type"
        " session, lines of Claude Code's have a sessionId"
    )


def _said(args: Mapping[str, Any], fields: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The places that say why: the call itself, and objects in its lists."""
    if own := {name: args[name] for name in fields if name in args}:
        yield "", own
    for name, value in args.items():
        for index, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict) and (own := {k: item[k] for k in FIELDS if k in item}):
                yield f"/{name.replace('~', '~0').replace('/', '~1')}/{index}", own


def _stripped(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without fields."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: v for k, v in value.items() if k not in FIELDS}
        return value

    return {
        name: [bare(item) for item in value] if isinstance(value, list) else value
        for name, value in args.items()
        if name not in FIELDS
    }


def _digest(args: Mapping[str, Any]) -> str:
    """As the records of surfaces have it, so that what one of them recorded is known again."""
    try:
        said = json.dumps(args, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        said = dump(args)
    return f"sha256:{sha256(said.encode('ascii')).hexdigest()}"


def _key(session: Any, call: Any, digest: Any) -> tuple[str, str, str]:
    return str(session), str(call), str(digest)
