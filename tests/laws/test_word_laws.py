"""Text functions: total on any text, linear, symmetric where they compare; tables as generated."""

from __future__ import annotations

import runpy
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.runtime import unicode_tables
from tool_intent.runtime.citations import paths, urls
from tool_intent.runtime.cues import cues
from tool_intent.runtime.echoes import echoes
from tool_intent.runtime.hearing import Heard, cited
from tool_intent.runtime.phrases import mark, mentions, mentions_path, without
from tool_intent.runtime.scripts import script, scripts
from tool_intent.runtime.telling import coverage, telling_words
from tool_intent.runtime.words import (
    content,
    digest,
    distinct,
    jaccard,
    novel,
    overlap,
    resembles,
    restates,
    sentences,
    similarity,
    tokens,
    words,
)

from .conftest import examples

law = settings(deadline=None, max_examples=examples(dev=50, ci=150))
# Any code point, lone surrogates too.
any_text = st.text(st.characters(exclude_categories=()), max_size=30)
prose = st.text("ab cR1.-_/#é漢字仮\u0301'\"`:@\\?!\ud800", max_size=30)
texts = any_text | prose
word = st.text("abcxyzé漢1", min_size=1, max_size=6)

UNARY: list[Callable[[str], Any]] = [
    words, tokens, sentences, scripts, paths, urls, mark, cues, cited, lambda a: Heard().user(a),
    lambda a: digest([a]), telling_words,
]  # fmt: skip
BINARY: list[Callable[[str, str], Any]] = [
    similarity,
    resembles,
    mentions,
    mentions_path,
    lambda a, b: overlap(tokens(a), tokens(b)),
    lambda a, b: jaccard(tokens(a), tokens(b)),
    lambda a, b: restates(a, [b]),
    lambda a, b: without(a, [b, b[:4]]),
    novel,
    coverage,
    lambda a, b: echoes(a, (b,)),
]
HOSTILE = [
    "a", "é", "漢", "a ", "A", "aB", "aA1", "!", ". ", "“", '"', "`x", "http://", ":/", "x://@",
    ".", "a.", "a/", "/", "\\", "\u0301", "(", "]", "-", "a-", "\0", "1", "\ud800", "é ", "ab ab ",
    "a.py ", "%41", "#1 ", "A1-", "1 ", "1,", "a::b(", "a.b(", "E", "`a` ", "0a", "AError ",
]  # fmt: skip
SIZE = 64 * 1024


@law
@given(texts, texts)
def test_no_text_makes_a_function_raise(left: str, right: str) -> None:
    for unary in UNARY:
        unary(left)
    for binary in BINARY:
        binary(left, right)
    assert 0 <= distinct([left, right]) <= 1


@law
@given(texts, texts)
def test_comparisons_are_symmetric_and_between_0_and_1(left: str, right: str) -> None:
    assert similarity(left, right) == similarity(right, left)
    assert resembles(left, right) == resembles(right, left)
    one, two = tokens(left), tokens(right)
    assert overlap(one, two) == overlap(two, one)
    assert jaccard(one, two) == jaccard(two, one)
    assert 0 <= similarity(left, right) <= 1
    assert 0 <= jaccard(one, two) <= 1


@law
@given(texts)
def test_a_text_is_most_like_itself_unless_it_is_empty(text: str) -> None:
    assert similarity(text, text) == (1.0 if text.split() else 0.0)
    assert resembles(text, text) is bool(text.split())
    assert novel(text, text) == 0
    assert novel(text) == len(content(tokens(text)))


@law
@given(texts, texts)
def test_what_a_text_covers_and_what_is_new_in_it_are_all_of_it(text: str, other: str) -> None:
    every = len(content(tokens(text)))
    assert coverage(text, text) == (1.0 if every else 0.0)
    assert coverage(text, other) == pytest.approx(1 - novel(text, other) / every if every else 0)


@law
@given(texts)
def test_a_text_is_an_echo_of_itself_and_nothing_is_of_no_text(text: str) -> None:
    assert echoes(text, (text,)) is bool(tokens(text))
    assert not echoes(text, ())


@law
@given(texts, st.lists(texts, max_size=3))
def test_more_that_is_known_never_makes_more_novel(text: str, known: list[str]) -> None:
    assert novel(text, *known) <= novel(text)


@law
@given(st.lists(word, min_size=1, max_size=6), st.integers(0, 5), texts)
def test_a_word_is_mentioned_between_spaces(items: list[str], n: int, other: str) -> None:
    needle = items[n % len(items)]
    assert mentions(" ".join(items), needle)
    assert mentions(f"{other} {needle} {other}", needle.upper().lower())
    assert not mentions(f"x{needle}", needle) or needle[0] in "漢" or "x" in needle


@law
@given(texts)
def test_nothing_mentions_what_has_no_letter_or_number(text: str) -> None:
    for needle in ("", " ", "-", "...", "\u0000"):
        assert not mentions(text, needle)
        assert not mentions_path(text, needle)
    assert not mentions_path(text, "/")


@law
@given(prose, st.lists(word, max_size=3))
def test_what_is_taken_out_is_no_longer_mentioned(text: str, phrases: list[str]) -> None:
    left = without(text, phrases)
    # Taking a phrase out can bring the words of another together, so only words are sure to go.
    for phrase in phrases:
        assert not phrase.isascii() or not mentions(left, phrase)


@law
@given(st.text("abc.-", min_size=1, max_size=8), st.text("gx", min_size=1, max_size=4))
def test_user_names_never_become_hosts(user: str, host: str) -> None:
    assert [url.host for url in urls(f"see https://{user}@{host}.test/p")] == [f"{host}.test"]


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_64_kib_of_anything_take_a_linear_time(unit: str) -> None:
    text = unit * (SIZE // len(unit))
    other = text[: SIZE // 4] + "q"
    for function in (*UNARY, *(lambda a, f=f: f(a, other) for f in BINARY)):
        start = time.perf_counter()
        function(text)
        assert time.perf_counter() - start < 30


def _generator() -> dict[str, Any]:
    path = Path(__file__).parents[1] / "assets" / "make_unicode_tables.py"
    return runpy.run_path(str(path))


needs_14 = pytest.mark.skipif(
    unicodedata.unidata_version != unicode_tables.VERSION, reason="this interpreter's is another"
)


@needs_14
def test_the_tables_are_what_the_generator_writes() -> None:
    committed = Path(unicode_tables.__file__).read_text(encoding="utf-8")
    assert _generator()["tables"]() == committed


@needs_14
def test_every_table_holds_exactly_its_characters() -> None:
    def points(table: str) -> set[int]:
        return {n for low, high in unicode_tables.decoded(table) for n in range(low, high + 1)}

    kinds = [unicodedata.category(chr(n)) for n in range(0x110000)]
    for table, test in (
        (unicode_tables.WORD, lambda kind: kind[0] in "LMN" or kind == "Pc"),
        (unicode_tables.DIGIT, lambda kind: kind == "Nd"),
    ):
        assert points(table) == {n for n, kind in enumerate(kinds) if test(kind)}
    spaces = {n for n in range(0x110000) if chr(n).isspace()} - set(range(0x1C, 0x20))
    assert points(unicode_tables.SPACE) == spaces


@needs_14
@given(st.characters(categories=["Lu", "Ll", "Lo"]))
def test_a_letter_named_after_a_script_is_of_it(char: str) -> None:
    first = unicodedata.name(char, "COMMON").split()[0]
    if first in ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "THAI", "TAMIL", "ARMENIAN"):
        assert script(char) == first.title()
