"""Cross-validation: families stay together, and options are chosen on the other rows."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tool_intent.authoring.evaluation.corpus import Corpus, Header, Item
from tool_intent.authoring.evaluation.folds import cross_validate, families, partition
from tool_intent.authoring.evaluation.judging import Found, Judged, judge
from tool_intent.authoring.evaluation.options import (
    BadOption,
    read_options,
    with_options,
)
from tool_intent.authoring.evaluation.options import settings as combinations
from tool_intent.compiler.loading import PolicyError
from tool_intent.policy.model import EffectivePolicy

_LINES = count(1)


def item(id: str, command: str, rationale: str, *, bad: bool = True, **more: str) -> Item:
    args = {"command": command, "rationale": rationale}
    return Item(
        id, next(_LINES), "bash", args, bad, (), "", (), more.get("family"), ()
    )  # fmt: skip


def ids(found: list[list[Item]]) -> list[list[str]]:
    return sorted(sorted(one.id for one in family) for family in found)


def test_rows_with_one_call_or_one_text_are_a_family_numbers_aside() -> None:
    found = families(
        [
            item("a", "ls", "first"),
            item("b", "ls", "second"),
            item("c", "pwd", "Second"),
            item("d", "id", "ticket 12"),
            item("e", "who", "ticket 7"),
            item("f", "top", "alone"),
        ]
    )
    assert ids(found) == [["a", "b", "c"], ["d", "e"], ["f"]]


def test_a_family_that_rows_name_is_taken_as_it_is() -> None:
    found = families(
        [
            item("a", "ls", "x", family="1"),
            item("b", "ls", "x", family="2"),
            item("c", "pwd", "y", family="1"),
        ]
    )
    assert ids(found) == [["a", "c"], ["b"]]


ITEMS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("stuvwxyz")), min_size=4, max_size=30
).map(lambda pairs: [item(str(n), c, r) for n, (c, r) in enumerate(pairs)])


@given(ITEMS, st.integers(2, 5))
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_folds_hold_each_row_once_and_never_divide_a_family(items: list[Item], folds: int) -> None:
    parts = partition(Corpus("c", Header(), tuple(items), ""), folds)
    held = [one.id for part in parts for family in part for one in family]
    assert sorted(held) == sorted(one.id for one in items)
    of = {one.id: n for n, part in enumerate(parts) for family in part for one in family}
    for family in families(items):
        assert len({of[one.id] for one in family}) == 1


def test_options_are_chosen_without_the_rows_they_are_tried_on() -> None:
    """One setting is right about all rows but one, the other about that one only: the fold of that
    row takes the first as well, and its figures show the row as wrong."""
    items = [item(str(n), f"call {n}", f"text number {'abcdefgh'[n]}") for n in range(8)]
    corpus = Corpus("c", Header(), tuple(items), "")

    def judged(found: set[str]) -> list[Judged]:
        hit = (Found("r/r", "deny", ""),)
        return [Judged(one, hit if one.id in found else ()) for one in items]

    most = {one.id for one in items} - {"3"}
    validation = cross_validate(
        corpus, [({"least": 1}, judged({"3"})), ({"least": 2}, judged(most))], 4
    )
    assert [fold.chosen for fold in validation.folds] == [{"least": 2}] * 4
    assert validation.tiers[0].counts.misses == 1
    assert [dict(one.counts)["deny"].true_positives for one in validation.tried] == [1, 7]


def test_every_combination_of_options_is_tried() -> None:
    read = read_options(["least=1,2", "word=a"])
    assert list(combinations(read)) == [
        {"least": 1, "word": "a"},
        {"least": 2, "word": "a"},
    ]
    assert list(combinations({})) == [{}]


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("least=1,2", [1, 2]),
        ("word=a,b", ["a", "b"]),
        ("flag=true,false", [True, False]),
        ('scripts=["Latin","Han"],["Latin"]', [["Latin", "Han"], ["Latin"]]),
    ],
)
def test_values_of_an_option_are_json_or_texts(given: str, values: list[object]) -> None:
    assert list(read_options([given]).values()) == [values]


@pytest.mark.parametrize("text", ["least", "=1", "least=", "least=1,,2"])
def test_an_option_without_values_is_told(text: str) -> None:
    with pytest.raises(BadOption, match="write NAME=VALUE,VALUE…"):
        read_options([text])


def test_a_policy_with_an_option_set_judges_by_it(
    policy: EffectivePolicy, corpus: Corpus, tmp_path: object
) -> None:
    source = f"{tmp_path}/small.yaml"
    found = {
        least: sum(one.reaches("deny") for one in judge(changed, corpus))
        for least in (1, 2, 5)
        for changed in [with_options([source], policy, {"least": least})]
    }
    assert found == {1: 1, 2: 4, 5: 7}


def test_an_option_that_is_none_or_out_of_bounds_is_told(
    policy: EffectivePolicy, tmp_path: object
) -> None:
    source = [f"{tmp_path}/small.yaml"]
    with pytest.raises(BadOption, match="no option `leest`; did you mean `least`"):
        with_options(source, policy, {"leest": 1})
    with pytest.raises(PolicyError, match="between 1 and 9"):
        with_options(source, policy, {"least": 40})


def test_the_figures_of_one_setting_are_those_of_the_policy(
    policy: EffectivePolicy, corpus: Corpus, write_corpus: Callable[..., Corpus]
) -> None:
    judged = judge(policy, corpus)
    validation = cross_validate(corpus, [({}, judged)], 3)
    assert validation.tiers[0].counts == (2, 1, 2, 2)
    assert sum(fold.rows for fold in validation.folds) == len(corpus.items)
