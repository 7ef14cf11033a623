"""Regular expressions of policies: RE2, loaded only where a policy has one."""

from __future__ import annotations

from collections.abc import Callable


def searcher(pattern: str) -> Callable[[str], bool]:
    """Whether a text holds a match of an RE2 pattern. Linear in the text; quiet on stderr."""
    import re2

    options = re2.Options()
    options.log_errors = False
    search = re2.compile(pattern, options).search

    def holds(text: str) -> bool:
        try:
            return search(text) is not None
        except UnicodeEncodeError:
            # Half of a surrogate pair: refused as ambiguous anyway, and no pattern's match.
            return False

    return holds
