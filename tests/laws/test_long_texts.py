"""Texts past the budget: the parts of a pattern find what the whole finds, or say unknown."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.laws.conftest import examples
from tests.laws.test_regex_laws import ALPHABET, trees

from tool_intent.rules.regex import PatternError, compile_pattern
from tool_intent.rules.regex_tree import complement, perl_ranges
from tool_intent.runtime import stand_ins
from tool_intent.runtime.re2_engine import program
from tool_intent.runtime.regex import BUDGET, Pattern, search
from tool_intent.runtime.regex_parts import Part, search_parts

AMPLE = 1 << 60

_sequences = st.lists(
    st.one_of(
        trees,
        st.lists(trees, min_size=3, max_size=5).map(lambda some: f"(?:{'|'.join(some)})"),
        st.sampled_from(
            ["^", "$", r"\A", r"\z", r"\b", "(?i)", "(?m)", "(?-i)", "(?m:^)", "x*", "(?:(?-i)a)b"]
        ),
    ),
    min_size=1,
    max_size=4,
).map("".join)
_patterns = st.lists(_sequences, min_size=1, max_size=4).map("|".join)
#: Short texts far from each other, so that there is more than one window.
_texts = st.lists(
    st.one_of(
        st.text(ALPHABET + "x\n\u0663\u3000", max_size=8),
        st.sampled_from(["-" * 40, "\u00e9" * 30, " \n" * 20, "a" * 60]),
    ),
    max_size=6,
).map("".join)


def _compiled(pattern: str, flags: str = "") -> Pattern:
    try:
        return compile_pattern(pattern, flags, unicode_classes=True)
    except PatternError:
        assume(False)
        raise


def _whole(pattern: Pattern, text: str) -> bool:
    return program(pattern.text).search(text.encode()) is not None


@settings(deadline=None, max_examples=examples(dev=150, ci=4_000))
@given(_patterns, _texts, st.sampled_from(["", "i", "m"]))
@example("aa", "-" * 60 + "aaa", "")
@example(r"\bab[a-k]{2}", "-ab-ab" * 9 + "abak", "")
@example("(?:(?-i)abc)(?:d|e)[x-z]", "abcDx", "i")
@example(r"\d{2}x-y", "-" * 99 + "12x-y", "")
@example(r"ab\d{9}", "ab" + "-" * 43 + "ab123456789", "")
@example("a\u00e9|[\u00e8-\u00ea]b", "-\u00e9b", "")
@example("(?i)a|k", "\u212a", "")
@example(r"(?:ab|ac|ad)\w{2}$", "-" * 99 + "ad\u00e91", "")
def test_the_parts_of_a_pattern_find_what_the_whole_finds(
    pattern: str, text: str, flags: str
) -> None:
    compiled = _compiled(pattern, flags)
    assert search_parts(compiled.parts, text, AMPLE) is _whole(compiled, text)


@settings(deadline=None, max_examples=examples(dev=60, ci=1_000))
@given(_patterns, _texts, st.integers(0, 20_000))
def test_a_smaller_budget_only_makes_unknown(pattern: str, text: str, budget: int) -> None:
    compiled = _compiled(pattern)
    assert search_parts(compiled.parts, text, budget) in (None, _whole(compiled, text))


@settings(deadline=None, max_examples=examples(dev=40, ci=1_000))
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_stand_ins_keep_length_lines_and_ascii(text: str) -> None:
    said = stand_ins.with_stand_ins(text)
    assert len(said) == len(text)
    assert all(a == b for a, b in zip(said, text, strict=True) if b.isascii())
    assert not any(a.isascii() for a, b in zip(said, text, strict=True) if not b.isascii())


@pytest.mark.parametrize("letter", "wds")
def test_every_character_has_a_stand_in_of_its_class(letter: str) -> None:
    standing = {
        "w": {stand_ins.LETTER, stand_ins.DIGIT, *stand_ins.FOLDING},
        "d": {stand_ins.DIGIT},
        "s": {stand_ins.SPACE},
    }[letter]
    for ranges, is_in in ((perl_ranges(letter), True), (complement(perl_ranges(letter)), False)):
        for low, high in ranges:
            points = [p for p in range(max(low, 128), high + 1) if not 0xD800 <= p <= 0xDFFF]
            said = set(stand_ins.with_stand_ins("".join(map(chr, points))))
            assert said <= standing if is_in else not said & standing


@pytest.mark.parametrize(
    ("pattern", "literals", "reach"),
    [
        ("key-[a-z]{4}", [("key-",)], [8]),
        ("key-[a-z]+", [("key-",)], [0]),
        ("key-.{0,2}x?", [("key-",)], [13]),
        ("(?:^|[^a])(?:ab|cd|ef)x{2}", [("abxx",), ("cdxx",), ("efxx",)], [8, 8, 8]),
        ("(?i)sk|oak+", [("sk",), ("oa",)], [8, 0]),
        ("a(?i)b|c", [("ab", "c")], [8]),
        ("\u00e9a", [("a",)], [3]),
    ],
)
def test_a_part_knows_its_literals_and_how_far_a_match_reaches(
    pattern: str, literals: list[tuple[str, ...]], reach: list[int]
) -> None:
    found = [Part(*image) for image in compile_pattern(pattern, unicode_classes=True).parts]
    assert [part.literals for part in found] == literals
    assert [part.reach for part in found] == reach


SECRET = r"(?:^|\W)(?:AKIA[0-9A-Z]{16}|(?:ghp|gho)_[A-Za-z0-9]{36}|sk-[\w-]{5})"
LINES = {
    "plain": "the quick brown fox is at risk-free rest, though\n",
    "umlauts": "Gr\u00f6\u00dfe, Stra\u00dfe und \u0663 \u6f22\u5b57\u3000\n",
    "near": "sk-four AKIA ghp_1 " + "plain words all along " * 20 + "\n",
}


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("end", ["", "\u2014sk-a\u00e9\u0663b9", "AKIA" + "A1" * 8])
def test_a_text_of_two_mebibytes_is_told_for_sure(line: str, end: str) -> None:
    compiled = compile_pattern(SECRET, unicode_classes=True)
    text = LINES[line] * ((2 << 20) // len(LINES[line]))
    assert compiled.ascii_size * len(text) > 2 * BUDGET
    assert search(compiled, text + end) is bool(end)
    assert search(compiled, text + end + "\n" + text) is bool(end)


def test_a_text_full_of_what_begins_a_match_is_unknown() -> None:
    compiled = compile_pattern(r"(?:ghp|gho|ghu)_[A-Za-z0-9_-]{99}[!]", unicode_classes=True)
    assert search(compiled, "ghp_" * (1 << 20)) is None
