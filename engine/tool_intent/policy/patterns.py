"""Whether a pattern is one that RE2 runs; if not, what to write instead."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Largest count in a repetition that RE2 compiles.
LARGEST_COUNT: Final = 1000

_ESCAPED = re.compile(r"\\(.)|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]", re.S)
_COUNT = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_SINGLE_ESCAPES: Final = {
    "Z": ("`\\Z` is not RE2's", "write `\\z` or `$`, the end of the text"),
    "G": ("`\\G` is not RE2's", "write `^`"),
    "K": ("`\\K` is not RE2's", "remove it"),
    "R": ("`\\R` is not RE2's", "write `\\r?\\n`"),
    "h": ("`\\h` is not RE2's", "write `[ \\t]`"),
    "u": ("`\\u` is not RE2's", "write `\\x{…}`"),
}


class PatternFault(NamedTuple):
    """Why RE2 refuses a pattern, and what to write."""

    message: str
    help: str


def pattern_fault(pattern: str) -> PatternFault | None:
    """What is wrong with an RE2 pattern, or None. Nothing is printed."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        return _explained(pattern, _reason(error))
    return None


def _reason(error: Exception) -> str:
    first = error.args[0] if error.args else ""
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


def _explained(pattern: str, reason: str) -> PatternFault:
    bare = _ESCAPED.sub(lambda m: "" if m.group().startswith("[") else m.group(), pattern)
    plain = re.sub(r"\\.", "", bare, flags=re.S)
    if re.search(r"\(\?<?[=!]", plain):
        return PatternFault(
            "the pattern looks around, which RE2 cannot do in linear time",
            "put what must hold and what must not in two schemas: "
            "allOf: [{pattern: …}, {not: {pattern: …}}]",
        )
    if re.search(r"\\[1-9]|\\k[<{']", bare) or "(?P=" in plain:
        return PatternFault(
            "the pattern refers back to a group, which RE2 cannot do in linear time",
            "write the repeated part out, or list the values under `enum`",
        )
    counts = [int(n) for found in _COUNT.finditer(plain) for n in found.groups() if n]
    if any(count > LARGEST_COUNT for count in counts):
        return PatternFault(
            f"a pattern counts to {LARGEST_COUNT:,} at most, and this one to {max(counts):,}",
            "use `minLength` and `maxLength` for lengths",
        )
    if re.search(r"\(\?>|[*+?}]\+", plain):
        return PatternFault(
            "the pattern forbids backtracking, which RE2 never does",
            "remove the `?>` or the `+` after the repetition",
        )
    for letter in re.findall(r"\\(.)", bare):
        if letter in _SINGLE_ESCAPES:
            return PatternFault(*_SINGLE_ESCAPES[letter])
    return PatternFault(
        f"RE2 cannot read the pattern: {reason}",
        "patterns have RE2's syntax; a backslash makes a sign stand for itself",
    )
