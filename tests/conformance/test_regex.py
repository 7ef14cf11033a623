"""The rows of regex.yaml, one test each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.rules.regex import PatternError, compile_pattern
from tool_intent.runtime.regex import search

ROWS = yaml.safe_load(Path(__file__).with_name("regex.yaml").read_text(encoding="utf-8"))


def _name(row: dict[str, Any]) -> str:
    text = ascii(row.get("text", ""))
    end = ascii(row["end"]) if "end" in row else ""
    return f"{row.get('where', 'rule')} {row['pattern']!a} {row.get('flags', '')} {text[:40]} {end}"


def _compiled(row: dict[str, Any]) -> Any:
    rule = row.get("where", "rule") == "rule"
    return compile_pattern(row["pattern"], row.get("flags", ""), unicode_classes=rule)


@pytest.mark.parametrize("row", [r for r in ROWS if "match" in r], ids=_name)
def test_a_pattern_matches_what_its_row_says(row: dict[str, Any]) -> None:
    text = row["text"] * row.get("times", 1) + row.get("end", "")
    assert search(_compiled(row), text) is row["match"]


@pytest.mark.parametrize("row", [r for r in ROWS if "error" in r], ids=_name)
def test_a_pattern_that_cannot_be_used_says_why_where_and_what_to_write(
    row: dict[str, Any],
) -> None:
    with pytest.raises(PatternError) as caught:
        _compiled(row)
    assert row["error"] in caught.value.message
    assert row.get("help", "") in caught.value.help
    assert caught.value.help
    assert caught.value.offset == row.get("offset", caught.value.offset)


def test_the_table_holds_at_least_140_rows() -> None:
    assert len(ROWS) >= 140
