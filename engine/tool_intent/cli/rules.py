"""`test` and `explain`: rules by their examples, and why a call is judged as it is."""

from __future__ import annotations

import os
import sys
from time import time
from typing import Annotated, Any

import typer

from tool_intent.authoring.examples import (
    Result,
    rules_of,
    run_examples,
    shipped_files,
    without_examples,
)
from tool_intent.authoring.explain import Explainer, Explanation
from tool_intent.authoring.rendering import (
    explanation_data,
    explanation_lines,
    judgement_lines,
    rule_data,
)
from tool_intent.cli.diagnostics import rendered
from tool_intent.cli.lines import LineError, OutcomeLine, read_line
from tool_intent.cli.options import Format, Formatted, Policies
from tool_intent.cli.policies import load_or_fail
from tool_intent.cli.terminal import STYLES, fail, out, styled, visible
from tool_intent.compiler.artifact import Artifact
from tool_intent.policy.model import Rule
from tool_intent.rules.diagnostics import Diagnostic, nearest
from tool_intent.runtime.history import SessionHistory
from tool_intent.runtime.model import Call
from tool_intent.runtime.sessions import Sessions
from tool_intent.runtime.wire import dump


def examples(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Policy files, folders or packs; without, those that are found."),
    ] = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Run the examples of rules: 0 all as they say, 1 one is not, 2 a policy cannot be used.

    A `bad` call breaks its rule, an `ok` one does not. Rules of packs are tested where a pack is
    named.

    Example: tool-intent test .tool-intent/policy.yaml
    """
    given = paths or []
    artifact = _usable(given)
    rules = _tested(artifact, given)
    results = list(run_examples(artifact.policy, rules))
    lacking = list(without_examples(artifact.policy, rules))
    if format_ is Format.JSON:
        found = lacking + [r.diagnostic() for r in results if not r.passed]
        typer.echo(dump({
            "examples": [_result_data(r) for r in results],
            "diagnostics": [d.to_dict() for d in found],
        }))  # fmt: skip
    else:
        _report(rules, results, lacking)
    if not all(r.passed for r in results) or any(d.severity == "error" for d in lacking):
        raise typer.Exit(1)


def explain(
    policy: Policies = None,
    cwd: Annotated[
        str | None, typer.Option(help="Where to look for policies, if no --policy is given.")
    ] = None,
    rule: Annotated[
        str | None, typer.Option("--rule", metavar="ID", help="This rule only, with all its steps.")
    ] = None,
    format_: Formatted = Format.TEXT,
) -> None:
    """Explain a decision: a call as JSON on standard input, as `decide` reads it.

    Of several lines, which are a session, the last call is explained. `=>` marks the parts of a
    rule that decided.

    Example: echo '{"tool": "bash", "args": {"command": "rm -rf x"}}' | tool-intent explain
    """
    if cwd is not None and not os.path.isdir(cwd):
        fail(f"--cwd: there is no folder {cwd!r}")
    artifact = load_or_fail(policy or [], found=not policy, cwd=cwd)
    if rule is not None:
        _expect_rule(artifact, rule)
    explanation = _explained(artifact, _lines())
    if rule is not None:
        explanation = _only(explanation, rule)
    if format_ is Format.JSON:
        typer.echo(dump(explanation_data(explanation)))
        return
    for line in explanation_lines(explanation, whole=rule is not None):
        word = line.split(" ", 1)[0]
        out.print(styled(line, STYLES[word]) if word in STYLES else visible(line))


def _usable(given: list[str]) -> Artifact:
    """The artifact, if all its files can be used; one broken file judges nothing."""
    artifact = load_or_fail(given, found=not given, allow_empty=True)
    broken = artifact.policy.broken
    if broken:
        fail(f"{rendered(broken)}\ntool-intent: the policy cannot be used")
    return artifact


def _tested(artifact: Artifact, given: list[str]) -> tuple[Rule, ...]:
    """The rules to test: of shipped packs only where nothing but packs is named."""
    rules = rules_of(artifact.policy)
    ours = shipped_files(artifact.policy)
    named = {s.shown for s in artifact.policy.sources} & set(given)
    if given and named <= ours and set(given) <= named:
        return rules
    return tuple(rule for rule in rules if rule.origin.file not in ours)


def _report(rules: tuple[Rule, ...], results: list[Result], lacking: list[Diagnostic]) -> None:
    if lacking:
        out.print(visible(rendered(lacking)))
    failed = [r for r in results if not r.passed]
    for result in failed:
        out.print(visible(rendered([result.diagnostic()])))
        if result.explained is not None:
            for judgement in result.explained.judgements:
                for line in judgement_lines(judgement):
                    out.print(visible(f"  {line}"))
    if not rules:
        out.print("no rule to test (rules of packs are tested where a pack is named)")
    out.print(
        f"{_count(len(results), 'example')} of {_count(len(rules), 'rule')}:"
        f" {len(results) - len(failed)} as they say, {len(failed)} not"
    )


def _result_data(result: Result) -> dict[str, Any]:
    span = result.example.span
    return {
        "rule": result.rule.id,
        "file": result.rule.origin.file,
        "line": span.line,
        "label": result.example.label,
        "tool": result.example.tool,
        "outcome": result.outcome,
        "passed": result.passed,
        "message": result.told or None,
        "explained": None if result.explained is None else rule_data(result.explained),
    }


def _lines() -> list[Call | OutcomeLine]:
    found: list[Call | OutcomeLine] = []
    for number, line in enumerate(sys.stdin.buffer, 1):
        if line.strip():
            try:
                found.append(read_line(line, number))
            except LineError as error:
                fail(f"line {number}: {error.code}: {error.message}")
    while found and isinstance(found[-1], OutcomeLine):
        found.pop()
    if not found:
        fail("explain takes a call as JSON on standard input")
    return found


def _explained(artifact: Artifact, lines: list[Call | OutcomeLine]) -> Explanation:
    """The explanation of the last of the lines, the others being the session before it."""
    explainer = Explainer(artifact)
    sessions = Sessions(lambda: artifact.new_history(keep=True))
    of: dict[str, str | None] = {}
    found: list[Explanation] = []

    def decide(call: Call, view: Any) -> Any:
        assert isinstance(view, SessionHistory)
        if call is last:
            found.append(explainer.explain(call, view))
        return artifact.decide(call, view)

    *_, last = lines = [
        line._replace(now=time()) if isinstance(line, Call) else line for line in lines
    ]
    for line in lines:
        if isinstance(line, OutcomeLine):
            session = of.get(dump(line.id)) if line.session is None else line.session
            if not sessions.outcome(session, line.id, "passed" if line.ok else "failed"):
                fail("input/unknown-id: no call with the id of an outcome was read before")
        else:
            of[dump(line.id)] = line.session
            sessions.judge(line, decide)
    return found[0]


def _expect_rule(artifact: Artifact, rule: str) -> None:
    known = {r.id for r in rules_of(artifact.policy)}
    if rule not in known:
        near = nearest(rule, known)
        fail(f"no rule is called `{rule}`" + (f"; did you mean `{near}`?" if near else ""))


def _only(explanation: Explanation, rule: str) -> Explanation:
    from dataclasses import replace

    rules = tuple(r for r in explanation.rules if r.id == rule)
    return replace(explanation, fields=(), conditions=(), rules=rules)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
