"""`tool-intent eval` as people run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from .command import ASSETS, Command, lines

POLICY: Final = (ASSETS / "evaluation" / "small.yaml").read_text("utf-8")
HEADER: Final = {"corpus": "small", "version": 1, "thresholds": {"deny": {"recall": 0.5}}}


def row(id: str, rationale: str, label: str) -> dict[str, Any]:
    return {"id": id, "tool": "bash", "args": {}, "rationale": rationale, "label": label}


ROWS: Final = [row("1", "ok", "bad"), row("2", "it is so", "bad"), row("3", "a b c d", "good")]


@pytest.fixture
def small(bare: Command) -> Command:
    (bare.cwd / "small.yaml").write_text(POLICY, encoding="utf-8")
    (bare.cwd / "small.jsonl").write_text(lines(HEADER, *ROWS), encoding="utf-8")
    return bare


def gate(small: Command, **figures: float) -> None:
    header = HEADER | {"thresholds": {"deny": figures}}
    (small.cwd / "small.jsonl").write_text(lines(header, *ROWS), encoding="utf-8")


def test_figures_are_printed_for_people_and_as_data(small: Command) -> None:
    shown = small("eval", "small.yaml", "small.jsonl")
    assert (shown.code, shown.err) == (0, "")
    for heading in ("Tiers", "Thresholds", "Beside", "Rules", "Latency", "Wrong rows"):
        assert f"\n## {heading}\n" in shown.out
    said = json.loads(small("eval", "small.yaml", "small.jsonl", "--format", "json").out)
    assert said["tiers"]["deny"]["recall"]["value"] == 0.5
    assert said["confusion"]["deny"]["misses"][0]["id"] == "2"
    assert {one["name"] for one in said["baselines"]} >= {"minLength 1", "write-good"}
    assert said["latency"]["calls"] == 3


def test_a_threshold_that_is_not_met_fails(small: Command) -> None:
    gate(small, recall=0.9)
    done = small("eval", "small.yaml", "small.jsonl")
    assert done.code == 1
    assert "| deny | recall | at least 0.9 | 0.5 | **no** |" in done.out


@pytest.mark.slow
def test_another_policy_is_compared_row_by_row(small: Command) -> None:
    (small.cwd / "other.yaml").write_text(POLICY.replace("least = 2", "least = 4"), "utf-8")
    done = small("eval", "small.yaml", "small.jsonl", "--compare", "other.yaml")
    assert "| 2 | bad | deny | off |" in done.out


@pytest.mark.slow
def test_a_git_revision_of_the_policy_is_compared(origin: Any, bare: Command) -> None:
    first = origin.commit({"a/small.yaml": POLICY.replace("least = 2", "least = 4")})
    origin.commit({"a/small.yaml": POLICY, "small.jsonl": lines(*ROWS)})
    for revision in ("HEAD~1", first[:9]):
        done = bare("eval", "a/small.yaml", "small.jsonl", "--compare", revision, cwd=origin.folder)
        assert (done.code, done.err) == (0, ""), done
        assert f"## Against a/small.yaml at {revision}" in done.out
        assert "| 2 | bad | deny | off |" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("revision", "complaint"),
    [
        ("smal.yaml", "is no revision of"),
        ("--upload-pack=x", "no revision of"),
        ("before", "`before` has no file a/small.yaml"),
    ],
)
def test_what_is_neither_policy_nor_revision_is_told(
    revision: str, complaint: str, origin: Any, bare: Command
) -> None:
    origin.commit({"x": "1"}, tag="before")
    origin.commit({"a/small.yaml": POLICY, "small.jsonl": lines(*ROWS)})
    done = bare("eval", "a/small.yaml", "small.jsonl", f"--compare={revision}", cwd=origin.folder)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


def test_outside_of_a_repository_there_is_no_revision(small: Command) -> None:
    done = small("eval", "small.yaml", "small.jsonl", "--compare", "v1")
    assert done.code == 2
    assert "lies in no git repository" in done.err


@pytest.mark.slow
def test_options_are_chosen_by_cross_validation(small: Command) -> None:
    more = [row(str(n), "ab cd ef gh"[: 3 * (n % 4) + 2], "bad") for n in range(10, 20)]
    (small.cwd / "more.jsonl").write_text(lines(*ROWS, *more), "utf-8")
    done = small(
        "eval", "small.yaml", "more.jsonl", "--folds", "2", "--option", "least=2,4",
        "--format", "json",
    )  # fmt: skip
    assert (done.code, done.err) == (0, "")
    said = json.loads(done.out)["validation"]
    assert [one["options"] for one in said["tried"]] == [{"least": 2}, {"least": 4}]
    assert len(said["folds"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--option", "least=2"], "add --folds 5"),
        (["--folds", "2", "--option", "least"], "write NAME=VALUE,VALUE…"),
        (["--folds", "2", "--option", "lest=2"], "did you mean `least`?"),
        (["--folds", "2", "--option", "least=40"], "between 1 and 9"),
        (["--folds", "9"], "the corpus has 3 rows; take fewer folds"),
        (["--into", "none.md"], "none.md cannot be read or written"),
    ],
)
def test_options_that_cannot_be_used_are_told(
    arguments: list[str], complaint: str, small: Command
) -> None:
    done = small("eval", "small.yaml", "small.jsonl", *arguments)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


def test_a_page_gets_the_tables_it_asks_for(small: Command) -> None:
    page = small.cwd / "page.md"
    page.write_text("# P\n\n<!-- eval: tiers -->\n<!-- end -->\n", encoding="utf-8")
    assert small("eval", "small.yaml", "small.jsonl", "--into", "page.md").code == 0
    made = page.read_text(encoding="utf-8")
    assert "| deny | 1 | 0.5 (" in made
    assert small("eval", "small.yaml", "small.jsonl", "--into", "page.md").code == 0
    assert page.read_text(encoding="utf-8") == made


def test_a_corpus_that_cannot_be_used_is_shown_line_by_line(small: Command) -> None:
    (small.cwd / "bad.jsonl").write_text('{"id": "1", "tool": "bash", "args": {}}\n', "utf-8")
    done = small("eval", "small.yaml", "bad.jsonl")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "bad.jsonl:1:1: error: `label` is missing [corpus/unlabelled]\n"
        '  1 | {"id": "1", "tool": "bash", "args": {}}\n'
        "    | ^\n"
        "  help: say what should come of the call: good, bad (or fluff) or borderline\n"
        "tool-intent: the corpus cannot be used\n"
    )


def test_a_policy_that_cannot_be_used_is_told(small: Command) -> None:
    done = small("eval", "std/anti-fluf", "small.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "did you mean `std/anti-fluff`?" in done.err


def test_rows_and_rules_that_figures_do_not_show_are_told(small: Command) -> None:
    header = HEADER | {"kinds": {"k": "deny"}, "rules": {"no/such": ["k"]}, "thresholds": {}}
    odd = row("9", "a b c", "good") | {"args": {"__proto__": 1}}
    (small.cwd / "odd.jsonl").write_text(lines(header, *ROWS, odd), "utf-8")
    done = small("eval", "small.yaml", "odd.jsonl")
    assert done.code == 0
    assert done.err == (
        "tool-intent: the policy has no rule `no/such`, which the corpus names\n"
        "tool-intent: odd.jsonl:5: `9` could not be judged as it stands\n"
    )


@pytest.mark.slow
def test_hostile_texts_are_judged_in_bounded_time(small: Command, tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(199):
        deep = [deep]
    texts = [
        "a" * 1_000_000, "word " * 10_000, "\u200b".join("because"), "\u202edesrever", "😀" * 50,
        "ρаssing tеsts",
    ]  # fmt: skip
    odd = [row(f"t{n}", text, "bad") for n, text in enumerate(texts)]
    odd.append(row("deep", "a b c", "good") | {"args": {"deep": deep}})
    (small.cwd / "hostile.jsonl").write_text(lines(*odd), "utf-8")
    (small.cwd / "page.md").write_text("<!-- eval: tiers -->\n<!-- end -->\n", "utf-8")
    done = small("eval", "std/anti-fluff", "hostile.jsonl", "--into", "page.md")
    assert (done.code, done.err) == (0, "")
