"""The short way to RE2 gives what the public one gives, and is left where it is not as expected."""

from __future__ import annotations

from typing import Any

import pytest

from tool_intent.rules.regex import compile_pattern
from tool_intent.runtime import regex
from tool_intent.runtime.regex import ALWAYS_READ, finder, holder, search

PATTERNS = [r"a+b", r"^$", r"\bx\b", r"", r"[^a]$"]
TEXTS = ["", "aab", "x", "ax", "a\nb", "b" * 300, "\u00e4x", "\ud800"]


class _Public:
    """A compiled pattern of a package that hides what is beneath."""

    def __init__(self, compiled: Any) -> None:
        self.search = compiled.search


class _Changed(_Public):
    """One whose inner search answers otherwise."""

    class _regexp:  # noqa: N801 (the package's name)
        @staticmethod
        def Match(*_: Any) -> list[Any]:  # noqa: N802
            return [None]


@pytest.mark.parametrize("wrapped", [None, _Public, _Changed])
@pytest.mark.parametrize("source", PATTERNS)
def test_a_finder_gives_what_a_search_gives(
    source: str, wrapped: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = compile_pattern(source, "", unicode_classes=True)
    expected = [search(pattern, text) for text in TEXTS]
    if wrapped is not None:
        compiled = wrapped(regex.program(pattern.ascii_text))
        plain = regex.program
        monkeypatch.setattr(
            regex, "program", lambda text: compiled if text == pattern.ascii_text else plain(text)
        )
    find = finder(pattern)
    assert [find(text) for text in TEXTS] == expected


def test_a_holder_finds_each_literal_and_leaves_long_texts_open() -> None:
    literals = ("a.b", "x|y", "\\d", "\x00\n", "long literal")
    holds = holder(literals)
    while holds("nothing of the kind"):
        pass  # the first few are left open
    assert [holds(f"<{literal}>") for literal in literals] == [True] * len(literals)
    assert not holds("a-b x y 1 long  literal")
    assert holds(" " * (ALWAYS_READ + 1))
