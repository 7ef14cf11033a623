"""Parquet: a row for each decision, for lakes and data frames."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from tool_intent.ledger.joining import joined
from tool_intent.ledger.members import Members, part, parts, paths, said, target, text, when

#: Rows that are written at once.
_BATCH: Final = 10_000
_TIME: Final = pa.timestamp("ms", tz="UTC")
_TEXTS: Final = ("agent", "agent_version", "model", "user", "repo", "worktree", "branch", "head")

SCHEMA: Final = pa.schema(
    [
        ("record", pa.string()),
        ("time", _TIME),
        ("session", pa.string()),
        *((name, pa.string()) for name in _TEXTS),
        ("call", pa.string()),
        ("tool", pa.string()),
        ("server", pa.string()),
        ("surface", pa.string()),
        ("target", pa.string()),
        ("paths", pa.list_(pa.string())),
        ("verdict", pa.string()),
        ("rules", pa.list_(pa.string())),
        ("policy", pa.string()),
        ("mended", pa.string()),
        ("intent", pa.string()),
        ("rationale", pa.string()),
        ("reasons", pa.string()),
        ("ok", pa.bool_()),
        ("exit", pa.int64()),
        ("finished", _TIME),
        ("redactions", pa.int32()),
        ("imported", pa.string()),
    ]
)


def write_parquet(records: Iterable[Members], file: BinaryIO) -> int:
    """Write `records` to a binary file with the columns of `SCHEMA`; returns the number of rows.

    `intent` and `rationale` are of the first place that gives one; `reasons` is JSON of all. Text
    that is not there is null. Raises OSError where the file cannot be written.
    """
    pairs = joined(records)
    with pq.ParquetWriter(file, SCHEMA, compression="zstd") as writer:
        for start in range(0, len(pairs), _BATCH):
            rows = [_row(*pair) for pair in pairs[start : start + _BATCH]]
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
    return len(pairs)


def _row(decision: Members, outcome: Members | None) -> dict[str, Any]:
    session, actor, call, verdict = (
        part(decision, key) for key in ("session", "actor", "call", "decision")
    )
    reasons = said(decision)
    after = outcome or {}
    exit_code = after.get("exit")
    return {
        "record": _text(decision, "id"),
        "time": _time(decision),
        "session": _text(session, "id"),
        **{name: _text(session, name) or _text(actor, name) for name in _TEXTS},
        "call": json.dumps(call["id"]) if "id" in call else None,
        **{name: _text(call, name) for name in ("tool", "server", "surface")},
        "target": _clean(target(decision)),
        "paths": [_clean(path) for path in paths(decision)],
        "verdict": _text(verdict, "verdict"),
        "rules": [_text(rule, "id") for rule in parts(verdict, "rules")],
        "policy": _text(verdict, "policy"),
        "mended": _text(verdict, "mended"),
        "intent": _first(reasons, "intent"),
        "rationale": _first(reasons, "rationale"),
        "reasons": json.dumps([{"at": at, **dict(fields)} for at, fields in reasons]),
        "ok": after.get("ok") if isinstance(after.get("ok"), bool) else None,
        "exit": exit_code if isinstance(exit_code, int) and abs(exit_code) < 1 << 63 else None,
        "finished": _time(after),
        "redactions": len(parts(decision, "redactions")),
        "imported": _text(part(decision, "imported"), "from"),
    }


def _first(reasons: Iterable[tuple[str, Iterable[tuple[str, str]]]], field: str) -> str | None:
    return next((_clean(v) for _, fields in reasons for k, v in fields if k == field), None)


def _text(record: Members, key: str) -> str | None:
    return _clean(text(record, key))


def _clean(value: str) -> str | None:
    """Half a surrogate pair is no text for other programs; no text is null."""
    return value.encode("utf-8", "replace").decode() or None


def _time(record: Members) -> datetime | None:
    try:
        return datetime.fromisoformat(when(record))
    except ValueError:
        return None
