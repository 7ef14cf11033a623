"""Positions of embedded texts, the tree's own facts, one grammar for a process and its threads."""

from __future__ import annotations

import threading

import pytest

from tool_intent.rules import parse
from tool_intent.rules import tree as t
from tool_intent.rules.parse import parse_condition, parse_partly, parse_rules


def test_an_embedded_block_is_placed_in_its_file() -> None:
    _, found = parse_rules(
        "rule a/b on *\n  forbid x && y\n", "p.yaml", line_offset=9, column_offset=2
    )
    assert [(d.file, d.line, d.column, d.end_column) for d in found] == [("p.yaml", 11, 14, 15)]
    tree, _ = parse_rules("\nrule a/b on *\n  forbid x\n", "p.yaml", line_offset=9, column_offset=2)
    assert tree.rules[0].id_span == t.Span(11, 8, 11, 11)


def test_an_embedded_condition_is_placed_in_its_file() -> None:
    _, found = parse_condition('a == "\\q"', "p.yaml", 4, 10)
    assert [(d.line, d.column) for d in found] == [(5, 17)]
    condition, _ = parse_condition("x and\ny", "p.yaml", 4, 10)
    assert condition.span == t.Span(5, 11, 6, 12)


def test_what_stands_in_braces_is_placed_in_its_file() -> None:
    tree, _ = parse_rules('rule a/b on *\n  deny "é" "no {path}"\n', "f")
    message = tree.rules[0].verdict.message
    assert message.parts[0] == "é no "
    assert message.parts[1].span == t.Span(2, 16, 2, 22)
    assert message.parts[1].expression.span == t.Span(2, 17, 2, 21)


def test_escapes_of_a_text() -> None:
    condition, _ = parse_condition(r'"a\"\\\n\té😀\/"', "c")
    assert condition == t.TextLiteral('a"\\\n\té😀/')


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("5ms", 5), ("5s", 5_000), ("2m", 120_000), ("2h", 7_200_000), ("1d", 86_400_000)],
)
def test_durations(text: str, milliseconds: int) -> None:
    condition, _ = parse_condition(f"earlier * within {text}", "c")
    assert condition.window == t.Window(milliseconds=milliseconds, text=text)


def test_a_member_may_be_named_like_a_clause() -> None:
    condition, found = parse_condition("p.from == p.in and p.not.or == 1", "c")
    assert found == ()
    assert condition.operands[0].left == t.Path("p", ("from",))


def test_sound_statements_are_kept_for_editors_only() -> None:
    text = 'words w = ["a"\nrule a/b on * forbid true\ndefine x = "\\q" == path'
    assert parse_rules(text, "f")[0] is None
    partly = parse_partly(text, "f")
    assert [rule.id for rule in partly.tree.rules] == ["a/b"]
    assert partly.lost == {"w", "x"}
    assert [d.line for d in partly.diagnostics] == [1, 3]
    assert len(partly.tree.statements) == 1


def test_a_call_of_words_at_the_start_of_a_line_is_no_statement() -> None:
    text = "rule a/b on *\n  require\n  words(intent) >= 3 and\nrule == 1 and\noption in [1]"
    tree, found = parse_rules(text, "f")
    assert found == ()
    assert len(tree.rules) == 1


def test_an_example_keeps_its_calls_and_context() -> None:
    text = """rule a/b on * forbid true
      bad bash {a: 1, "b c": [true, null, {d: "x"}]} with {branch: "main"}
          after read passed {path: "a"} after write {}"""
    tree, found = parse_rules(text, "f")
    assert found == ()
    assert tree.rules[0].examples == (
        t.Example(
            "bad",
            "bash",
            {"a": 1, "b c": [True, None, {"d": "x"}]},
            {"branch": "main"},
            (t.EarlierCall("read", "passed", {"path": "a"}), t.EarlierCall("write", None, {})),
        ),
    )


def test_one_grammar_serves_all_threads() -> None:
    text = "".join(f"# c{n}\nrule a/b{n} on *\n  forbid true # d{n}\n" for n in range(40))
    wanted = parse_rules(text, "f")[0]
    assert wanted.rules[7].comments == ("# c7", "# d7")
    found: list[t.RuleFile | None] = []
    threads = [
        threading.Thread(target=lambda: found.append(parse_rules(text, "f")[0])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 4
    assert parse._lark.cache_info().currsize == 1
