"""Ownership over one change, case by case, and over random histories as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given, settings

from tool_intent.ledger.attribution.carrying import Change, carried
from tool_intent.ledger.attribution.model import Attributed, Owned, Touch, count_lines

from ..laws.conftest import examples
from .fuzz import history
from .measure import Score, score
from .peers import why

CASES = yaml.safe_load(Path(__file__).with_name("carrying.yaml").read_text("utf-8"))


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _before(lines: list[str]) -> Attributed:
    owners = [Owned(Touch(None if line[0] == "-" else line[0])) for line in lines]
    return Attributed(_text([line[3:] for line in lines]), owners)


def _shown(owned: Owned) -> str:
    by = owned.touch.by
    how = "!" if by == "X" else ">" if owned.moved else "~" if owned.reformatted else "="
    return f"{'-' if by is None else by}{how}"


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_lines_keep_their_owner_over_layout_and_moves_and_over_nothing_else(
    case: dict[str, Any],
) -> None:
    before, after = _before(case["before"]), _text([line[3:] for line in case["after"]])
    (found,) = carried([Change(before, after, "X")])
    assert [_shown(owned) for owned in found.owners] == [line[:2] for line in case["after"]]


def test_a_block_that_goes_to_another_file_of_the_same_change_is_moved() -> None:
    block = ["a: def first():", "a:     read(channel)", "a:     return channel"]
    old, new = _before([*block, "b: other = 1"]), _before(["b: import channel"])
    moved = _text(["import channel", *(line[3:] for line in block)])
    first, second = carried([Change(old, b"other = 1\n", "X"), Change(new, moved, "X")])
    assert [_shown(owned) for owned in first.owners] == ["b="]
    assert [_shown(owned) for owned in second.owners] == ["b=", "a>", "a>", "a>"]


def test_a_changed_line_remembers_who_was_there_before() -> None:
    (one,) = carried([Change(None, b"limit = 1\n", "a")])
    (two,) = carried([Change(one, b"limit = 2\n", "b")])
    (three,) = carried([Change(two, b"limit = 3\n", None)])
    (four,) = carried([Change(three, b"limit = 4\n", "c")])
    assert three.owners[0].touch.by is None
    assert three.owners[0].touch.earlier() == ["b", "a"]
    assert four.owners[0].touch.earlier() == ["b", "a"]


@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"a\nb", b"\xff\xfe\n\x00", b"a\r\n\x0cb\n"])
def test_each_line_of_any_bytes_has_an_owner(text: bytes) -> None:
    (found,) = carried([Change(None, text, "a")])
    assert [owned.touch.by for owned in found.owners] == ["a"] * count_lines(text)
    (again,) = carried([Change(found, b"new\n" + text, "b")])
    assert [owned.touch.by for owned in again.owners] == ["b"] + ["a"] * count_lines(text)


_texts = st.lists(st.sampled_from(["", "}", "return None", "value = read(1)", "  x", "(a, b)"]))


@given(st.lists(_texts, min_size=1, max_size=6))
@settings(max_examples=examples(dev=60, ci=2000))
def test_nobody_is_credited_with_what_they_never_wrote(texts: list[list[str]]) -> None:
    """Each line that is credited to a change stands in what that change left, but for layout."""
    found = Attributed(b"", [])
    for n, lines in enumerate(texts):
        (found,) = carried([Change(found, _text(lines), n)])
    assert len(found.owners) == len(texts[-1])
    left = [{"".join(line.split()) for line in lines} for lines in texts]
    for line, owned in zip(texts[-1], found.owners, strict=True):
        assert owned.reformatted or "".join(line.split()) in left[owned.touch.by]


_others = st.lists(st.sampled_from(["", "]", "yield 2", "a = b", "  closed.channel()", "{9}"]))


@given(_texts, _others)
@settings(max_examples=examples(dev=60, ci=2000))
def test_what_shares_no_word_with_the_text_before_is_credited_to_nobody(
    one: list[str], other: list[str]
) -> None:
    (found,) = carried([Change(None, _text(one), "a")])
    (after,) = carried([Change(found, _text(other), None)])
    owners = dict(zip(other, after.owners, strict=True))
    assert not [line for line, owned in owners.items() if line and owned.touch.by is not None]


@given(st.integers(0, 2**32))
@settings(max_examples=examples(dev=2, ci=40))
def test_any_random_histories_are_told_rightly_as_a_whole(seed: int) -> None:
    made = [history(seed + n) for n in range(12)]
    total = sum((score(one.lines, why(one)) for one in made), Score())
    # A dozen files hold some 800 credited lines: two lines that happen to be alike are in them.
    assert total.precision >= 0.96, total
    assert total.recall >= 0.95, total
