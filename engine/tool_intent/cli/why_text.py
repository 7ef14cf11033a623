"""Why lines are there, told to people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rich.text import Text

from tool_intent.cli.terminal import visible
from tool_intent.ledger.answering import Answer, Said, reasons
from tool_intent.ledger.attribution.hops import Author
from tool_intent.ledger.attribution.runs import Run

_STYLES: Final = {
    "exact": "green", "reformatted": "green", "moved": "green", "edited-after": "yellow",
    "untracked": "dim",
}  # fmt: skip
_NOBODY: Final = {
    "edited-after": "changed since by somebody who is not recorded",
    "untracked": "nobody is recorded who wrote this",
}
#: Earlier calls that are shown of a place.
_MOST_EARLIER: Final = 5
#: Characters of a reason in one line.
_LONGEST: Final = 160


def told(answer: Answer) -> Iterator[Text]:
    """The runs of an answer, a paragraph each. A call's reasons are told at its first run."""
    first: dict[Author, str] = {}
    for run in answer.runs:
        lines = str(run.start) if run.start == run.end else f"{run.start}-{run.end}"
        yield _head(run, lines, answer.calls)
        if run.by is not None and run.by in first:
            yield _detail(f"by the call of {first[run.by]}, above")
        elif run.by is not None:
            first[run.by] = "line " + lines if run.start == run.end else "lines " + lines
            for reason in reasons(answer.calls.get(run.by.call, {}), run.by):
                yield from (_detail(text) for text in _fields(reason))
        for author in run.earlier[:_MOST_EARLIER]:
            yield _detail(_earlier(answer.calls.get(author.call, {}), author), style="dim")
        if len(run.earlier) > _MOST_EARLIER:
            yield _detail(f"and {len(run.earlier) - _MOST_EARLIER} calls before", style="dim")


def _head(run: Run, lines: str, calls: dict[str, Said]) -> Text:
    text = Text(f"{lines:<9} ")
    text.append(f"{run.state:<13}", style=_STYLES[run.state])
    by = _NOBODY.get(run.state, "") if run.by is None else _named(calls.get(run.by.call), run.by)
    return text.append(one_line(by))


def _named(said: Said | None, author: Author) -> str:
    """A call in a few words."""
    if said is None:
        return f"call {author.call}, whose record is gone"
    agent = "/".join(str(said[name]) for name in ("agent", "model") if name in said)
    session = f"session {said['session']}" if said.get("session") else ""
    parts = [said.get("tool"), said.get("ts"), agent, session]
    label = "  ".join(str(part) for part in parts if part)
    return f"{label}  (sealed)" if said.get("sealed") is True else label


def _fields(entry: dict[str, Any]) -> Iterator[str]:
    at = entry.get("at")
    place = f"{at} " if isinstance(at, str) and at else ""
    for name, value in entry.items():
        if name != "at":
            yield f"{place}{name}: {value}"


def _earlier(said: Said, author: Author) -> str:
    fields = [field for entry in reasons(said, author) for field in _fields(entry)]
    goals = [field for field in fields if field.rpartition("intent: ")[1]]
    why = (goals or fields or [""])[0]
    return f"before: {_named(said or None, author)}{': ' if why else ''}{why}"


def _detail(text: str, style: str = "") -> Text:
    return Text(" " * 10 + one_line(text), style=style)


def one_line(text: str) -> str:
    """A text that a model wrote, in one line: what would move the cursor, hide or begin another
    line is written out."""
    shown = visible(text.replace("\n", " ⏎ "))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
