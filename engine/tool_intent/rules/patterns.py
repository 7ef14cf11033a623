"""Which regular expressions the engine can run: those of RE2."""

from __future__ import annotations

import re
from typing import Final

FLAGS: Final = "ims"

_SPLIT = "split it in two conditions"
_PLAIN = "write it without"

# The first alternative that matches is what is wrong; `fine` steps over what is not looked into.
_SCAN = re.compile(
    r"""
      (?P<backreference> \\[1-9] | \\k[<'{] | \(\?P= )
    | (?P<fine> \\. | \[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\] )
    | (?P<behind> \(\?<[=!] )
    | (?P<ahead> \(\?[=!] )
    | (?P<atomic> \(\?> | [*+?}]\+ )
    | (?P<conditional> \(\?\( )
    | (?P<comment> \(\?\# )
    | \{ (?P<count> [0-9]* (?:,[0-9]*)? ) \}
    """,
    re.VERBOSE | re.DOTALL,
)
_WRONG: dict[str, tuple[str, str]] = {
    "backreference": ("back-references are not RE2", "write both alternatives out"),
    "behind": ("look-behind is not RE2", _SPLIT),
    "ahead": ("look-ahead is not RE2", _SPLIT),
    "atomic": ("atomic and possessive groups are not RE2", _PLAIN),
    "conditional": ("conditional groups are not RE2", _SPLIT),
    "comment": ("a pattern holds no comments", "write it above the rule, after `#`"),
}


def check_pattern(pattern: str, flags: str) -> tuple[str, str] | None:
    """What keeps RE2 from running a pattern, and how to mend it; None where nothing does."""
    wrong = next((f for f in flags if f not in FLAGS), None)
    if wrong:
        return f"no flag is called `{wrong}`", "i ignores case, m takes lines, s lets . match all"
    for match in _SCAN.finditer(pattern):
        if match.lastgroup in _WRONG:
            return _WRONG[match.lastgroup]
        if match.lastgroup == "count" and any(
            len(n) > 4 or int(n) > 1000 for n in match["count"].split(",") if n
        ):
            return "a count goes up to 1,000", "repeat without a bound, or compare `length(…)`"
    return _refused(pattern)


def _refused(pattern: str) -> tuple[str, str] | None:
    # google-re2 is slow to load; a file without patterns does without.
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        told = error.args[0] if error.args else ""
        shown = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        return f"RE2 cannot read this pattern: {shown}", ""
    return None
