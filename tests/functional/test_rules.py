"""`test`, `explain` and what `check` and `show` say of rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .command import ASSETS, Command, call, lines, rules

RULES = """\
words runners = ["pytest", "npm test"]

rule shell/names on @exec
  when command runs ["rm", "shred"]
  require all(p in command.deletes: rationale mentions p)
  else ask "Name every path that goes: {p}."
  floor warn
  bad bash {command: "rm -rf build", rationale: "It is old."}
  ok  bash {command: "rm -rf build", rationale: "build is old."}

rule git/tested on @exec except exec_command
  when command runs "git push"
  require earlier @exec passed where command runs runners within 20 calls
  bad bash {command: "git push"}
      after bash failed {command: "pytest"}
  ok  bash {command: "git push"}
      after bash passed {command: "pytest"}
"""
WRONG = """\
rule shell/names on @exec
  require rationale mentions "why"
  ok  bash {command: "rm -rf build", rationale: "It is old."}
  bad bash {command: "rm -rf build", rationale: "That is why."}
  ok  read {path: "a"}
"""


@pytest.fixture
def project(bare: Command) -> Command:
    """A project with a policy and two rules."""
    put(bare, ".tool-intent/policy.yaml", "version: 1\npolicy: a/b\nextends: std/baseline\n")
    put(bare, ".tool-intent/ours.rules", RULES)
    return bare


def put(command: Command, name: str, text: str) -> Path:
    path = command.cwd / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def remove(reason: str, command: str = "rm -rf build") -> dict[str, Any]:
    return call("bash", command=command, intent="Build from nothing", rationale=reason)


# test


def test_examples_that_show_what_they_say_pass(project: Command) -> None:
    done = project("test")
    assert (done.code, done.err) == (0, "")
    assert done.out == "4 examples of 2 rules: 4 as they say, 0 not\n"


def test_a_rule_file_by_itself_finds_its_fields_on_the_call(bare: Command) -> None:
    put(bare, "ours.rules", RULES)
    assert bare("test", "ours.rules").code == 0


def test_a_rule_file_by_itself_finds_its_fields_in_edits(bare: Command) -> None:
    text = """rule a/b on edit
  when has ticket
  require ticket mentions "PAY"
  bad edit {path: "a", edits: [{oldText: "a", newText: "b", ticket: "none"}]}
  ok  edit {path: "a", edits: [{oldText: "a", newText: "b", ticket: "PAY 7"}]}
"""
    put(bare, "ours.rules", text)
    assert bare("test", "ours.rules").code == 0


def test_every_example_that_does_not_is_told_with_its_line_and_the_tree(bare: Command) -> None:
    put(bare, "wrong.rules", WRONG)
    done = bare("test", "wrong.rules")
    assert (done.code, done.err) == (1, "")
    assert "wrong.rules:3:3: error: `shell/names` should be a rule that is quiet" in done.out
    assert "wrong.rules:4:3: error: `shell/names` should be a rule that fires" in done.out
    assert "it is not about the tool `read`" in done.out
    assert '=> false      require rationale mentions "why"' in done.out
    assert 'rationale = "It is old."' in done.out
    assert done.out.endswith("3 examples of 1 rule: 0 as they say, 3 not\n")


def test_examples_are_data_on_request(bare: Command) -> None:
    put(bare, "wrong.rules", WRONG)
    done = bare("test", "wrong.rules", "--format", "json")
    assert done.code == 1
    data = json.loads(done.out)
    assert [(e["label"], e["outcome"], e["passed"]) for e in data["examples"]] == [
        ("ok", "fired", False), ("bad", "quiet", False), ("ok", "did not apply", False),
    ]  # fmt: skip
    assert {d["code"] for d in data["diagnostics"]} == {"rules/example"}
    assert [d["line"] for d in data["diagnostics"]] == [3, 4, 5]


def test_each_example_is_judged_by_its_rule_alone(bare: Command) -> None:
    text = """rule a/b on bash
  when command runs "ls"
  deny "No."
  bad bash {command: "ls"}
  ok  bash {command: "pwd"}

rule a/everything on *
  deny "Nothing is allowed."
  bad bash {command: "pwd"}
"""
    put(bare, "ours.rules", text)
    done = bare("test", "ours.rules")
    assert done.code == 0
    assert "warning: `a/everything` has no `ok` example [rules/no-example]" in done.out


@pytest.mark.parametrize(("outcome", "code"), [("passed", 0), ("failed", 1), ("tried", 1), ("", 1)])
def test_an_earlier_call_has_the_outcome_that_is_written(
    outcome: str, code: int, bare: Command
) -> None:
    text = f"""rule a/b on bash
  require earlier read passed within 5 calls
  bad bash {{command: "x"}}
  ok  bash {{command: "x"}} after read {outcome} {{path: "a"}}
"""
    put(bare, "ours.rules", text)
    assert bare("test", "ours.rules").code == code


def test_an_example_may_say_what_the_surface_tells(bare: Command) -> None:
    text = """rule a/b on bash
  forbid context.branch == "main"
  bad bash {command: "x"} with {branch: "main"}
  bad bash {command: "x"}
  ok  bash {command: "x"} with {branch: "fix"}
"""
    put(bare, "ours.rules", text)
    assert bare("test", "ours.rules").code == 0


def test_an_example_that_no_surface_could_send_is_no_example(bare: Command) -> None:
    text = """rule a/b on bash
  deny "No."
  bad bash {command: "x", __proto__: {a: 1}}
"""
    put(bare, "ours.rules", text)
    done = bare("test", "ours.rules")
    assert done.code == 1
    assert "judging it failed" in done.out


@pytest.mark.slow
def test_rules_of_packs_are_tested_where_a_pack_is_named(bare: Command) -> None:
    pack = bare("test", "std/shell")
    assert pack.code == 0, pack.out
    assert " 0 not" in pack.out
    assert not pack.out.startswith("0 ")
    put(bare, ".tool-intent/policy.yaml", "version: 1\nextends: std/shell\n")
    own = bare("test")
    assert own.code == 0
    assert "no rule to test" in own.out


def test_a_policy_that_cannot_be_used_is_not_tested(bare: Command) -> None:
    put(bare, ".tool-intent/policy.yaml", "version: 1\nunlisted: maybe\n")
    done = bare("test")
    assert (done.code, done.out) == (2, "")
    assert "policy/effect" in done.err
    put(bare, "b.rules", "rule a/b on\n")
    assert bare("test", "b.rules").code == 2
    assert bare("test", "nowhere.rules").code == 2


# where rules are judged


ENTRIES = """\
version: 1
policy: a/b
tools:
  edit:
    - {at: "edits[]", optional: [intent]}
    - {optional: [rationale]}
  note: {optional: [intent]}
rules: |
  define is_key = entry.newText matches /AKIA/
  rule e/key on *
    forbid is_key
    else deny "A key."
  rule e/again on edit
    forbid earlier edit where args.path == this.entry.newText within 5 calls
    else warn "It is the name of what was edited."
"""


def test_a_rule_that_reads_entry_and_no_field_is_judged_at_every_entry(bare: Command) -> None:
    put(bare, ".tool-intent/policy.yaml", ENTRIES)
    edits = [{"newText": "x = 1"}, {"newText": "AKIA"}, {"newText": "a.py"}]
    first, second, other, none = bare.decide(
        call("edit", path="a.py", edits=edits[:1]),
        call("edit", path="b.py", edits=edits),
        # Without entries of its own the call is what carries fields, or the only place there is.
        call("note", newText="AKIA"),
        call("odd", newText="x"),
    )
    assert first["findings"] == none["findings"] == []
    assert rules(second) == [("e/key", "/edits/1", "deny"), ("e/again", "/edits/2", "warn")]
    assert rules(other) == [("e/key", "", "deny")]


def test_a_call_whose_entries_cannot_be_read_is_judged_itself(bare: Command) -> None:
    put(bare, ".tool-intent/policy.yaml", ENTRIES)
    for args in ({}, {"edits": "AKIA"}, {"edits": []}):
        found = bare.decide(call("edit", path="a.py", **args))[0]["findings"]
        assert found[0]["message"] == "A key. (It could not be told: entry.newText is absent.)"


# explain


def test_what_decided_is_marked(project: Command) -> None:
    done = project("explain", stdin=lines(remove("It is old.")))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("ask bash\n")
    assert "ask shell/names fires  [.tool-intent/ours.rules:3]" in done.out
    assert '=> true       when command runs ["rm", "shred"]' in done.out
    assert '=> false        p = "build": rationale mentions p' in done.out
    assert "  git/tested: when is false  [.tool-intent/ours.rules:11]" in done.out
    assert '  ok     rationale = "It is old.": rationale is required' in done.out


def test_what_is_unknown_says_why(project: Command) -> None:
    done = project("explain", stdin=lines(remove("build is old.", 'rm -rf build "$X"')))
    assert "ask shell/names fires: something is unknown" in done.out
    assert "=> unknown    require all(p in command.deletes" in done.out
    assert "could not be computed" in done.out


def test_the_last_call_of_several_is_explained_with_the_others_before_it(
    project: Command,
) -> None:
    tested, pushed = remove("x", "pytest"), remove("y", "git push")
    calls = [tested | {"id": 1}, {"id": 1, "outcome": "error"}, pushed | {"id": 2}]
    failed = project("explain", "--rule", "git/tested", stdin=lines(*calls))
    assert "deny git/tested fires" in failed.out
    assert "before it in the session: 1 bash failed" in failed.out
    calls[1] = {"id": 1, "outcome": "ok"}
    passed = project("explain", "--rule", "git/tested", stdin=lines(*calls))
    assert "deny git/tested is quiet" in passed.out
    assert "=> true         call 1, bash: command runs runners" in passed.out


def test_calls_of_another_session_are_not_before_it(project: Command) -> None:
    calls = [
        remove("x", "pytest") | {"id": 1, "session": "a"},
        {"id": 1, "outcome": "ok"},
        remove("y", "git push") | {"session": "b"},
    ]
    assert "deny git/tested fires" in project("explain", stdin=lines(*calls)).out


def test_an_explanation_is_the_decision_of_decide(project: Command) -> None:
    calls = [remove("It is old."), remove("build is old."), remove("x", "git push")]
    for number in range(1, 4):
        *_, decided = project.decide(*calls[:number])
        done = project("explain", "--format", "json", stdin=lines(*calls[:number]))
        data = json.loads(done.out)
        assert data["decision"] == decided
        fired = {r["rule"] for r in data["rules"] if any(p["fired"] for p in r["places"])}
        assert fired == {f["rule"] for f in decided["findings"]}


def test_each_place_of_a_call_is_explained(project: Command) -> None:
    put(project, ".tool-intent/more.rules", 'rule a/b on edit\n  forbid intent mentions "x"\n')
    edits = [{"intent": "x"}, {"intent": "y"}]
    text = project("explain", stdin=lines(call("edit", path="a", edits=edits))).out
    assert "deny a/b fires at edits[0]" in text
    assert "deny a/b is quiet at edits[1]" in text
    assert "broken edits[1].rationale: rationale is required" in text


def test_the_condition_of_an_entry_is_explained(bare: Command) -> None:
    policy = """version: 1
tools:
  write:
    require: [intent]
    when: path under "ledger"
"""
    put(bare, ".tool-intent/policy.yaml", policy)
    asked = bare("explain", stdin=lines(call("write", path="ledger/a", content="x"))).out
    assert "broken intent: intent is required" in asked
    assert '=> true       path under "ledger"' in asked
    idle = bare("explain", stdin=lines(call("write", path="a", content="x"))).out
    assert idle.startswith("allow write")
    assert '=> false      path under "ledger"' in idle


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        ((), "", "a call as JSON"),
        ((), "{", "line 1: input/not-json"),
        ((), '{"tool": "bash"}\n{"tol": 1}', "line 2: input/unknown-key"),
        ((), '{"id": 9, "outcome": "ok"}\n{"tool": "bash"}', "input/unknown-id"),
        (("--rule", "shell/name"), "{}", "did you mean `shell/names`?"),
        (("--cwd", "nowhere"), "{}", "there is no folder"),
        (("--policy", "nowhere"), "{}", "nowhere"),
    ],
)
def test_what_cannot_be_explained_is_said(
    arguments: tuple[str, ...], text: str, said: str, project: Command
) -> None:
    done = project("explain", *arguments, stdin=text)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_text_of_a_call_reaches_a_terminal_escaped_and_short(project: Command) -> None:
    odd = remove("\x1b[31m\u202e" + "long " * 100)
    out = project("explain", stdin=lines(odd)).out
    assert not {"\x1b", "\u202e"} & set(out)
    assert "long " * 20 not in out


# check --cost, show --effective


def test_the_worst_case_of_each_rule_is_told(project: Command) -> None:
    done = project("check", "--cost")
    assert (done.code, done.err) == (0, "")
    assert "the budget of a rule is 2,000,000" in done.out
    assert "  shell/names on " in done.out
    data = json.loads(project("check", "--cost", "--format", "json").out)
    costs = {c["rule"]: c["steps"] for c in data["costs"]}
    assert costs["shell/names"] > 256 * 16, "a test of each of 256 elements"
    assert costs["git/tested"] < 100


def test_a_rule_over_its_budget_is_named(bare: Command) -> None:
    tried = " or ".join(f'q mentions "{word}"' for word in ("a1", "b2", "c3"))
    text = f"""rule a/dear on bash
  forbid any(p in command.parts: any(q in p.args: {tried}))
"""
    put(bare, "ours.rules", text)
    done = bare("check", "--cost", "ours.rules", "--format", "json")
    data = json.loads(done.out)
    assert done.code == 0
    assert data["costs"][0]["over"] is True
    assert [d["code"] for d in data["diagnostics"]] == ["rules/cost"]
    assert bare("check", "--cost", "--strict", "ours.rules").code == 1


def test_rules_are_shown_with_what_applies(project: Command) -> None:
    shown = json.loads(project("show", "--effective", "--format", "json").out)
    assert shown["rules"][0] == {
        "rule": "shell/names", "targets": ["@exec"], "except": [], "effect": "ask",
        "floor": "warn", "message": "Name every path that goes: {p}.",
        "policy": ".tool-intent/ours.rules",
        "origin": ".tool-intent/ours.rules:3", "rank": "repo", "declared": "ask", "adjusted": [],
        "session_monotone": True,
    }  # fmt: skip
    text = project("show", "--effective").out
    assert (
        "rule shell/names on @exec: Name every path that goes: {p}. [ask, floor warn]"
        " .tool-intent/ours.rules:3\n"
    ) in text
    assert "rule git/tested on @exec except exec_command: This must hold: earlier" in text


def test_the_rules_of_the_demo_show_what_they_say(bare: Command) -> None:
    assert bare("test", str(ASSETS / "demo" / "policy.yaml")).code == 0
