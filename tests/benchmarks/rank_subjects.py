"""What is timed of policies at six ranks: resolving them, and deciding by them out of the cache."""

from __future__ import annotations

from pathlib import Path

import rule_policies
import yaml
from measure import Subject
from rule_subjects import parser

from tool_intent import Call
from tool_intent.compiler.loading import load
from tool_intent.policy.load import load as resolve
from tool_intent.policy.schema_errors import validator
from tool_intent.policy.sources import Root
from tool_intent.runtime.model import Rank

_RULES = 2_000
_FIELDS = {"intent": "Guard the hash chain", "rationale": "Issue 12 shows it torn."}


def loading(folder: Path) -> dict[str, Subject]:
    """Six ranks with 2,000 rules, what reading their texts takes at the least, and one file that
    says the same."""
    world = folder / "ranks"
    files = _six(world)
    one = world / "single" / ".tool-intent" / "policy.yaml"
    one.parent.mkdir(parents=True)
    one.write_text(_policy("one", range(_RULES)), encoding="utf-8")
    roots = [Root(str(path), rank, f"{rank}.yaml") for rank, path in files.items()]
    texts = [path.read_text(encoding="utf-8") for path in files.values()]
    rules = [yaml.load(text, Loader=yaml.CSafeLoader)["rules"] for text in texts]
    data = [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts]
    lark, published = parser(), validator("policy")
    assert not resolve(roots).broken
    cached = {"TOOL_INTENT_CACHE": str(folder / "cache")}

    def decided(sources: list[str], place: str, *found: str) -> None:
        machine, account = (str(world / name) for name in found)
        artifact = load(
            sources, cwd=str(world / place), environ=cached, machine=machine, account=account
        )
        assert artifact.decide(Call(1, "tool_00500", dict(_FIELDS))).allowed

    return {
        "ranks resolved": Subject(lambda: resolve(roots)),
        "ranks composed": Subject(lambda: [yaml.compose(t, yaml.CSafeLoader) for t in texts]),
        "ranks parsed": Subject(lambda: [lark.parse(text, start="start") for text in rules]),
        "ranks validated": Subject(lambda: [list(published.iter_errors(d)) for d in data]),
        "ranks cached": Subject(
            lambda: decided([str(files["session"])], "repo/inner", "machine", "home"), 5
        ),
        "one file cached": Subject(lambda: decided([], "single", "nothing", "nobody"), 5),
    }


def _six(world: Path) -> dict[Rank, Path]:
    """A file at each rank, where that rank is found."""
    places: dict[Rank, Path] = {
        "org": world / "machine" / "org.yaml",
        "team": world / "machine" / "team" / "team.yaml",
        "user": world / "home" / ".config" / "tool-intent" / "user.yaml",
        "repo": world / "repo" / ".tool-intent" / "policy.yaml",
        "directory": world / "repo" / "inner" / ".tool-intent" / "policy.yaml",
        "session": world / "session.yaml",
    }
    for number, (rank, path) in enumerate(places.items()):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_policy(rank, range(number, _RULES, len(places))), encoding="utf-8")
    return places


def _policy(name: str, numbers: range) -> str:
    """A policy with the tools and rules of these numbers."""
    policy, rules = rule_policies.many(_RULES)
    head, _, tools = policy.partition("tools:\n")
    entries = tools.splitlines(keepends=True)
    block = "".join("  " + line for n in numbers for line in rules[n].splitlines(keepends=True))
    return (
        head.replace("bench/many", f"bench/{name}")
        + "tools:\n" + "".join(entries[n] for n in numbers) + "rules: |\n" + block
    )  # fmt: skip
