"""What a policy and its catalogs tell the checker, and what that changes."""

from __future__ import annotations

import pytest

from tool_intent.rules.check import check_condition, check_rules, check_text
from tool_intent.rules.environment import DEFAULT, Environment, ToolFacts, field_type
from tool_intent.rules.functions import FUNCTION_TABLE, FUNCTIONS
from tool_intent.rules.parse import parse_condition, parse_rules
from tool_intent.rules.types import ANY, INT, PATH, TEXT, from_schema, list_of

EDIT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "dry": {"type": "boolean"},
        "count": {"type": "integer"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path", "edits"],
    "additionalProperties": False,
}
KNOWN = Environment(
    fields={"intent": TEXT, "rationale": TEXT, "risk": TEXT, "weight": INT},
    groups={"@write": frozenset({"edit", "write"}), "@exec": frozenset({"bash"})},
    tools={
        "edit": (ToolFacts({"path": ("path",)}, EDIT),),
        "write": (ToolFacts({"path": ("path",), "content": ("text",)}, None),),
        "bash": (
            ToolFacts({"command": ("command",)}, {"properties": {"command": {"type": "string"}}}),
        ),
    },
    open_fields=False,
)


def told(text: str, *targets: str, environment: Environment = KNOWN) -> list[str]:
    condition, found = parse_condition(text, "c")
    assert found == ()
    checked = check_condition(condition, "c", targets, environment)
    return [f"{d.column} {d.message} | {d.help}" for d in checked.diagnostics]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("command runs \"rm\"", ["bash"]),
        ("path under \"src\"", ["@write"]),
        ("content mentions \"x\"", ["@write"]),
        ("command runs \"rm\"", ["mcp__*"]),
        ("args.path under \"src\" and args.edits[0].newText matches /a/", ["edit"]),
        ("has args.dry and args.dry == true", ["edit"]),
        ("any(e in args.edits: e.rationale == rationale)", ["edit"]),
        ("has risk and risk == \"high\" and weight > 3", ["edit"]),
        ("args.anything == 1", ["write"]),
        ("args.anything == 1", ["@write"]),
    ],
)  # fmt: skip
def test_what_is_known_checks_clean(text: str, targets: list[str]) -> None:
    assert told(text, *targets) == []


def test_an_argument_that_one_of_the_tools_lacks_may_be_absent() -> None:
    assert told('args.path == "a"', "edit") == []
    (only,) = told('args.path == "a"', "edit", "bash")
    assert only.startswith("1 `args.path` may be absent")


def test_what_the_judged_call_has_an_earlier_one_may_lack() -> None:
    text = "has args.dry and earlier edit where args.dry == this.args.dry within 2 calls"
    (only,) = told(text, "edit")
    assert only.startswith("37 `args.dry` may be absent")


@pytest.mark.parametrize(
    ("text", "target", "wanted"),
    [
        ('command runs "rm"', "edit", "1 nothing is called `command` on edit"),
        ("content mentions \"x\"", "edit", "1 nothing is called `content` on edit"),
        ("has ticket", "edit", "5 nothing is called `ticket` on edit"),
        ("args.pth == \"a\"", "edit", "6 record has no member `pth` | did you mean `path`?"),
        ("args.dry == true", "edit", "1 `args.dry` may be absent | write `has args.dry and …`"),
        ("has args.count and args.count == \"a\"", "edit", "31 `==` cannot compare int with text"),
        ("args.edits[0].newTxt == \"a\"", "edit", "15 record has no member `newTxt`"),
        ("args.path[0] == \"a\"", "edit", "11 text is no list"),
        ("weight mentions \"a\"", "edit", "1 `mentions` takes text, not int"),
        ("risk under \"a\"", "edit", "1 `under` takes a path, not text"),
    ],
)  # fmt: skip
def test_what_is_not_is_told(text: str, target: str, wanted: str) -> None:
    (only,) = told(text, target)
    assert only.startswith(wanted)


def test_a_text_argument_may_be_a_path_and_an_argument_of_a_role_is_not_shown() -> None:
    text = (
        'rule a/b on edit deny "{args.path}"\n'
        'rule a/c on bash when has args.command deny "{args.command}"'
    )
    tree, _ = parse_rules(text, "f")
    found = check_rules(tree, "f", KNOWN).diagnostics
    assert [(d.line, d.message) for d in found] == [(2, "a text is never echoed to the model")]


def test_a_target_that_no_known_tool_matches_is_a_warning() -> None:
    text = "rule a/b on edti, mcp__*, @write\n  forbid earlier bahs within 3 calls"
    tree, found = check_text(text, "f", KNOWN)
    assert tree is not None
    assert [(d.severity, d.line, d.column, d.message, d.help) for d in found] == [
        ("warning", 1, 13, "no known tool matches `edti`", "did you mean `edit`?"),
        ("warning", 1, 19, "no known tool matches `mcp__*`",
         "see the catalogs for the tools' names"),
        ("warning", 2, 18, "no known tool matches `bahs`", "did you mean `bash`?"),
    ]  # fmt: skip


def test_what_this_means_is_what_the_name_means_for_the_call_being_judged() -> None:
    condition, _ = parse_condition("earlier * where this.path == path within 2 calls", "c")
    checked = check_condition(condition, "c", ["bash"], DEFAULT)
    assert checked.meanings[id(condition.where.left)] == "role"
    assert checked.types[id(condition.where.left)] == PATH


def test_every_node_has_a_type_and_every_root_a_meaning() -> None:
    condition, _ = parse_condition('any(p in call.paths: p under "a") and has ticket', "c")
    checked = check_condition(condition, "c", ["bash"], DEFAULT)
    quantifier = condition.operands[0]
    assert checked.types[id(quantifier.source)] == list_of(PATH)
    assert checked.types[id(quantifier.condition.left)] == PATH
    assert checked.meanings[id(quantifier.source)] == "call"
    assert checked.meanings[id(quantifier.condition.left)] == "variable"
    assert checked.meanings[id(condition.operands[1].path)] == "field"


def test_a_field_is_text_unless_its_schema_has_another_type() -> None:
    assert field_type({"minLength": 3}) == field_type({"type": "string"}) == TEXT
    assert field_type({"type": "integer"}) == INT
    assert field_type(True) == TEXT


def test_a_schema_that_says_little_is_any() -> None:
    assert from_schema({"anyOf": []}) == from_schema({"type": ["string", "null"]}) == ANY


def test_the_function_table() -> None:
    assert FUNCTION_TABLE == 1
    assert {f.name for f in FUNCTIONS.values() if f.infix} == {
        "mentions", "restates", "resembles", "like", "under", "in", "matches", "runs",
    }  # fmt: skip
    assert {f.name for f in FUNCTIONS.values() if not f.infix} == {
        "words", "length", "lower", "sentences", "overlap", "similarity", "jaccard", "distinct",
        "basename", "paths", "urls", "scripts", "without", "novel",
        "content", "coverage", "cues", "digest", "echo", "seen",
    }  # fmt: skip
    assert all(f.doc and len(f.parameters) == 2 for f in FUNCTIONS.values() if f.infix)
