"""JSON text of calls, read and written so that what remains is as it was spelt.

Numbers keep their spelling, keys their order; a key given twice is remembered; text nested too
deep for a parser is still read, down to one level past what is judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from tool_intent.runtime.arguments import (
    DEEPEST,
    LONGEST_NUMBER,
    DuplicateKeys,
    SpelledFloat,
    SpelledInt,
)

#: A line's own object and its `args` member stand above the arguments' first level.
_DEEPEST_READ = DEEPEST + 3
# Possessive, and content with a text that never ends: hostile text costs no more than its length.
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[\]{}]', re.DOTALL)


class NotJson(ValueError):
    """The text is no JSON; `str` says where and why, without echoing it."""


def parse(text: str) -> Any:
    """The value of a JSON text.

    NaN and Infinity are read, to be reported as ambiguous where they stand. Raises NotJson.
    """
    if text.count("[") + text.count("{") > _DEEPEST_READ:
        text = _pruned(text)
    try:
        value, end = _scan(text, 0)
        if not text[end:].strip(" \t\n\r"):
            return value
    except (StopIteration, RecursionError, ValueError):
        pass  # white space before it, or no JSON: the decoder reads it, or says what is wrong
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg.removesuffix(' at')} at column {error.pos + 1}") from None
    except (RecursionError, ValueError) as error:
        raise NotJson(type(error).__name__) from None


def dump(value: Any) -> str:
    """The JSON text of a value, in ASCII, numbers as they were spelt. NaN becomes null."""
    out: list[str] = []
    _write(value, out)
    return "".join(out)


def _integer(spelling: str) -> int:
    if len(spelling) <= LONGEST_NUMBER and spelling != "-0":
        return int(spelling)
    # Its value is never used where it has too many digits: that is refused.
    number = SpelledInt(0 if spelling == "-0" else 1 << 2_000)
    number.spelling = spelling
    return number


def _float(spelling: str) -> float:
    value = float(spelling)
    if repr(value) == spelling:
        return value
    number = SpelledFloat(value)
    number.spelling = spelling
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    repeated: list[str] = []
    for key, _ in pairs:
        if key in seen and key not in repeated:
            repeated.append(key)
        seen.add(key)
    twice = DuplicateKeys(members)
    twice.duplicates = tuple(repeated)
    return twice


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=float
)
_scan: Callable[[str, int], tuple[Any, int]] = vars(_DECODER)["scan_once"]
_string = json.encoder.encode_basestring_ascii
_CONSTANTS = {None: "null", True: "true", False: "false"}


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(_string(value))
    elif value is None or value is True or value is False:
        out.append(_CONSTANTS[value])
    elif isinstance(value, int | float):
        out.append(_number(value))
    elif isinstance(value, dict):
        before = "{"
        for key, member in value.items():
            out += (before, _string(key), ": ")
            _write(member, out)
            before = ", "
        out.append("{}" if before == "{" else "}")
    elif isinstance(value, list | tuple):
        before = "["
        for element in value:
            out.append(before)
            _write(element, out)
            before = ", "
        out.append("[]" if before == "[" else "]")
    else:
        raise TypeError(f"{type(value).__name__} is no JSON")


def _number(value: float) -> str:
    spelling = getattr(value, "spelling", None)
    if spelling is None:
        spelling = repr(value)
    return spelling if spelling[-1].isdigit() else "null"


def _pruned(text: str) -> str:
    """`text` with what lies deeper than `_DEEPEST_READ` replaced by null. Raises NotJson."""
    kept: list[str] = []
    depth = start = 0
    for match in _STRUCTURE.finditer(text):
        bracket = match.group()
        if bracket in "[{":
            depth += 1
            if depth == _DEEPEST_READ + 1:
                kept.append(text[start : match.start()])
        elif bracket in "]}":
            if depth == _DEEPEST_READ + 1:
                kept.append("null")
                start = match.end()
            depth -= 1
    if depth > _DEEPEST_READ:
        raise NotJson("it ends inside an object or list")
    kept.append(text[start:])
    return "".join(kept)
