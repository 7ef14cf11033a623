"""Transcripts of Claude Code: `~/.claude/projects/…/*.jsonl`.

Its tools `Write` and `Edit` tell what a file held before, so that these calls have their changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tool_intent.ledger.imports.model import (
    OUR_REFUSAL,
    Content,
    Result,
    Results,
    Row,
    Seen,
    blocks,
    words,
)
from tool_intent.ledger.members import Members, part, text

#: What the agent tells the model where a person, or a hook of theirs, refused a call.
_REFUSALS: Final = ("The user doesn't want to proceed with this tool use", OUR_REFUSAL)
#: Arguments of its own tools that say what a call is for.
_OWN: Final = ("description",)


def is_session(rows: Sequence[Row]) -> bool:
    """Whether these rows are a transcript of Claude Code's."""
    return any(
        "sessionId" in row.value and row.value.get("type") in ("user", "assistant") for row in rows
    )


def calls(rows: Sequence[Row]) -> Iterator[Seen]:
    """The calls of a transcript, in the order of its file."""
    results = Results(
        (text(block, "tool_use_id"), row.line, _result(row.value, block))
        for row in rows
        if row.value.get("type") == "user"
        for block in blocks(part(row.value, "message"), "tool_result")
    )
    for row in rows:
        message = part(row.value, "message")
        if row.value.get("type") != "assistant":
            continue
        for block in blocks(message, "tool_use"):
            yield Seen(
                line=row.line,
                ts=text(row.value, "timestamp"),
                session=_session(row.value, message),
                call=text(block, "id"),
                tool=text(block, "name"),
                args=part(block, "input"),
                result=results.take(text(block, "id"), row.line),
                cwd=text(row.value, "cwd"),
                branch=text(row.value, "gitBranch"),
                own=_OWN,
            )


def _session(row: Mapping[str, Any], message: Members) -> dict[str, str]:
    session = {
        "id": text(row, "sessionId"),
        "agent": "claude-code",
        "agent_version": text(row, "version"),
        "model": text(message, "model"),
    }
    side = text(row, "agentId")
    if row.get("isSidechain") is True and side:
        session |= {"id": side, "parent": session["id"]}
    return session


def _result(row: Mapping[str, Any], block: Members) -> Result:
    failed = block.get("is_error") is True
    said = words(block.get("content"))
    refused = failed and any(refusal in said for refusal in _REFUSALS)
    files = () if failed else _files(part(row, "toolUseResult"))
    return Result(text(row, "timestamp"), not failed, refused, files)


def _files(told: Members) -> tuple[Content, ...]:
    """What the tools for files say that they did; nothing where they do not say it all."""
    path, before = text(told, "filePath"), told.get("originalFile")
    if not path or not (before is None or isinstance(before, str)):
        return ()
    content, old, new = (told.get(key) for key in ("content", "oldString", "newString"))
    if told.get("type") in ("create", "update") and isinstance(content, str):
        after = content
    elif isinstance(old, str) and isinstance(new, str) and before is not None and old in before:
        after = before.replace(old, new, -1 if told.get("replaceAll") is True else 1)
    else:
        return ()
    return (Content(path, None if before is None else _bytes(before), _bytes(after)),)


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "replace")
