"""Ledgers on disk, as they are written, of calls that a test makes up."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tool_intent.ledger.chain import GENESIS, line
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.records import Kind, framed, new_id, timestamp, without_absent

#: 2026-11-30T09:00:00Z, in seconds since the epoch.
MORNING = 1_796_029_200.0

Said = dict[str, Any]


class Ledger:
    """A ledger in `folder`. Each record is written `pace` seconds after the one before."""

    def __init__(self, folder: Path, *, pace: float = 37.0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.objects = ObjectStore(str(folder))
        self.contents: dict[str, bytes | None] = {}
        self._segment = folder / "ledger-2026-11-30-001.jsonl"
        self._now, self._pace = MORNING, pace
        self._seq, self._prev = 0, GENESIS
        self.append("header", {"segment": self._segment.name})

    def append(self, kind: Kind, body: dict[str, Any]) -> str:
        self._seq += 1
        self._now += self._pace
        record = framed(kind, self._seq, new_id(self._now), timestamp(self._now), self._prev, body)
        raw, self._prev = line(record)
        with self._segment.open("ab") as file:
            file.write(raw)
        return str(record["id"])

    def decide(
        self,
        tool: str,
        verdict: str = "allow",
        *,
        reasons: list[Said] | None = None,
        rules: list[Said] | None = None,
        path: str | None = None,
        command: str | None = None,
        session: str = "7f3a91c2",
        executed: str = "",
        mended: str | None = None,
        **more: Any,
    ) -> str:
        """A decision; its record's id."""
        action = {"kind": "exec" if command else "write", "path": path, "command": command}
        target = without_absent({"path": path, "command": command})
        named = executed or f"{tool} {target!a}"
        digest = hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()
        held = [{"path": path, "pre": self._blob(path)}] if path and tool != "read" else None
        body = {
            "session": {"id": session, "agent": "pi", "model": "anthropic/claude-opus-4-5"},
            "actor": {"repo": "payments", "worktree": "/home/ann/payments", "branch": "main"},
            "call": {"id": f"call_{self._seq}", "tool": tool, "surface": "pi"},
            "entries": reasons,
            "actions": [without_absent(action)] if target else None,
            "args": {"executed": f"sha256:{digest}", "kept": target},
            "decision": without_absent(
                {"verdict": verdict, "rules": rules, "policy": "sha256:" + "2c" * 32,
                 "mended": mended}
            ),
            "files": held,
            **more,
        }  # fmt: skip
        return self.append("decision", without_absent(body))

    def carry_out(
        self, of: str, content: dict[str, bytes | None] | None = None, *, ok: bool = True,
        entries: list[str] | None = None,
    ) -> None:  # fmt: skip
        """The outcome of a decision; `content` is what it left in files, None for no file."""
        files = []
        for path, after in (content or {}).items():
            file = {"path": path, "pre": self._blob(path)}
            self.change(path, after)
            file["post"] = self._blob(path)
            files.append(file | ({"entries": entries} if entries else {}))
        self.append("outcome", without_absent({"of": of, "ok": ok, "files": files}))

    def change(self, path: str, after: bytes | None) -> None:
        """Change a file without a record."""
        self.contents[path] = after

    def _blob(self, path: str) -> str | None:
        content = self.contents.get(path)
        return None if content is None else self.objects.put(content)


def finding(rule: str, effect: str, at: str = "/rationale", **more: Any) -> Said:
    return {"id": rule, "effect": effect, "at": at, "origin": ".tool-intent/policy.yaml:12", **more}


def call(intent: str = "", rationale: str = "", at: str = "", **more: Any) -> Said:
    return {"at": at, **without_absent({"intent": intent, "rationale": rationale}), **more}
