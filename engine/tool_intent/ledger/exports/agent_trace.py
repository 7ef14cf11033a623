"""Agent Trace 0.1.0: which lines of a commit are whose, for other programs to read.

https://github.com/cursor/agent-trace
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID, uuid5

from tool_intent.__about__ import __version__
from tool_intent.ledger.answering import Answer, Said, reasons
from tool_intent.ledger.attribution.hops import Author
from tool_intent.ledger.attribution.runs import Run

VERSION: Final = "0.1.0"
#: The key of what the format has no place for, under `metadata`.
KEY: Final = "dev.tool-intent"
_NAMESPACE: Final = UUID("a9f7e0f4-5b0c-5d1e-9a53-1f5b6b0d6c11")
#: Characters of a model's id that the format allows.
_LONGEST_MODEL: Final = 250


def agent_trace(answers: Mapping[str, Answer], commit: str) -> dict[str, Any] | None:
    """The trace record of a commit: for each of its files, by path, whose its lines are.

    Lines that somebody unrecorded changed after a call are `mixed`; untracked ones are left out.
    Reasons stand under `metadata`, by `path#first-last`. None where no line is a call's.
    """
    files: list[dict[str, Any]] = []
    told: dict[str, Any] = {}
    stamps: list[str] = []
    for path, answer in answers.items():
        conversations: dict[tuple[str, str], dict[str, Any]] = {}
        for run in answer.runs:
            author = run.by if run.by is not None else next(iter(run.earlier), None)
            said = None if author is None else answer.calls.get(author.call)
            if author is None or said is None:
                continue
            stamps.append(str(said.get("ts", "")))
            talk = _conversation(conversations, said)
            talk["ranges"].append(_range(answer.text, run))
            record = {"type": "tool-intent.record", "url": f"urn:tool-intent:record:{author.call}"}
            if record not in talk["related"]:
                talk["related"].append(record)
            told[f"{path}#{run.start}-{run.end}"] = _told(run, author, said)
        if conversations:
            files.append({"path": path, "conversations": list(conversations.values())})
    if not files:
        return None
    return {
        "version": VERSION,
        "id": str(uuid5(_NAMESPACE, f"{commit}\0{sorted(told)}\0{max(stamps)}")),
        "timestamp": max(stamps),
        "vcs": {"type": "git", "revision": commit},
        "tool": {"name": "tool-intent", "version": __version__},
        "files": files,
        "metadata": {KEY: {"ranges": told}},
    }


def _conversation(
    conversations: dict[tuple[str, str], dict[str, Any]], said: Said
) -> dict[str, Any]:
    session, model = str(said.get("session", "")), str(said.get("model", ""))
    known = conversations.get((session, model))
    if known is None:
        url = f"urn:tool-intent:session:{quote(session, safe='', errors='replace')}"
        contributor = {"type": "ai"}
        if model and len(model) <= _LONGEST_MODEL:
            contributor["model_id"] = model
        known = {"contributor": contributor, "ranges": [], "related": []}
        known = ({"url": url} if session else {}) | known
        conversations[session, model] = known
    return known


def _range(text: bytes, run: Run) -> dict[str, Any]:
    lines = b"".join(_lines(text)[run.start - 1 : run.end])
    mixed = {"contributor": {"type": "mixed"}} if run.by is None else {}
    return {
        "start_line": run.start,
        "end_line": run.end,
        "content_hash": f"sha256:{sha256(lines).hexdigest()}",
        **mixed,
    }


def _told(run: Run, author: Author, said: Said) -> dict[str, Any]:
    return {"call": author.call, "state": run.state, "reasons": reasons(said, author)}


def _lines(text: bytes) -> list[bytes]:
    """The lines with their ends, as git counts them: only a line feed ends one."""
    return [line + b"\n" for line in text.split(b"\n")[:-1]] + text.split(b"\n")[-1:]
