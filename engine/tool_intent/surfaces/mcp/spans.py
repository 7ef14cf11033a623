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
_KEY = r'[ \t\n\r]*"([^"\\]*+(?:\\.[^"\\]*+)*+)"[ \t\n\r]*:[ \t\n\r]*'
#: From behind an object's bracket, or a member's value, to the value that follows.
_first = re.compile(_KEY).match
_next = re.compile(rf"[ \t\n\r]*,{_KEY}").match
#: Stands for what is not to be cut: None stands for what is.
_KEPT: Any = object()

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
    found = _first(text, at + 1)
    while found is not None:
        key, start, value = _read(text, found)
        try:
            _, end = _scan_value(text, value)
        except (ValueError, StopIteration, RecursionError):
            return
        yield Member(key, start, value, end)
        found = _next(text, end)


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


def _collect(text: str, at: int, cuts: Mapping[Any, Any], gone: list[tuple[int, int]]) -> int:
    """Add the spans to delete from the object or list at `at`, in the order of the text; returns
    where it ends, but for white space and its bracket."""
    if text[at] == "[":
        return _collect_elements(text, at, cuts, gone)
    kept_until, pending = -1, -1
    end = at + 1
    found = _first(text, end)
    while found is not None:
        key, start, value = _read(text, found)
        inner = cuts.get(key, _KEPT)
        if inner is None:
            pending = start if pending < 0 else pending
            end = _end(text, value)
        else:
            if pending >= 0:
                gone.append((pending, start))
                pending = -1
            end = _end(text, value) if inner is _KEPT else _closed(text, value, inner, gone)
            kept_until = end
        found = _next(text, end)
    if pending >= 0:  # the last members go: so does the comma before them
        gone.append((kept_until if kept_until >= 0 else pending, end))
    return end


def _collect_elements(
    text: str, at: int, cuts: Mapping[Any, Any], gone: list[tuple[int, int]]
) -> int:
    end, n = at + 1, 0
    start = _skipped(text, end)
    while not text.startswith("]", start):
        end = _closed(text, start, cuts[n], gone) if n in cuts else _end(text, start)
        n += 1
        start = _skipped(text, end)
        if text.startswith(",", start):
            start = _skipped(text, start + 1)
    return end


def _closed(text: str, at: int, cuts: Mapping[Any, Any], gone: list[tuple[int, int]]) -> int:
    """`_collect`; returns where the value ends, its bracket included."""
    return _skipped(text, _collect(text, at, cuts, gone)) + 1


def _end(text: str, at: int) -> int:
    return _scan_value(text, at)[1]


def _read(text: str, found: re.Match[str]) -> tuple[str, int, int]:
    """A member's key, where that starts, and where its value does."""
    key = found[1]
    start = found.start(1)
    if "\\" in key:
        key = _scan_string(text, start, True)[0]
    return key, start - 1, found.end()


def _skipped(text: str, at: int) -> int:
    if text[at : at + 1] not in _WHITE:
        return at
    match = _SPACE.match(text, at)
    return at if match is None else match.end()
