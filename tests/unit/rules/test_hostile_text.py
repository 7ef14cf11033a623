"""Whatever the text: an answer, never an exception; every error inside the text; in linear time."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.rules.check import check_condition, check_text
from tool_intent.rules.parse import MAX_BYTES, MAX_ERRORS, parse_condition, parse_rules

POLICIES = Path(__file__).parents[2] / "assets" / "policies"
CORPUS = [path.read_text("utf-8") for path in sorted(POLICIES.glob("*.rules"))]
RULES = [rule for text in CORPUS for rule in re.split(r"\n(?=rule |words |define )", text)]
SCRAPS = [
    '"', "(", ")", "[", "]", "{", "}", "/", "\\", "#", "\n", "\n  ", " ", "\0", "\r", "\x85",
    "\u2028", "é", "\U0001f600", "=", "==", "<", ",", ":", ".", "-", "1", "9" * 500, "2h", "not ",
    "and ", "or ", "in ", "has ", "when ", "unless ", "else ", "rule ", "words ", "define ",
    "option ", "earlier ", "where ", "since ", "within ", "any(", "count(", "this.", "args.",
    "call", "null", "deny ", "off ", "on ", "*", "@exec", "{intent}", "\\u12", "/(/",
]  # fmt: skip


def assert_told_inside(text: str) -> None:
    tree, found = check_text(text, "f")
    assert (tree is None) == bool(found)
    lines = text.split("\n")
    for d in found:
        assert 1 <= d.line <= len(lines)
        assert 1 <= d.column <= len(lines[d.line - 1]) + 1
        assert (d.line, d.column) < (d.end_line, d.end_column)
        assert d.message
        assert d.render(lines)


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_is_answered(text: str) -> None:
    assert_told_inside(text)


@given(st.lists(st.sampled_from(SCRAPS), max_size=40).map("".join))
@settings(max_examples=200, deadline=None)
def test_any_heap_of_words_is_answered(text: str) -> None:
    assert_told_inside(text)
    condition, found = parse_condition(text, "c")
    assert (condition is None) == bool(found)
    if condition is not None:
        check_condition(condition, "c", ["bash"])


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(RULES)) + "\n" + draw(st.sampled_from(RULES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        text = text[:start] + draw(st.sampled_from(["", *SCRAPS])) + text[end:]
    return text


@given(mutated())
@settings(max_examples=300, deadline=None)
def test_a_rule_with_slips_is_answered(text: str) -> None:
    assert_told_inside(text)


GROWING = {
    "brackets": lambda n: "define x = " + "(" * n,
    "closed brackets": lambda n: "define x = " + "(" * n + "true" + ")" * n,
    "not": lambda n: "define x = " + "not " * n + "true",
    "history": lambda n: "define x = " + "earlier a where " * n,
    "objects": lambda n: 'rule a/b on * deny "x" bad x ' + "{a:" * n,
    "lists": lambda n: "define x = " + "[" * n,
    "members": lambda n: "define x = args" + ".a" * n + " == 1",
    "alternatives": lambda n: "define x = " + "true or " * n + "true",
    "heads": lambda n: "rule\n" * n,
    "comments": lambda n: "rule a/b\n" + "#\n" * n,
    "defines": lambda n: (
        "define d0 = true\n"
        + "".join(f"define d{i} = d{i - 1} and d{i - 1}\n" for i in range(1, n // 4))
    ),
    "unknown names": lambda n: "".join(f"define d{i} = nothing{i}\n" for i in range(n // 4)),
    "braces": lambda n: 'rule a/b on * deny "' + "{" * n + '"',
    "shown names": lambda n: 'rule a/b on * deny "' + "{a}" * (n // 8) + '"',
    "an open text": lambda n: 'define x = "' + "a" * n,
    "an open class": lambda n: "define x = a matches /" + "[" * n,
    "a long word": lambda n: "rule a/b on " + "a" * n + "!",
    "no word": lambda n: "\0" * n,
}


@pytest.mark.slow
@pytest.mark.parametrize("grown", GROWING.values(), ids=GROWING.keys())
def test_time_is_linear(grown) -> None:
    def taken(n: int) -> float:
        start = time.process_time()
        assert_told_inside(grown(n))
        return time.process_time() - start

    taken(500)
    small, large = min(taken(2_000), taken(2_000)), taken(16_000)
    # Wide enough for a busy machine: quadratic time would be 64 times, and seconds more.
    assert large < 40 * small + 5


def test_a_condition_nests_fifty_deep_and_no_deeper() -> None:
    sound, found = parse_condition("not " * 50 + "true", "c")
    assert found == ()
    assert sound is not None
    _, found = parse_condition("not " * 51 + "true", "c")
    assert [(d.line, d.column, d.message) for d in found] == [
        (1, 201, "a condition nests at most 50 deep")
    ]


def test_a_file_holds_so_many_rules_unless_its_rank_is_above_repo() -> None:
    text = "".join(f"rule a/b{n} on * forbid true\n" for n in range(4))
    assert parse_rules(text, "f", max_rules=4)[1] == ()
    tree, found = parse_rules(text, "f", max_rules=3)
    assert tree is None
    assert [(d.line, d.message) for d in found] == [(4, "a file holds at most 3 rules")]
    assert parse_rules(text, "f", max_rules=None)[1] == ()


def test_a_file_holds_one_mebibyte() -> None:
    assert parse_rules("#" * MAX_BYTES, "f")[1] == ()
    assert [d.message for d in parse_rules("é" * (MAX_BYTES // 2) + "e", "f")[1]] == [
        "a rule file holds at most 1 MiB"
    ]


def test_errors_are_told_up_to_a_number() -> None:
    assert len(parse_rules("rule\n" * 1_000, "f")[1]) == MAX_ERRORS
