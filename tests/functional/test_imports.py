"""What a fresh process imports: a host pays for it at every start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .command import DEADLINE, TRACED, Command, call, lines, reasoned

#: Authoring time, and what costs a start more than it is worth.
HEAVY = {
    "yaml", "_yaml", "lark", "jsonschema", "referencing", "typer", "click", "rich", "dataclasses",
    "pickle", "inspect", "ast", "tempfile", "subprocess", "asyncio", "logging", "unicodedata",
    "pathlib", "importlib.metadata", "importlib.resources",
}  # fmt: skip


def _heavy(imported: set[str]) -> set[str]:
    return {n for n in imported if n in HEAVY or n.partition(".")[0] in HEAVY}


@pytest.mark.parametrize("options", [(), ("--policy", "std/baseline")])
def test_a_decision_from_the_cache_imports_nothing_of_authoring_time(
    options: tuple[str, ...], plain: Command
) -> None:
    session = lines(
        reasoned("read", path="a"),
        call("bash", command="ls"),
        call("edit", path="a", edits=[{"oldText": "a"}]),
        call("surf", url="x"),
    ) + "nonsense\n"  # fmt: skip
    cold = plain("decide", *options, stdin=session, env=TRACED)
    warm = plain("decide", *options, stdin=session, env=TRACED)
    assert "yaml" in cold.imported, "the first run parses the policy"
    assert warm.out == cold.out
    assert _heavy(warm.imported) == set()
    assert not any(m.startswith("tool_intent.policy.load") for m in warm.imported)
    assert "tool_intent.runtime.judge" in warm.imported, "the trace works"


RULES = """\
version: 1
policy: by-rules
tools:
  edit: {optional: [intent, rationale]}
rules: |
  rule by-rules/words on edit
    require words(intent) >= 3 and not rationale mentions ["todo", "tbd"] else warn "Say more."
  rule by-rules/protected on edit
    when path like "infra/**" or path under "secrets" require rationale mentions "approved"
  rule by-rules/read-before on edit
    require earlier @read where path == this.path within 20 calls else warn "Read it first."
  rule by-rules/repeats on edit
    forbid intent restates call or rationale resembles intent else warn "Say more."
"""
PATTERN = """\
  rule by-rules/boilerplate on edit
    forbid rationale matches /^\\W*$/ else deny "Say why."
"""


@pytest.mark.parametrize(("rules", "needed"), [(RULES, set()), (RULES + PATTERN, {"re2"})])
def test_a_decision_by_rules_imports_no_parser_and_the_pattern_engine_only_for_patterns(
    rules: str, needed: set[str], bare: Command
) -> None:
    (bare.cwd / "rules.yaml").write_text(rules, encoding="utf-8")
    session = lines(call("read", path="a"), reasoned("edit", path="a", edits=[]))
    cold = bare("decide", "--policy", "rules.yaml", stdin=session, env=TRACED)
    warm = bare("decide", "--policy", "rules.yaml", stdin=session, env=TRACED)
    assert {"yaml", "lark"} <= cold.imported, "the first run parses the policy and its rules"
    assert warm.out == cold.out
    assert {answer["decision"] for answer in warm.answers} == {"allow"}
    assert "tool_intent.runtime.linking" in warm.imported, "rules were linked"
    assert _heavy(warm.imported) == set()
    assert not any(m.startswith("tool_intent.rules") for m in warm.imported)
    assert {"re2", "tree_sitter"} & warm.imported == needed


def _brought_by_tree_sitter() -> set[str]:
    """What the parser's own packages import on this interpreter (they look for their files)."""
    tell = "import sys, tree_sitter, tree_sitter_bash; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path += {sys.path!r}; {tell}"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=True,
    )
    return _heavy(set(run.stdout.split()))


@pytest.mark.parametrize(
    ("session", "needed"),
    [
        (reasoned("write", path="a", content="x"), set()),
        (reasoned("bash", command="git status"), {"tree_sitter"}),
    ],
)
def test_the_shell_parser_comes_in_with_the_first_command(
    session: dict[str, object], needed: set[str], bare: Command
) -> None:
    bare("decide", "--policy", "std/strict", stdin=lines(session))
    warm = bare("decide", "--policy", "std/strict", stdin=lines(session), env=TRACED)
    assert _heavy(warm.imported) <= (_brought_by_tree_sitter() if needed else set())
    assert {"tree_sitter"} & warm.imported == needed


def test_a_refused_option_still_needs_no_typer_where_it_is_plainly_spelt(plain: Command) -> None:
    done = plain("decide", "--now", "yesterday", env=TRACED)
    assert done.code == 2
    assert {"typer", "rich"} & done.imported == set()


def test_patterns_alone_bring_in_the_pattern_engine(payments: Command, plain: Command) -> None:
    for command, needed in ((payments, True), (plain, False)):
        session = lines(reasoned("write", path="a", content="x", ticket="PAY-1"))
        command("decide", stdin=session)
        warm = command("decide", stdin=session, env=TRACED)
        assert warm.answers[0]["decision"] == "allow"
        assert ("re2" in warm.imported) is needed


def _fresh(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_else() -> None:
    added = set(_fresh(
        "import sys; before = set(sys.modules); import tool_intent;"
        " print(*sorted(set(sys.modules) - before))"
    ).split())  # fmt: skip
    assert {m for m in added if m.startswith("tool_intent")} == {
        "tool_intent", "tool_intent.__about__",
    }  # fmt: skip
    assert _heavy(added) == set()
    assert {"json", "re2"} & added == set()


def test_every_public_name_is_there_when_it_is_used() -> None:
    said = _fresh(
        "import tool_intent as t; print(all(getattr(t, n) is not None for n in t.__all__),"
        " sorted(dir(t)) == sorted(t.__all__), hasattr(t, 'nothing'))"
    )
    assert said == "True True False"
