"""What the judged rows of a small corpus come to, counted by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tool_intent.authoring.evaluation import tables
from tool_intent.authoring.evaluation.corpus import Corpus
from tool_intent.authoring.evaluation.judging import Bench, judge
from tool_intent.authoring.evaluation.metrics import Counts
from tool_intent.authoring.evaluation.pages import BadPage, with_tables
from tool_intent.authoring.evaluation.report import Evaluation, changed, data, evaluate
from tool_intent.compiler.loading import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.runtime.wire import dump

from .conftest import POLICY, ROWS, row


@pytest.fixture
def found(policy: EffectivePolicy, corpus: Corpus) -> Evaluation:
    return evaluate("small", policy, corpus)


def test_each_row_is_judged_by_the_engine_after_its_history(
    policy: EffectivePolicy, corpus: Corpus
) -> None:
    rules = {one.item.id: [f.rule for f in one.found] for one in judge(policy, corpus)}
    assert rules == {
        "1": ["small/because", "small/short"],
        "2": ["small/because"],
        "3": ["small/again"],
        "4": [],
        "5": [],
        "6": ["small/short"],
        "7": ["small/because", "small/short"],
        "8": [],
    }


def test_judging_a_row_twice_finds_the_same(policy: EffectivePolicy, corpus: Corpus) -> None:
    bench = Bench(policy)
    assert bench.judge(corpus.items) == bench.judge(corpus.items)


def test_tiers_count_their_effect_and_stronger_ones_and_leave_borderline_rows_out(
    found: Evaluation,
) -> None:
    assert {t.tier: t.counts for t in found.tiers} == {
        "deny": Counts(2, 1, 2, 2),
        "warn": Counts(3, 1, 1, 2),
    }


def test_the_recall_of_a_tiers_kinds_is_of_those_and_stronger_ones(found: Evaluation) -> None:
    deny, warn = found.tiers
    assert (deny.value("recall"), deny.value("recall_of_kinds")) == (0.5, 1.0)
    assert (warn.value("recall"), warn.value("recall_of_kinds")) == (0.75, 0.75)


def test_hard_rows_are_counted_apart(found: Evaluation) -> None:
    assert [t.value("false_positives_of_hard") for t in found.tiers] == [0.5, 0.5]


def test_a_rules_recall_is_of_the_kinds_it_is_for(found: Evaluation) -> None:
    short, because, again = found.rules
    assert (short.rule, short.effect, short.kinds) == ("small/short", "deny", ("short",))
    assert (short.counts, short.of_kinds) == (Counts(1, 1, 3, 2), Counts(1, 1, 0, 2))
    assert (because.counts, because.of_kinds) == (Counts(2, 0, 2, 3), Counts(1, 0, 1, 3))
    # The corpus does not say what it is for.
    assert (again.counts, again.of_kinds) == (Counts(1, 0, 3, 3), Counts(1, 0, 3, 3))


def test_groups_count_the_rows_they_have_in_common(found: Evaluation) -> None:
    groups = {
        what: {g.name: (g.rows, g.counts["deny"]) for g in each}
        for what, each in found.groups().items()
    }
    assert groups == {
        "kinds": {
            "vague": (2, Counts(0, 0, 2, 0)),
            "again": (1, Counts(1, 0, 0, 0)),
            "short": (1, Counts(1, 0, 0, 0)),
        },
        "languages": {"en": (3, Counts(1, 0, 2, 0)), "de": (2, Counts(1, 0, 0, 1))},
        "tools": {"bash": (6, Counts(2, 0, 2, 2)), "read": (1, Counts(0, 1, 0, 0))},
        "notes": {"hard: short": (2, Counts(0, 1, 0, 1))},
    }


def test_thresholds_are_held_against_the_figures(found: Evaluation) -> None:
    gates = [(g.tier, g.figure, round(g.value or 0, 3), g.met) for g in found.gates if not g.rule]
    assert gates == [
        ("deny", "precision", 0.667, False),
        ("deny", "false_positives", 0.333, True),
        ("warn", "recall", 0.75, False),
    ]


def test_a_rule_that_the_corpus_speaks_of_has_to_be_as_precise_as_its_tier(
    found: Evaluation,
) -> None:
    gates = [(g.rule, g.figure, round(g.value or 0, 3), g.met) for g in found.gates if g.rule]
    assert gates == [
        ("small/short", "precision", 0.5, False),
        ("small/short", "false_positives", 0.333, True),
    ]
    assert "| deny, `small/short` | precision | at least 0.9 | 0.5 | **no** |" in (
        tables.thresholds(found)
    )


def test_an_undefined_figure_meets_no_threshold(
    policy: EffectivePolicy, write_corpus: Callable[..., Corpus]
) -> None:
    header = {"corpus": "c", "version": 1, "thresholds": {"deny": {"precision": 0}}}
    (gate,) = evaluate("small", policy, write_corpus(header, ROWS[3])).gates
    assert (gate.value, gate.met) == (None, False)


def test_rules_that_only_the_corpus_knows_are_told(
    policy: EffectivePolicy, write_corpus: Callable[..., Corpus]
) -> None:
    header = {"corpus": "c", "version": 1, "kinds": {"x": "deny"}, "rules": {"no/such": ["x"]}}
    assert evaluate("small", policy, write_corpus(header, ROWS[3])).unknown_rules == ("no/such",)


def test_the_data_is_json_and_names_the_rows_that_are_wrong(found: Evaluation) -> None:
    said = json.loads(dump(data(found)))
    assert said["corpus"] | {"file": "", "digest": ""} == {
        "name": "small", "file": "", "digest": "",
        "rows": 8, "good": 3, "bad": 4, "borderline": 1,
    }  # fmt: skip
    confusion = {
        tier: {what: [one["id"] for one in rows] for what, rows in both.items()}
        for tier, both in said["confusion"].items()
    }
    assert confusion == {
        "deny": {"false_positives": ["6"], "misses": []},
        "warn": {"false_positives": ["6"], "misses": ["8"]},
    }
    assert said["tiers"]["deny"]["precision"]["value"] == pytest.approx(2 / 3)
    assert said["faults"] == []


def test_a_call_that_cannot_be_judged_as_it_stands_is_told(
    policy: EffectivePolicy, write_corpus: Callable[..., Corpus]
) -> None:
    faulty = row("1", "because of 4 locks", "good") | {"args": {"command": "ls", "__proto__": 1}}
    assert data(evaluate("small", policy, write_corpus(faulty)))["faults"] == ["1"]


def test_two_policies_are_compared_by_the_rows_on_which_they_differ(
    found: Evaluation, corpus: Corpus, tmp_path: Path
) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(POLICY.replace("policy: small", "policy: other").replace("< least", "< 5"))
    policy = load([str(other)], cwd=str(tmp_path), found=False).policy
    against = evaluate("other", policy, corpus)
    differ = [
        (after.item.id, before.strongest, after.strongest)
        for before, after in changed(found, against)
    ]
    assert differ == [("2", "deny", "warn"), ("4", "deny", "off"), ("8", "deny", "off")]
    assert "| 8 | bad | deny | off |" in tables.compared(found, against)
    assert "No row is judged otherwise." in tables.compared(found, found)


def test_the_table_of_rules_shows_every_rule_with_its_figures(found: Evaluation) -> None:
    head, _, short, because, _ = tables.rules(found).splitlines()
    assert head.startswith("| rule | effect | fires | precision | recall |")
    assert short.startswith("| `small/short` | deny | 2 | 0.5 (")
    assert short.endswith("| short | 0.333 (1) |")
    assert because.endswith("| vague | 0 (0) |")


def test_a_page_gets_its_tables_anew_and_keeps_the_rest(found: Evaluation) -> None:
    page = "# A\n\n<!-- eval: kinds -->\nold\n<!-- end -->\n\ntext\n"
    made = with_tables("a.md", page, found)
    assert made == f"# A\n\n<!-- eval: kinds -->\n{tables.kinds(found)}\n<!-- end -->\n\ntext\n"
    assert with_tables("a.md", made, found) == made


def test_a_mark_in_a_fenced_block_is_an_example(found: Evaluation) -> None:
    fenced = "```text\n<!-- eval: rules -->\n<!-- end -->\n```\n"
    asked = "<!-- eval: kinds -->\n<!-- end -->\n"
    made = with_tables("a.md", fenced + asked, found)
    assert made.startswith(fenced)
    assert tables.kinds(found) in made
    with pytest.raises(BadPage, match="it asks for no table"):
        with_tables("a.md", fenced, found)


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("# A\n", "a.md: it asks for no table; write <!-- eval: rules --> and <!-- end -->"),
        (
            "\n<!-- eval: rule -->\n<!-- end -->\n",
            "a.md:2: no table is called `rule`; did you mean `rules`?",
        ),
        (
            "<!-- eval: rules -->\n| a |\n",
            "a.md:1: this table does not end; write <!-- end --> after it",
        ),
    ],
)
def test_a_page_that_asks_for_nothing_or_does_not_end_is_told(
    page: str, complaint: str, found: Evaluation
) -> None:
    with pytest.raises(BadPage) as raised:
        with_tables("a.md", page, found)
    assert str(raised.value) == complaint
