"""Normalisation: one Unicode version, idempotent, linear."""

from __future__ import annotations

import hashlib
import runpy
import sys
import unicodedata
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from tool_intent.runtime import text, unicode14
from tool_intent.runtime.text import LONGEST_TEXT, normalise

#: SHA-256 of every code point normalised between two letters, the same on every interpreter.
EVERY_CODE_POINT = "7cdf903d21e0538e"


@pytest.mark.slow
def test_every_code_point_normalises_alike_on_every_interpreter() -> None:
    whole = "".join(normalise(f"a{chr(c)}b") or "?" for c in range(sys.maxunicode + 1))
    digest = hashlib.sha256(whole.encode()).hexdigest()
    assert digest[:16] == EVERY_CODE_POINT, unicodedata.unidata_version


def test_the_table_is_what_its_generator_writes() -> None:
    if unicodedata.unidata_version != text.UNICODE_VERSION:
        pytest.skip(f"this interpreter's Unicode is {unicodedata.unidata_version}, not 14.0.0")
    generator = Path(__file__).parents[2] / "conformance" / "unicode_tables.py"
    module = runpy.run_path(str(generator))["module"]
    assert module() == Path(unicode14.__file__).read_text(encoding="utf-8")


@given(st.text(st.characters(), max_size=40))
def test_normalising_twice_is_normalising_once(given_text: str) -> None:
    once = normalise(given_text)
    assert once is None or normalise(once) == once


@pytest.mark.parametrize(
    "hostile",
    [
        ("a" + "\u0300\u0316" * 15) * 2_000,
        "\u0300" * LONGEST_TEXT,
        "\ufdfa" * LONGEST_TEXT,
        "\u200b" * LONGEST_TEXT,
        "가" * LONGEST_TEXT,
        "".join(chr(0x20000 + n) for n in range(LONGEST_TEXT // 2)),
    ],
    ids=["marks", "one run", "expanding", "invisible", "Hangul", "distinct"],
)
def test_hostile_texts_are_normalised_or_refused_and_little_is_remembered(hostile: str) -> None:
    result = normalise(hostile)
    assert result is None or len(result) <= 18 * LONGEST_TEXT
    assert len(text._kinds) <= text._REMEMBERED + 1
    assert len(text._actions) <= text._REMEMBERED + 1
