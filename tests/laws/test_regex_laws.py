"""Regular expressions: no gate hides a match, both forms agree, and Python's `re` says the same."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tool_intent.rules.regex import PatternError, compile_pattern
from tool_intent.runtime.re2_engine import program
from tool_intent.runtime.regex import ALWAYS_READ, BUDGET, Pattern, charge, search

from .conftest import examples

# `s`, `k` and the two characters that fold to them; word characters, others, several bytes long.
ALPHABET = "abskSK1_- .é\u00a0ſ\u212a"

law = settings(deadline=None, max_examples=examples(dev=50, ci=150))

_literals = st.text("abskSK1é_ſ\u212a", min_size=1, max_size=3)
_classes = st.sampled_from(
    [
        r"\w",
        r"\d",
        r"\s",
        r"\W",
        r"\S",
        r"\D",
        r"[^\W\d_]",
        "[a-k]",
        "[^a]",
        r"[\w-]",
        ".",
        r"[\Ws]",
    ]
)
_atoms = _literals | _classes
trees = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        inner.map(lambda body: f"({body})"),
        inner.map(lambda body: f"(?i:{body})"),
    ),
    max_leaves=6,
)
_edges = st.sampled_from(["", r"\b"])
_patterns = st.tuples(_edges, trees, _edges).map("".join)
_texts = st.text(ALPHABET, max_size=12)


def _compiled(pattern: str, flags: str) -> Pattern:
    try:
        return compile_pattern(pattern, flags, unicode_classes=True)
    except PatternError:
        assume(False)
        raise


def _error(pattern: str, *, rule: bool) -> PatternError | None:
    try:
        compile_pattern(pattern, unicode_classes=rule)
    except PatternError as error:
        return error
    return None


@law
@given(_patterns, _texts, st.sampled_from(["", "i"]))
def test_rules_agree_with_re_on_the_common_subset(pattern: str, text: str, flags: str) -> None:
    expected = re.search(pattern, text, re.IGNORECASE if flags else 0) is not None
    assert search(_compiled(pattern, flags), text) is expected


@law
@given(_patterns, _texts, st.sampled_from(["", "i"]))
def test_the_literal_gate_never_hides_a_match(pattern: str, text: str, flags: str) -> None:
    compiled = _compiled(pattern, flags)
    found = program(compiled.text).search(text.encode()) is not None
    assert search(compiled, text) is found


@law
@given(_patterns, st.text("abskSK1_- .\x0b\x1c", max_size=12), st.sampled_from(["", "i"]))
def test_the_small_program_agrees_with_the_full_one_on_ascii(
    pattern: str, text: str, flags: str
) -> None:
    compiled = _compiled(pattern, flags)
    small, full = program(compiled.ascii_text), program(compiled.text)
    assert (small.search(text) is None) == (full.search(text) is None)


@law
@given(st.text(max_size=8), st.text(max_size=8))
def test_a_quoted_literal_finds_exactly_itself(literal: str, text: str) -> None:
    pattern = "".join(f"\\x{{{ord(char):X}}}" for char in literal)
    compiled = compile_pattern(pattern, unicode_classes=True)
    assert search(compiled, text + literal + text) is True
    assert search(compiled, text) is (literal in text)


@law
@given(st.text("ab()[]{}|*+?\\^$.,-:<>=!PQEbBdwsx1i#", max_size=14), st.booleans())
def test_any_text_is_a_pattern_or_an_error_with_an_offset_inside(pattern: str, rule: bool) -> None:
    error = _error(pattern, rule=rule)
    if error is None:
        assert search(compile_pattern(pattern, unicode_classes=rule), "ab") in (True, False)
    else:
        assert 0 <= error.offset <= len(pattern)
        assert error.message
        assert error.help


@law
@given(st.text("ab()[]{}|*+?\\^$.,-:<>=!Qdwsx1i#", max_size=10), _texts)
def test_what_the_parser_accepts_means_what_re2_reads(pattern: str, text: str) -> None:
    """The tree, printed again, matches what the pattern itself matches (no Unicode class in it)."""
    assume(not re.search(r"\\[dwsbB]", pattern))
    compiled = _compiled(pattern, "")
    assert search(compiled, text) is (program(pattern).search(text) is not None)


def test_a_text_past_the_budget_is_unknown_only_where_no_match_was_read() -> None:
    compiled = compile_pattern(r"x[ab]{900}[cd]$", unicode_classes=True)
    read = max(ALWAYS_READ, BUDGET // compiled.size)
    hidden = "xa" * read
    assert search(compiled, hidden) is None
    cut = "x" + "a" * 900 + "c"
    assert search(compiled, cut + "xa" * read) is None, "`$` is not at the cut"
    assert search(compiled, cut + "a" * read) is False, "what is around one `x` is affordable"
    early = compile_pattern(r"x[ab]{900}[cd]", unicode_classes=True)
    assert search(early, "x" + "a" * 900 + "c" + "a" * read) is True
    assert charge(early, hidden) == early.size * read


def test_64_kib_are_always_read() -> None:
    compiled = compile_pattern("needle$", unicode_classes=True)
    text = "é" * (ALWAYS_READ // 2 - 3) + "needle"
    assert len(text.encode()) == ALWAYS_READ
    assert search(compiled, text, budget=1) is True
    assert search(compiled, "a" + text, budget=1) is None
    assert search(compiled, text[1:] + "x", budget=1 << 30) is False


def test_half_of_a_surrogate_pair_is_unknown() -> None:
    assert search(compile_pattern("a", unicode_classes=True), "a\ud800") is None


@pytest.mark.parametrize(
    "pattern",
    ["a[ab]{900}[cd]", "(?:a?){500}a{500}c", "(a|aa)+$", r"(?:[ab]*a[ab]{600}[cd])$", r"\w+\W\w+9"],
)
def test_hostile_patterns_over_hostile_text_stay_silent_and_bounded(
    pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    compiled = compile_pattern(pattern, unicode_classes=True)
    text = "".join("ab"[n * n % 7 % 2] for n in range(1 << 21)) + "!"
    start = time.perf_counter()
    assert search(compiled, text) in (None, False)
    assert time.perf_counter() - start < 30
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "pattern", ["(x{900}){900}", r"\w{1000}", "(?:a{1000}b{1000}){50}", "[", r"\p{Foo}"]
)
def test_refused_patterns_say_nothing_on_standard_error(
    pattern: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PatternError):
        compile_pattern(pattern, unicode_classes=True)
    assert capfd.readouterr().err == ""


def test_the_call_time_module_loads_no_engine_and_no_parser() -> None:
    code = (
        "import sys, tool_intent.runtime.regex as r; p = r.Pattern('a', 'a', 5, 5, ('a',));"
        "assert r.search(p, 'b') is False; assert 're2' not in sys.modules;"
        "assert r.search(p, 'a') is True; assert 're2' in sys.modules;"
        "assert not any(m.startswith('tool_intent.rules') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
