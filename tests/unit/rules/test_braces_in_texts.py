"""A backslash before a brace of a message is an error with its place."""

from __future__ import annotations

import pytest

from tool_intent.rules.check import check_text


@pytest.mark.parametrize(
    ("text", "column"), [('"x \\{p}"', 26), ('"x {tool} \\{p}"', 33), ('"\\{tool}"', 24)]
)
def test_a_backslash_before_a_brace_is_named_with_its_place(text: str, column: int) -> None:
    _, errors = check_text(f"rule a/b on bash deny {text}\n", "t.rules")
    told = [(e.line, e.column, e.message) for e in errors if "backslash" in e.message]
    assert told == [(1, column, "a backslash before a brace is no escape")]
