"""A line of `decide`'s input: a call, or what came of one."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from tool_intent.runtime.arguments import DuplicateKeys
from tool_intent.runtime.model import Call
from tool_intent.runtime.pointer import quoted
from tool_intent.runtime.wire import NotJson, parse

_CALL_KEYS = ("id", "tool", "args", "context", "session", "schema")
_OUTCOME_KEYS = ("id", "outcome", "session", "result")
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class LineError(Exception):
    """A line that is no call. `code` is stable; `message` says what was expected."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class OutcomeLine(NamedTuple):
    """What came of the call with this id, and what its result said, if that is told."""

    id: Any
    ok: bool
    session: str | None
    result: str | None = None


def read_line(line: bytes, number: int) -> Call | OutcomeLine:
    """The call or outcome on one line; a call without an id gets the line's `number`.

    Raises LineError: `input/not-json` (also for text that is not UTF-8 without a byte-order mark),
    `input/not-a-call`, `input/unknown-key`.
    """
    value = _json(line)
    if not isinstance(value, dict):
        raise LineError("input/not-a-call", "a call is a JSON object")
    if isinstance(value, DuplicateKeys):
        raise LineError("input/not-a-call", f"{quoted(value.duplicates[0])} is given twice")
    if "outcome" in value and "tool" not in value:
        return _outcome(value)
    _expect_keys(value, _CALL_KEYS)
    tool = value.get("tool")
    if not isinstance(tool, str) or not tool:
        raise LineError("input/not-a-call", "`tool` must be the tool's name")
    session = _optional(value, "session", str, "text")
    context = _optional(value, "context", dict, "an object")
    schema = _optional(value, "schema", dict, "an object")
    args = value.get("args", {})
    return Call(_id(value, number), tool, args, context, session, None, schema)


def _json(line: bytes) -> Any:
    if line.startswith(_BYTE_ORDER_MARKS):
        raise LineError("input/not-json", "a byte-order mark: send UTF-8 without one")
    try:
        return parse(line.decode("utf-8").rstrip("\r\n"))
    except UnicodeDecodeError as error:
        raise LineError("input/not-json", f"not UTF-8 at byte {error.start + 1}") from None
    except NotJson as error:
        raise LineError("input/not-json", f"not JSON: {error}") from None


def _outcome(value: dict[str, Any]) -> OutcomeLine:
    _expect_keys(value, _OUTCOME_KEYS)
    if "id" not in value:
        raise LineError("input/not-a-call", "an outcome names the `id` of its call")
    if value["outcome"] not in ("ok", "error"):
        raise LineError("input/not-a-call", '`outcome` must be "ok" or "error"')
    session = _optional(value, "session", str, "text")
    result = _optional(value, "result", str, "text")
    return OutcomeLine(_id(value, 0), value["outcome"] == "ok", session, result)


def _expect_keys(value: dict[str, Any], known: tuple[str, ...]) -> None:
    unknown = next((k for k in value if k not in known), None)
    if unknown is not None:
        from difflib import get_close_matches

        near = get_close_matches(unknown, known, n=1)
        meant = f"; did you mean `{near[0]}`?" if near else f"; known are {', '.join(known)}"
        raise LineError("input/unknown-key", f"unknown key {quoted(unknown)}{meant}")


def _id(value: dict[str, Any], number: int) -> Any:
    if "id" not in value:
        return number
    given = value["id"]
    # NaN and Infinity are no JSON; a number too large for a float keeps its spelling.
    unspeakable = given.__class__ is float and not isfinite(given)
    if unspeakable or isinstance(given, dict | list):
        raise LineError("input/not-a-call", "`id` must be text, a number, a boolean or null")
    return given


def _optional(value: dict[str, Any], key: str, kind: type, expected: str) -> Any:
    given = value.get(key)
    if given is not None and not isinstance(given, kind):
        raise LineError("input/not-a-call", f"`{key}` must be {expected}")
    return given
