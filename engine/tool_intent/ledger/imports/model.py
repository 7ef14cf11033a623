"""A call as a session of an agent tells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class NotASession(ValueError):
    """The file is no session that can be read; the text says why, and of what a session is."""


class Row(NamedTuple):
    """A line of a file: its number, from 1, and the object that it holds."""

    line: int
    value: Mapping[str, Any]


class Content(NamedTuple):
    """A file before and after a call; None where there was none."""

    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call: when, whether its tool did its work, whether somebody refused it."""

    ts: str
    ok: bool
    refused: bool = False
    files: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A call: its line, when it was made, by whom, with which arguments. `own` are arguments of
    the tool's that say why, beside the fields that tool-intent asks for."""

    line: int
    ts: str
    session: Mapping[str, str]
    call: str
    tool: str
    args: Mapping[str, Any]
    result: Result | None = None
    parent: str = ""
    cwd: str = ""
    branch: str = ""
    own: tuple[str, ...] = field(default=())


class Results:
    """Results by the ids of their calls, in the order of a file. Hosts give one id to several calls
    now and then: each result is taken once, by the first call before it that asks."""

    def __init__(self, found: Iterable[tuple[str, int, Any]]) -> None:
        """`found` are an id, a line and a result each."""
        self._waiting: dict[str, list[tuple[int, Any]]] = {}
        for call, line, result in found:
            self._waiting.setdefault(call, []).append((line, result))

    def take(self, id: str, line: int) -> Any:
        """The result of a call at a line; None where there is none."""
        waiting = self._waiting.get(id, [])
        after = next((one for one in waiting if one[0] > line), None)
        if after is None:
            return None
        waiting.remove(after)
        return after[1]


#: What begins a refusal of ours; the model and the session get it word for word.
OUR_REFUSAL = "tool-intent denied this"


def blocks(message: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    """The blocks of one type in a message's content."""
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind:
            yield block


def words(content: Any) -> str:
    """The text of a content: itself, or that of its blocks."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(str(b["text"]) for b in parts if isinstance(b, dict) and "text" in b)
