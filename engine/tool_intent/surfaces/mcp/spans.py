"""Members cut out of JSON text, so that every other byte of it stays as it was."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

_Scan: TypeAlias = Callable[[str, int], tuple[Any, int]]
_scan_value: _Scan = vars(json.JSONDecoder())["scan_once"]
_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(json.decoder)["scanstring"]
_WHITE = " \t\n\r"
_SPACE = re.compile(r"[ \t\n\r]*")

#: What to cut below a value: by member name or index, None for the whole member.
Cuts: TypeAlias = "dict[str | int, Cuts | None]"


class Member(NamedTuple):
    """A member of an object: its key, where the key starts, where its value starts and ends."""

    key: str
    start: int
    value: int
    end: int


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object that starts at `at`, in order; ends where the text is no JSON."""
    return map(Member._make, _members(text, at))


def _members(text: str, at: int) -> Iterator[tuple[str, int, int, int]]:
    """The same as plain tuples: this runs for every call."""
    at = _skipped(text, at + 1)
    while text.startswith('"', at):
        start = at
        try:
            key, at = _scan_string(text, at + 1, True)
            at = _skipped(text, _skipped(text, at) + 1)  # the colon is there: the text was parsed
            _, end = _scan_value(text, at)
        except (ValueError, StopIteration, RecursionError):
            return
        yield key, start, at, end
        at = _skipped(text, end)
        if not text.startswith(",", at):
            return
        at = _skipped(text, at + 1)


def cut(text: str, cuts: Cuts) -> str:
    """`text`, one JSON object, without the members that `cuts` names."""
    if not cuts:
        return text
    gone: list[tuple[int, int]] = []
    _collect(text, _skipped(text, 0), cuts, gone)
    kept, at = [], 0
    for start, end in gone:
        kept.append(text[at:start])
        at = end
    kept.append(text[at:])
    return "".join(kept)


def removals(given: Any, kept: Any) -> Cuts:
    """What has to be cut from `given` for `kept`, a copy of it less some members."""
    cuts: Cuts = {}
    if isinstance(given, dict):
        for key, value in given.items():
            if key not in kept:
                cuts[key] = None
            elif isinstance(value, dict | list):
                below = removals(value, kept[key])
                if below:
                    cuts[key] = below
    elif isinstance(given, list):
        for n, (value, other) in enumerate(zip(given, kept, strict=True)):
            below = removals(value, other) if isinstance(value, dict | list) else {}
            if below:
                cuts[n] = below
    return cuts


def below(path: Sequence[str], cuts: Cuts) -> Cuts:
    """`cuts` at the end of a path of member names; none where there are none."""
    for name in reversed(path) if cuts else ():
        cuts = {name: cuts}
    return cuts


def _collect(text: str, at: int, cuts: Mapping[Any, Any], gone: list[tuple[int, int]]) -> None:
    """Add the spans to delete from the object or list at `at`, in the order of the text."""
    if text[at] == "[":
        for n, start in enumerate(_elements(text, at)):
            if n in cuts:
                _collect(text, start, cuts[n], gone)
        return
    kept_until, pending = -1, -1
    last = at + 1
    for key, start, value, last in _members(text, at):
        if key in cuts and cuts[key] is None:
            pending = start if pending < 0 else pending
            continue
        if pending >= 0:
            gone.append((pending, start))
            pending = -1
        if key in cuts:
            _collect(text, value, cuts[key], gone)
        kept_until = last
    if pending >= 0:  # the last members go: so does the comma before them
        gone.append((kept_until if kept_until >= 0 else pending, last))


def _elements(text: str, at: int) -> Iterator[int]:
    at = _skipped(text, at + 1)
    while not text.startswith("]", at):
        yield at
        at = _skipped(text, _scan_value(text, at)[1])
        if text.startswith(",", at):
            at = _skipped(text, at + 1)


def _skipped(text: str, at: int) -> int:
    if text[at : at + 1] not in _WHITE:
        return at
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
