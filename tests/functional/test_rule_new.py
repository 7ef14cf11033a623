"""`tool-intent rule new`: what it writes works as it is, and nothing is overwritten."""

from __future__ import annotations

import json

import pytest

from .command import Command, tree

RULE = ".tool-intent/no-stock-phrases.rules"
CORPUS = ".tool-intent/corpus/no-stock-phrases.jsonl"


@pytest.fixture
def started(bare: Command) -> Command:
    assert bare("init").code == 0
    assert bare("rule", "new", "acme/no-stock-phrases").code == 0
    return bare


def test_a_new_rule_checks_clean_and_its_examples_show_what_they_say(started: Command) -> None:
    assert started("check", "--strict").code == 0
    done = started("test")
    assert (done.code, done.out) == (0, "2 examples of 1 rule: 2 as they say, 0 not\n")


@pytest.mark.slow
def test_a_new_rule_meets_the_thresholds_of_its_corpus(started: Command) -> None:
    done = started("eval", RULE, CORPUS, "--format", "json")
    assert (done.code, done.err) == (0, "")
    said = json.loads(done.out)
    assert (said["corpus"]["good"], said["corpus"]["bad"]) == (4, 4)
    assert {gate["rule"] for gate in said["thresholds"]} == {None, "acme/no-stock-phrases"}


def test_a_new_rule_is_enforced_with_the_policy_beside_it(started: Command) -> None:
    call = {"tool": "write", "args": {"path": "a", "content": "b", "intent": "Add a"}}
    call["args"] |= {"rationale": "Standard procedure, as usual."}  # type: ignore[operator]
    (decision,) = started.decide({"id": 1} | call)
    assert [f["rule"] for f in decision["findings"]] == ["acme/no-stock-phrases"]


def test_its_page_takes_the_measured_table(started: Command) -> None:
    page = started.cwd / ".tool-intent/pages/no-stock-phrases.md"
    assert started("eval", RULE, CORPUS, "--into", str(page)).code == 0
    text = page.read_text("utf-8")
    for part in ("**Avoid.**", "**Prefer.**", "**Why.**", "**Options.**"):
        assert part in text
    assert "| `acme/no-stock-phrases` | warn | 4 | 1 | 1 |" in text


def test_an_existing_file_is_never_touched_and_nothing_is_written_beside_it(bare: Command) -> None:
    words = bare.cwd / ".tool-intent/words/no-stock-phrases.txt"
    words.parent.mkdir(parents=True)
    words.write_text("ours\n", encoding="utf-8")
    before = tree(bare.cwd)
    done = bare("rule", "new", "acme/no-stock-phrases")
    assert (done.code, done.out) == (2, "")
    assert "words/no-stock-phrases.txt is already there; take another name" in done.err
    assert tree(bare.cwd) == before


def test_files_go_where_they_are_wanted(bare: Command) -> None:
    assert bare("rule", "new", "acme/x", "--in", "packs").code == 0
    assert bare("test", "packs/x.rules").code == 0
    assert "tool-intent test packs/x.rules" in (bare.cwd / "packs/x.rules").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Acme/No Phrases", "acme/no-phrases"),
        ("phrases", "acme/phrases"),
        ("acme/../x", "acme/no-stock-phrases"),
        ("", "acme/no-stock-phrases"),
    ],
)
def test_a_name_that_is_none_is_told_with_one_that_is(name: str, near: str, bare: Command) -> None:
    done = bare("rule", "new", name)
    assert (done.code, done.out) == (2, "")
    assert f"write prefix/name in lower case, such as {near}" in done.err
    assert tree(bare.cwd) == {}


def test_a_folder_that_cannot_be_written_is_told(bare: Command) -> None:
    (bare.cwd / "file").write_text("", encoding="utf-8")
    done = bare("rule", "new", "acme/x", "--in", "file")
    assert done.code == 2
    assert "cannot be written" in done.err
