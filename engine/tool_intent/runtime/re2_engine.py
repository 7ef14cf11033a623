"""RE2 objects of pattern texts. google-re2 is imported at the first of them, and not before."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

#: Bytes of memory one RE2 object may use; a DFA that would need more is replaced by the NFA.
MAX_MEM: Final = 4 << 20


@lru_cache(maxsize=1024)
def program(text: str) -> Any:
    """The RE2 object of a pattern text, silent on standard error; raises `re2.error`."""
    compiler, options = _engine()
    return compiler(text, options)


def any_of(literals: tuple[str, ...], *, fold: bool = False) -> Any:
    """The RE2 object that finds each of some literals, in any case if `fold`.

    Its DFA has about as many states as the literals have characters, so that the time it takes
    grows with the text and no faster, whatever the text is.
    """
    return program(("(?i)" if fold else "") + "|".join(map(_quoted, literals)))


def _quoted(literal: str) -> str:
    return "".join(char if char.isalnum() else f"\\x{ord(char):02x}" for char in literal)


@lru_cache(maxsize=1)
def _engine() -> tuple[Callable[..., Any], Any]:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MAX_MEM
    return re2.compile, options
