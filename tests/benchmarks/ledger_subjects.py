"""What a record costs, beside a plain append of the same; and what a question costs."""

from __future__ import annotations

import atexit
import json
import os
from pathlib import Path
from time import time
from typing import Any, Final

from measure import Subject, over

from tool_intent import Guard
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.chain import line
from tool_intent.ledger.index import Index
from tool_intent.ledger.queries import Wanted
from tool_intent.ledger.recording import LedgerRecorder
from tool_intent.ledger.records import framed, new_id, timestamp

_TIMES: Final = 200
_SMALL, _LARGE = 2_000, 100_000
_ZEROS: Final = "sha256:" + "0" * 64
#: A decision as pi records one.
BODY: Final[dict[str, Any]] = {
    "session": {"id": "7f3a91", "agent": "pi", "model": "m-1"},
    "actor": {
        "user": "5e884898da280471", "repo": "payments", "worktree": "/home/ann/payments",
        "branch": "main", "head": "0c5d3f2ac7e2a5a0b7a0a6d0d2a9d5b14a1f0e9b",
    },
    "call": {"id": "call_7", "tool": "edit", "surface": "pi"},
    "entries": [
        {"at": "/edits/0", "intent": "Refuse expired sessions",
         "rationale": "#412: login() reads the session before it checks the date."}
    ],
    "actions": [{"kind": "write", "path": "src/login.py"}],
    "args": {"original": _ZEROS, "executed": _ZEROS, "kept": {"path": "src/login.py"}},
    "decision": {"verdict": "allow", "policy": _ZEROS},
    "files": [{"path": "src/login.py", "pre": "257cc5642cb1a054f08cc83f2d943e56fd3ebe99"}],
}  # fmt: skip


def subjects(folder: Path) -> dict[str, Subject]:
    """Appends, chained and plain; and the same question to a small and a large ledger."""
    folder.mkdir(exist_ok=True)
    appender = Appender(str(folder / "ledger"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    plain = os.open(folder / "plain.jsonl", flags, 0o600)
    atexit.register(os.close, plain)
    encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode

    def write(seq: int) -> None:
        """The same line without a chain and without a lock."""
        now = time()
        record = framed("decision", seq, new_id(now), timestamp(now), _ZEROS, BODY)
        record["hash"] = _ZEROS
        os.write(plain, encode(record).encode() + b"\n")

    def chain(_: int) -> None:
        appender.append("decision", BODY)

    recorded = _recorded(folder / "calls")
    return {
        **recorded,
        "append plain": over(write, range(_TIMES)),
        "append chained": over(chain, range(_TIMES)),
        "log of 2,000": _asking(folder / "small", _SMALL),
        "log of 100,000": _asking(folder / "large", _LARGE),
    }


def _recorded(folder: Path) -> dict[str, Subject]:
    """Calls that are judged and recorded, and change nothing: of a tool that names a file, and of
    shells whose command names none, and one."""
    (folder / ".git" / "objects").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "policy.yaml").write_text("version: 1\nextends: std/baseline\n")
    (folder / "file.py").write_text("value = 1\n" * 200)
    recorder = LedgerRecorder("python", str(folder), {})
    guard = Guard.load(str(folder / "policy.yaml"), cwd=str(folder), recorder=recorder)
    why = {"intent": "See what is there", "rationale": "#412 names no file."}

    def calling(tool: str, args: dict[str, str]) -> Subject:
        return over(lambda one: guard.call(tool, one, lambda _: None), [args | why] * _TIMES)

    return {
        "record write": calling("write", {"path": "file.py", "content": ""}),
        "record ls": calling("bash", {"command": "ls"}),
        "record sed": calling("bash", {"command": "sed -i s/a/b/ file.py"}),
    }


def _asking(folder: Path, number: int) -> Subject:
    """The newest twenty of what one session did, of a ledger of so many decisions."""
    fill(folder, number)
    index = Index(str(folder))
    atexit.register(index.close)
    wanted = Wanted(session="wanted")

    def ask() -> None:
        found = list(index.entries(wanted, 20))
        assert len(found) == 20

    return Subject(ask, 5)


def fill(folder: Path, number: int) -> None:
    """A ledger of so many decisions, forty of them of the session `wanted`."""
    folder.mkdir()
    head, every = _ZEROS, max(number // 40, 1)
    with (folder / "ledger-2026-11-30-001.jsonl").open("wb") as file:
        for n in range(number):
            session = "wanted" if n % every == 0 else f"s{n % 97}"
            body = BODY | {"session": {"id": session}}
            record = framed(
                "decision", n + 1, new_id(n), timestamp(1_796_000_000 + n / 50), head, body
            )
            text, head = line(record)
            file.write(text)
