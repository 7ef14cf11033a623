"""What is timed of the rule language, and the work of others that it is compared to."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import peers
import rule_policies
import workloads
import yaml
from lark import Lark
from measure import Subject, over

from tool_intent import Call, Guard
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.policy.schema_errors import validator
from tool_intent.runtime.history import SessionHistory
from tool_intent.runtime.state import State

_NO_CACHE = {"TOOL_INTENT_CACHE": "off"}
_FIELDS = {"intent": "Guard the hash chain", "rationale": "Issue 12 shows it torn."}
#: Rules that one file may hold.
_A_FILE = 2_500


def judging(folder: Path) -> dict[str, Callable[[], Subject]]:
    """Calls judged by rules, ours and theirs. May raise ImportError where a peer is missing."""
    w3 = workloads.inputs_w3()
    artifact = _artifact(folder, "w3", rule_policies.W3)
    fifty = _compiled(_artifact(folder, "fifty", rule_policies.fifty()), "edit")
    return {
        "w3 floor": lambda: over(workloads.floor_w3, w3, 2),
        "w3 compiled": lambda: over(_compiled(artifact, "write"), w3, 2),
        "w3 guard": lambda: over(_checked(artifact, "write"), w3),
        "w3 jsonschema": lambda: over(peers.jsonschema("w3"), w3),
        "w3 agentbelay": lambda: over(peers.agentbelay("w3"), w3),
        # As long as each other, so that both are as likely to be interrupted.
        "fifty floor": lambda: over(workloads.floor_w1, workloads.inputs_w1(100), 1_000),
        "fifty compiled": lambda: over(fifty, workloads.inputs_w2(100), 20),
    }


def _compiled(artifact: Artifact, tool: str) -> Callable[[Any], Any]:
    """What `Artifact.decide` does with its copy of the arguments, up to the findings."""
    program, place = artifact.program(tool), artifact.place
    judge, rules = program.judge, program.rules
    assert rules is not None

    def compiled(args: Any) -> Any:
        found = judge(args) or []
        state = State(program.tool, args, program.carriers, program.roles, {}, None, None, place)
        more = rules(state)
        return found + more if more else found

    return compiled


def _checked(artifact: Artifact, tool: str) -> Callable[[Any], Any]:
    check = Guard(artifact).check
    return lambda args: check(tool, args)


def loading(folder: Path) -> dict[str, Subject]:
    """From the texts of many tools and rules to a first decision; and the least that reading the
    texts takes."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    sources = {count: _many(folder, count) for count in (1_000, 10_000)}
    policy, rules = (Path(file).read_text(encoding="utf-8") for file in sources[1_000])
    data = yaml.load(policy, Loader=yaml.CSafeLoader)
    published = validator("policy")

    def first(count: int) -> None:
        artifact = load(sources[count], cwd=str(workspace), found=False, environ=_NO_CACHE)
        decision = artifact.decide(Call(1, "tool_00500", dict(_FIELDS)))
        assert decision.allowed, decision

    lark = parser()
    return {
        "rules cold 1,000": Subject(lambda: first(1_000)),
        "rules cold 10,000": Subject(lambda: first(10_000), every=10),
        "rules compose 1,000": Subject(lambda: yaml.compose(policy, Loader=yaml.CSafeLoader)),
        "rules parse 1,000": Subject(lambda: lark.parse(rules, start="start")),
        "rules validate 1,000": Subject(lambda: list(published.iter_errors(data))),
    }


def parser() -> Lark:
    """A parser of the language, as the engine's own, that keeps positions."""
    grammar = files("tool_intent.rules").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, parser="lalr", lexer="contextual", start=["start", "cond"], strict=True,
        propagate_positions=True, maybe_placeholders=False,
    )  # fmt: skip


def _many(folder: Path, count: int) -> list[str]:
    """A policy file and as many files of rules as it takes."""
    policy, rules = rule_policies.many(count)
    sources = [folder / f"many-{count}.yaml"]
    sources[0].write_text(policy, encoding="utf-8")
    for start in range(0, count, _A_FILE):
        sources.append(folder / f"many-{count}-{start}.rules")
        sources[-1].write_text("".join(rules[start : start + _A_FILE]), encoding="utf-8")
    return [str(source) for source in sources]


class Still:
    """A session's history that stays as long as it is, however often it is looked at."""

    def __init__(self, history: SessionHistory) -> None:
        self.earlier = history.earlier
        self.count = history.count
        self.recent = history.recent
        self.seen = history.seen
        self.hear_user, self.hear_result = history.hear_user, history.hear_result

    def tried(self, state: State) -> int:
        return 0

    def outcome(self, number: int, outcome: Any) -> bool:
        return False


def looking_back(folder: Path) -> dict[str, Subject]:
    """The same decision late and early in a session."""
    artifact = _artifact(folder, "history", rule_policies.HISTORY)

    def after(calls: int) -> Subject:
        view = Still(_session(artifact, calls))
        call = Call(1, "edit", {"path": "src/9.py", "edits": [], **_FIELDS}, now=calls * 1.0)

        def decide(call: Call) -> Any:
            return artifact.decide(call, view)

        assert decide(call).allowed
        return over(decide, [call] * 200)

    return {f"after {calls:,} calls": after(calls) for calls in (10, 100_000)}


def _session(artifact: Artifact, calls: int) -> SessionHistory:
    """A session of reads and edits in turn, of ten files, one a second."""
    history = artifact.new_history()
    for n in range(calls):
        args = {"path": f"src/{n // 2 % 10 if calls > 20 else 9}.py"}
        tool = "edit" if n % 2 else "read"
        if n % 2:
            args["edits"] = []
        artifact.decide(Call(n, tool, args, now=n * 1.0), history)
        history.outcome(n, "passed")
    return history


def hostile(folder: Path) -> dict[str, Subject]:
    """Command texts that are made to be dear."""
    artifact = _artifact(folder, "shell", rule_policies.SHELL)

    def command(text: str) -> Subject:
        call = Call(1, "bash", {"command": text, **_FIELDS})
        return Subject(lambda: artifact.decide(call), every=4)

    return {
        "100,000 pipes": command("a|" * 100_000),
        "100,000 parentheses": command("(" * 100_000),
        "a word of 10 MB": command("a" * 10_000_000),
    }


def _artifact(folder: Path, name: str, policy: str) -> Artifact:
    file = folder / f"{name}.yaml"
    file.write_text(policy, encoding="utf-8")
    return load([str(file)], cwd=str(folder), found=False, environ=_NO_CACHE)
