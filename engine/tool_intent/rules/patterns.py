"""Which regular expressions of rules the engine can run."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class PatternSlip(NamedTuple):
    """What keeps RE2 from running a pattern, how to mend it, and where it is: code points from
    the pattern's start."""

    message: str
    help: str
    offset: int


@lru_cache(maxsize=4096)
def check_pattern(pattern: str, flags: str) -> PatternSlip | None:
    """What is wrong with a rule's pattern; None where nothing is."""
    # A file without patterns does without the tables of Unicode.
    from tool_intent.rules.regex import PatternError, compile_pattern

    try:
        compile_pattern(pattern, flags, unicode_classes=True)
    except PatternError as error:
        return PatternSlip(error.message, error.help, error.offset)
    return None
