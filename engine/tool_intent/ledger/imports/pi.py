"""Sessions of the pi coding agent, version 3: `~/.pi/agent/sessions/…/*.jsonl`.

All branches of a session are read: a call that was made was made, whatever came of its branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tool_intent.ledger.imports.model import (
    OUR_REFUSAL,
    NotASession,
    Result,
    Results,
    Row,
    Seen,
    blocks,
    words,
)
from tool_intent.ledger.members import Members, part, parts, text

_VERSION: Final = 3


def is_session(first: Mapping[str, Any]) -> bool:
    """Whether a file that begins so is a session of pi's."""
    return first.get("type") == "session" and "version" in first


def calls(rows: Sequence[Row]) -> Iterator[Seen]:
    """The calls of a session, in the order of its file. Raises NotASession."""
    head = rows[0].value
    if head.get("version") != _VERSION:
        raise NotASession(
            f"it is a session of pi's in version {head.get('version')!r} of its format, and"
            f" version {_VERSION} is read: open it with pi once, which writes it anew"
        )
    results = Results(
        (text(message, "toolCallId"), row.line, row)
        for row in rows
        if text(message := part(row.value, "message"), "role") == "toolResult"
    )
    for row in rows:
        message = part(row.value, "message")
        if text(message, "role") != "assistant":
            continue
        for block in blocks(message, "toolCall"):
            told = results.take(text(block, "id"), row.line)
            made = _call(row, head, message, block, told)
            yield made
            if told is not None:
                yield from _nested(made, told)


def _call(row: Row, head: Members, message: Members, block: Members, told: Row | None) -> Seen:
    provider, model = text(message, "provider"), text(message, "model")
    return Seen(
        line=row.line,
        ts=text(row.value, "timestamp"),
        session={
            "id": text(head, "id"),
            "agent": "pi",
            "model": f"{provider}/{model}" if provider and model else model,
        },
        call=text(block, "id"),
        tool=text(block, "name"),
        args=part(block, "arguments"),
        result=None if told is None else _result(told),
        cwd=text(head, "cwd"),
    )


def _result(row: Row) -> Result:
    message = part(row.value, "message")
    failed = message.get("isError") is True
    said = words(message.get("content"))
    return Result(text(row.value, "timestamp"), not failed, failed and OUR_REFUSAL in said)


def _nested(made: Seen, told: Row) -> Iterator[Seen]:
    """The calls that a script made, which only its result tells of."""
    nested = part(part(told.value, "message"), "nestedCalls")
    for call in parts(nested, "calls"):
        error = text(call, "error")
        yield Seen(
            line=told.line,
            ts=text(told.value, "timestamp"),
            session=made.session,
            call=text(call, "id"),
            tool=text(call, "name"),
            args=part(call, "arguments"),
            result=Result(text(told.value, "timestamp"), not error, OUR_REFUSAL in error),
            parent=made.call,
            cwd=made.cwd,
        )
