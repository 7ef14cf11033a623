"""What the parser's refusal means: the usual slips, as data in `slips.toml`, and a plain answer
for all others."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from tool_intent.rules.diagnostics import nearest

#: A recogniser sees so many characters on either side of the place where the parser stopped.
REACH: Final = 300

_FILLED = re.compile(r"\$\{(\w+)(?:\|(\w+))?\}")
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FILTERS: dict[str, Callable[[str], str]] = {
    "flipped": _FLIPPED.__getitem__,
    "hundredth": lambda number: f"{int(number) / 100:g}",
    "initial": lambda word: word[:1],
}
_VALUE = frozenset({
    "STRING", "NUMBER", "DURATION", "REGEX", "QUANT", "EARLIER", "TRUE", "FALSE", "LSQB", "LPAR",
    "NAME",
})  # fmt: skip
#: The words that begin a line, and the first word of a line where it is no part of a path or call.
_CLAUSES: Final = (
    "rule", "words", "define", "option", "on", "each", "when", "unless", "require", "forbid",
    "else", "floor", "fix", "see", "bad", "ok", "after", "and", "or",
)  # fmt: skip
_FIRST: Final = re.compile(r"[ \t]*([A-Za-z]\w{2,})(?![\w.\[(])")
_OPERATOR = frozenset({"CMP", "IN", "NOT", "NAME", "DOT", "LSQB", "LPAR"})


@dataclass(frozen=True, slots=True)
class Slip:
    """One entry of `slips.toml`."""

    before: re.Pattern[str] | None
    here: re.Pattern[str] | None
    expects: frozenset[str]
    message: str
    help: str


@dataclass(frozen=True, slots=True)
class Explained:
    """Where an error is shown (`start` and `end` are offsets into the text) and what it says."""

    start: int
    end: int
    message: str
    help: str


def explain(text: str, stop: int, accepted: frozenset[str]) -> Explained:
    """Say why the parser stopped at offset `stop` of `text`, where the grammar would have taken
    one of the terminals in `accepted`."""
    for slip in _table()[0]:
        found = _match(slip, text, stop, accepted)
        if found is not None:
            return found
    return _clause(text, stop) or Explained(
        stop, _word_end(text, stop), _unexpected(text, stop), _expected(accepted)
    )


def _clause(text: str, stop: int) -> Explained | None:
    """A word that begins the line and is nearly one of the language."""
    first = _FIRST.match(text, text.rfind("\n", 0, stop) + 1)
    if first is None or first[1] in _CLAUSES or first.start(1) > stop:
        return None
    near = nearest(first[1], _CLAUSES)
    if near is None:
        return None
    message = f"`{first[1]}` does not belong here"
    return Explained(first.start(1), first.end(1), message, f"did you mean `{near}`?")


def _match(slip: Slip, text: str, stop: int, accepted: frozenset[str]) -> Explained | None:
    if slip.expects and not slip.expects & accepted:
        return None
    start, groups = stop, dict[str, str]()
    if slip.here is not None:
        here = slip.here.match(text, stop, min(len(text), stop + REACH))
        if here is None:
            return None
        groups |= here.groupdict("")
    if slip.before is not None:
        window = text[max(0, stop - REACH) : stop]
        before = slip.before.search(window)
        if before is None:
            return None
        groups |= before.groupdict("")
        if "at" in groups:
            start = stop - len(window) + before.start("at")
    return Explained(
        start, _word_end(text, start), _fill(slip.message, groups), _fill(slip.help, groups)
    )


def _fill(template: str, groups: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name, filtered = match.groups()
        return _FILTERS[filtered](groups[name]) if filtered else groups[name]

    return _FILLED.sub(value, template)


def _word_end(text: str, start: int) -> int:
    found = re.compile(r"[\w-]+|[^\w\s]|\Z").match(text, start)
    return found.end() if found else start + 1


def _unexpected(text: str, stop: int) -> str:
    if stop >= len(text):
        return "the text ends too early"
    shown = text[stop : _word_end(text, stop)][:40]
    if not shown.isprintable():
        return f"the character U+{ord(shown[0]):04X} does not belong here"
    if shown.isalpha() and not shown.isascii() and any("a" <= c.lower() <= "z" for c in shown):
        odd = next(c for c in shown if not c.isascii())
        return f"`{shown}` does not belong here: it holds the letter U+{ord(odd):04X}"
    return f"`{shown}` does not belong here"


def _expected(accepted: frozenset[str]) -> str:
    """The accepted terminals in words, values and operators each summed up in one."""
    rest, told = set(accepted), []
    if {"STRING", "REGEX", "QUANT"} <= rest:
        told.append("a condition" if "HAS" in rest else "a value")
        rest -= _VALUE | {"HAS", "NOT"}
    if "CMP" in rest:
        told.append("an operator")
        rest -= _OPERATOR
    named = _table()[1]
    told += dict.fromkeys(named[t] for t in named if t in rest)
    told += [f"`{t.lower()}`" for t in sorted(rest - named.keys())]
    if not told:
        return ""
    return "expected " + (", ".join(told[:-1]) + " or " if told[1:] else "") + told[-1]


@cache
def _table() -> tuple[tuple[Slip, ...], dict[str, str]]:
    data: dict[str, Any] = tomllib.loads(
        files(__package__).joinpath("slips.toml").read_text(encoding="utf-8")
    )
    return tuple(_slip(entry) for entry in data["slip"]), data["terminals"]


def _slip(entry: dict[str, Any]) -> Slip:
    before, here = entry.get("before"), entry.get("here")
    return Slip(
        before=re.compile(rf"(?:{before})\Z") if before is not None else None,
        here=re.compile(here) if here is not None else None,
        expects=frozenset(entry.get("expects", ())),
        message=entry["message"],
        help=entry["help"],
    )
