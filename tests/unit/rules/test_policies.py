"""The policies in use: each parses, checks clean and prints as what it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tool_intent.rules.check import check_condition, check_text
from tool_intent.rules.environment import DEFAULT, Environment
from tool_intent.rules.parse import parse_condition, parse_rules
from tool_intent.rules.printer import print_condition, print_rules
from tool_intent.rules.tree import NOWHERE, conditions, walk
from tool_intent.rules.types import TEXT

POLICIES = Path(__file__).parents[2] / "assets" / "policies"
FILES = sorted(POLICIES.glob("*.rules"))
YAML = sorted(POLICIES.glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_rule_file_in_use_checks_clean(path: Path) -> None:
    tree, found = check_text(path.read_text("utf-8"), path.name)
    assert found == ()
    assert tree is not None


def test_the_corpus_has_its_rules() -> None:
    trees = [parse_rules(path.read_text("utf-8"), path.name)[0] for path in FILES]
    assert sum(len(tree.rules) for tree in trees) >= 75


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_printing_keeps_what_a_file_says_and_settles(path: Path) -> None:
    tree, _ = parse_rules(path.read_text("utf-8"), path.name)
    printed = print_rules(tree)
    again, found = parse_rules(printed, path.name)
    assert found == ()
    assert again == tree
    assert print_rules(again) == printed


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_printing_keeps_every_comment(path: Path) -> None:
    text = path.read_text("utf-8")
    tree, _ = parse_rules(text, path.name)
    comments = [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]
    assert [line for line in print_rules(tree).splitlines() if line.startswith("#")] == comments


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_span_of_every_condition_is_its_text(path: Path) -> None:
    """Parsing the text under a condition's span gives the condition again."""
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    tree, _ = parse_rules(text, path.name)
    for rule in tree.rules:
        for outer in conditions(rule):
            for node in walk(outer):
                line, column, end_line, end_column = node.span
                assert node.span != NOWHERE
                part = lines[line - 1 : end_line]
                part[-1] = part[-1][: end_column - 1]
                part[0] = part[0][column - 1 :]
                again, found = parse_condition("".join(part), path.name)
                assert found == ()
                assert again == node


def blocks() -> list[tuple[Path, str]]:
    return [
        (path, text)
        for path in YAML
        if (text := yaml.safe_load(path.read_text("utf-8")).get("rules"))
    ]


@pytest.mark.parametrize(("path", "text"), blocks(), ids=lambda v: getattr(v, "stem", ""))
def test_a_rules_block_checks_clean(path: Path, text: str) -> None:
    assert check_text(text, path.name)[1] == ()


def whens() -> list[tuple[str, str, dict]]:
    found = []
    for path in YAML:
        policy = yaml.load(path.read_text("utf-8"), yaml.BaseLoader)
        for key, entries in policy.get("tools", {}).items():
            found += [
                (key, entry["when"], policy.get("fields", {}))
                for entry in (entries if isinstance(entries, list) else [entries])
                if "when" in entry
            ]
    return found


@pytest.mark.parametrize(("key", "text", "fields"), whens())
def test_a_when_checks_clean(key: str, text: str, fields: dict) -> None:
    environment = Environment(fields=dict.fromkeys(fields, TEXT) or DEFAULT.fields)
    condition, found = parse_condition(text, "policy.yaml")
    assert found == ()
    assert check_condition(condition, "policy.yaml", [key], environment).diagnostics == ()
    assert parse_condition(print_condition(condition), "x")[0] == condition
