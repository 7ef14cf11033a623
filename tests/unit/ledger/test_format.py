"""The format of a record, frozen: other programs read it."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from tool_intent.ledger.chain import GENESIS, holds, line, stated
from tool_intent.ledger.records import (
    framed,
    kept_entries,
    kept_value,
    marker,
    new_id,
    timestamp,
)

ROOT: Final = Path(__file__).parents[3]
SCHEMA: Final = json.loads((ROOT / "policies/schema/record.schema.json").read_text("utf-8"))
VALID: Final = jsonschema.Draft202012Validator(SCHEMA)
ID: Final = "01KBABTM3VQ9R6Y2K4ZP8T5W1X"

#: One record of each type, with all that it may have.
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "decision": {
        "session": {"id": "s", "agent": "pi", "agent_version": "1", "model": "m", "parent": "r"},
        "actor": {"user": "u", "repo": "r", "worktree": "/r", "branch": "main", "head": "0" * 40},
        "call": {"id": 1.5, "tool": "edit", "server": "fs", "surface": "mcp", "parent": "c"},
        "entries": [{"at": "/edits/0", "intent": "a", "ticket": 7}],
        "actions": [{"kind": "write", "path": "a"}, {"kind": "exec", "command": "ls"}],
        "args": {"original": GENESIS, "executed": GENESIS, "kept": {"path": "a"}, "redacted": True},
        "decision": {
            "verdict": "deny",
            "rules": [
                {"id": "a/b", "effect": "note", "at": "", "origin": "p:1", "waived": "w",
                 "was": "deny"}
            ],
            "policy": GENESIS,
            "mended": ID,
        },
        "files": [{"path": "a\nb", "pre": None}],
        "redactions": [{"at": "/edits/0/intent", "kind": "github-token"}],
        "imported": {"from": "pi", "file": "s.jsonl", "line": 3},
    },
    "outcome": {
        "of": ID, "ok": False, "status": "error", "exit": 1,
        "files": [{"path": "a", "pre": None, "post": "0" * 40, "entries": ["/edits/0"]}],
        "imported": {"from": "claude-code", "file": "s.jsonl", "line": 3},
    },
    "marker": {"kind": "torn", "detail": {"bytes": 3}},
    "header": {"segment": "ledger-2026-11-30-001.jsonl", "engine": "0.1.0"},
}  # fmt: skip


def stored(type: Any, body: dict[str, Any]) -> bytes:
    return line(framed(type, 1, ID, "2026-11-30T12:00:00.123Z", GENESIS, body))[0]


@pytest.mark.parametrize("type", EXAMPLES)
def test_a_record_with_all_that_it_may_have_is_valid(type: str) -> None:
    record = json.loads(stored(type, EXAMPLES[type]))
    VALID.validate(record)
    assert list(record)[:6] == ["v", "type", "seq", "id", "ts", "prev"]
    assert list(record)[-1] == "hash"


@pytest.mark.parametrize("type", EXAMPLES)
def test_a_record_with_a_member_that_the_format_does_not_have_is_not_valid(type: str) -> None:
    record = json.loads(stored(type, EXAMPLES[type])) | {"more": 1}
    assert not VALID.is_valid(record)


def test_the_schema_is_the_one_that_other_programs_were_given() -> None:
    """Change it with a new version of the format, never under the name of this one."""
    text = json.dumps(SCHEMA, sort_keys=True).encode()
    assert sha256(text).hexdigest() == FROZEN


FROZEN: Final = "4281b3a3c229edcb16cb2b1babaef9daa8ba19d1b1df75727b209bf2711844ba"


def test_ti_079_the_hash_is_over_the_bytes_as_stored() -> None:
    """Floats, letters and keys that JSON writers spell in different ways change nothing: the
    bytes in front of the hash are all there is to it."""
    odd = {"n": 1e-07, "s": "ü", "k": {"😀": 1, "Ａ": 2}}
    raw = stored("marker", marker("gap", odd))
    front, _, rest = raw.partition(b',"hash":')
    assert rest == b'"sha256:%s"}\n' % sha256(front).hexdigest().encode()
    assert stated(raw) == f"sha256:{sha256(front).hexdigest()}"
    assert json.loads(raw)["detail"] == odd
    assert holds(raw)


def test_a_line_with_one_bit_changed_does_not_hold() -> None:
    raw = stored("outcome", EXAMPLES["outcome"])
    assert holds(raw)
    for at in range(len(raw) - 1):
        changed = bytearray(raw)
        changed[at] ^= 1
        assert not holds(bytes(changed)), at


@pytest.mark.parametrize("raw", [b"", b"\n", b"{}\n", b'{"hash":"x"}', b'"hash":"sha256:"}' * 9])
def test_what_gives_no_hash_does_not_hold(raw: bytes) -> None:
    assert not holds(raw)


def test_ids_sort_by_time_and_are_never_the_same() -> None:
    ids = [new_id(n / 100) for n in range(1000)]
    assert ids == sorted(ids)
    assert len({new_id(0) for _ in range(1000)}) == 1000
    assert all(re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", one) for one in ids)
    assert new_id(1_796_040_000.0)[:10] == "01M8P570G0"


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_796_040_000.1239, "2026-11-30T12:00:00.123Z"),
        (4_102_444_800, "2100-01-01T00:00:00.000Z"),
    ],
)
def test_times_are_utc_with_milliseconds(now: float, text: str) -> None:
    assert timestamp(now) == text


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("text", "text"), (True, True), (None, None), (1, 1), (1.5, 1.5),
        (float("nan"), None), (float("inf"), None),
        (1 << 53, "9007199254740992"),
        (["a", {"b": 1}], '["a", {"b": 1}]'),
        ("x" * 70_000, "x" * 65_536),
        ("\ud800", "\ud800"),
    ],
)  # fmt: skip
def test_a_value_is_kept_as_a_scalar(value: Any, kept: Any) -> None:
    assert kept_value(value) == kept
    (entry,) = kept_entries([{"at": "", "intent": value}])
    raw = stored("decision", {**EXAMPLES["decision"], "entries": [entry]})
    assert json.loads(raw)["entries"] == [{"at": "", "intent": kept}]
    VALID.validate(json.loads(raw))
