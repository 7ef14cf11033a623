"""The rows of functions.yaml, one test each: the text functions of the rule language by example."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.runtime import citations, cues, paths, phrases, scripts, telling, words

TABLE = yaml.safe_load(Path(__file__).with_name("functions.yaml").read_text(encoding="utf-8"))

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "words": words.words,
    "tokens": words.tokens,
    "length": words.length,
    "lower": words.lower,
    "sentences": words.sentences,
    "overlap": lambda a, b: words.overlap(words.tokens(a), words.tokens(b)),
    "jaccard": lambda a, b: words.jaccard(words.tokens(a), words.tokens(b)),
    "similarity": words.similarity,
    "mentions": phrases.mentions,
    "mentions_path": phrases.mentions_path,
    "restates": words.restates,
    "resembles": words.resembles,
    "distinct": words.distinct,
    "novel": lambda text, known: words.novel(text, *known),
    "without": phrases.without,
    "content": lambda text: list(telling.telling_words(text).items),
    "coverage": telling.coverage,
    "cues": cues.cues,
    "digest": lambda given: words.digest([given] if isinstance(given, str) else given),
    "scripts": scripts.scripts,
    "paths": citations.paths,
    "urls": lambda text: [list(url) for url in citations.urls(text)],
    "basename": paths.basename,
}
ROWS = [(name, *row) for name, rows in TABLE.items() for row in rows]


@pytest.mark.parametrize(
    ("name", "arguments", "value"), ROWS, ids=[ascii(f"{row[0]} {row[1]}")[:80] for row in ROWS]
)
def test_a_function_gives_what_its_row_says(name: str, arguments: list[Any], value: Any) -> None:
    found = FUNCTIONS[name](*arguments)
    assert (round(found, 3) if isinstance(found, float) else found) == value
    assert type(found) is type(value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_at_least_twelve_rows(name: str) -> None:
    assert len(TABLE[name]) >= 12
