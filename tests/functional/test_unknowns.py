"""What cannot be told, end to end: it fires with the rule's effect, and the message names it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tool_intent import Guard
from tool_intent.compiler.artifact import Artifact
from tool_intent.runtime.model import STRENGTH

from .command import Command, call
from .test_policies import write
from .test_public_faults_rules import WHY

CASES: Final = yaml.safe_load(Path(__file__).with_name("unknowns.yaml").read_text("utf-8"))
MACROS: Final = {
    "$marks": "a" + "\u0301" * 31,
    "$257": [str(n) for n in range(257)],
    "$256": [str(n) for n in range(256)],
    "$words256": [f"{n} {'word ' * 200}" for n in range(256)],
}


def policy(folder: Path, rules: str) -> None:
    """Rules over std/baseline, and reasons that no other tool has to give."""
    indented = rules.replace("\n", "\n  ")
    text = f"version: 1\npolicy: acme\nextends: std/baseline\nrules: |\n  {indented}\n"
    text += 'tools:\n  "*": {optional: [intent, rationale]}\n'
    write(folder / ".tool-intent" / "policy.yaml", text)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_cannot_be_told_fires_and_is_named(case: dict[str, Any], bare: Command) -> None:
    policy(bare.cwd, case["rules"])
    rows = [(*row, {})[:4] for row in case["calls"]]
    answers = bare.decide(
        *(
            call(
                tool,
                **WHY | {k: MACROS.get(v, v) if isinstance(v, str) else v for k, v in a.items()},
            )
            | {"context": context}
            for _, tool, a, context in rows
        )
    )
    says = case.get("says", "")
    each = [says] * len(rows) if isinstance(says, str) else says + [""] * (len(rows) - len(says))
    for (effect, _, args, _), answer, why in zip(rows, answers, each, strict=True):
        found = [f for f in answer["findings"] if f["rule"] == "u/x"]
        assert [f["effect"] for f in found] == ([] if effect == "allow" else [effect]), args
        for finding in found:
            assert f"(It could not be told: {why}.)" in finding["message"]
            assert answer["message"] is None or "could not be told" in answer["message"]


RULES: Final = """\
define path_like = all(p in call.paths: p under "src")
rule d/a on bash
  forbid command runs "rm" or context.branch == "main"
rule d/b on bash
  require rationale mentions "because" or context.user in ["ci", "root"]
  else ask "Why?"
rule d/c on bash
  when not path_like and has intent
  warn "Elsewhere."
rule d/d on bash
  forbid count(w in call.paths: w like "*.py") > 1 unless words(intent) >= 3
  else ask "Several."
"""


def test_hiding_an_input_never_lowers_a_decision(tmp_path: Path) -> None:
    """Spot checks of the law over four rules and every mixture of their inputs."""
    policy(tmp_path, RULES)
    guard = Guard.load(cwd=str(tmp_path))
    inputs = {
        "command": ["ls src/a.py", "rm x", "cat src/a.py b.py"],
        "intent": ["See a", "See what is in there"],
        "rationale": ["Review", "because of it"],
        "branch": ["main", "fix"],
        "user": ["ci", "me"],
    }

    def strength(values: dict[str, Any]) -> int:
        args = {k: values[k] for k in ("command", "intent", "rationale")}
        context = {k: values[k] for k in ("branch", "user")}
        return STRENGTH[guard.check("bash", args, context=context).decision.replace("allow", "off")]

    seen = set()
    for mixture in product(*inputs.values()):
        known = dict(zip(inputs, mixture, strict=True))
        told = strength(known)
        seen.add(told)
        for name in inputs:
            assert strength(known | {name: {"no": "scalar"}}) >= told, (known, name)
    assert seen == {STRENGTH["off"], STRENGTH["ask"], STRENGTH["deny"]}


def test_a_rule_that_fails_inside_denies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy(tmp_path, 'rule e/x on @exec\n  when command runs "rm"\n  warn "Deletes."\n')
    guard = Guard.load(cwd=str(tmp_path))
    assert guard.check("bash", {"command": "ls", **WHY}).allowed

    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr("tool_intent.runtime.shell.analyse", broken)
    decision = guard.check("bash", {"command": "ls -l", **WHY}, id=7)
    assert [(f.rule, f.effect) for f in decision.findings] == [("engine/rule-error", "deny")]
    assert decision.id == 7
    assert "ZeroDivisionError" in str(decision.message)
    assert "Do not send it again" in str(decision.message)
    monkeypatch.setattr(Artifact, "decide", broken)
    assert guard.check("bash", {"command": "ls -l", **WHY}).decision == "deny"


def test_what_fails_inside_does_not_leak_what_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy(tmp_path, 'rule e/x on @exec\n  when command runs "rm"\n  warn "Deletes."\n')
    guard = Guard.load(cwd=str(tmp_path))

    def broken(text: str, *_: Any) -> Any:
        raise ValueError(text)

    monkeypatch.setattr("tool_intent.runtime.shell.analyse", broken)
    decision = guard.check("bash", {"command": "echo hunter2", **WHY})
    assert decision.decision == "deny"
    assert "hunter2" not in json.dumps(decision.to_dict()["findings"])
    assert "hunter2" not in str(decision.message)
