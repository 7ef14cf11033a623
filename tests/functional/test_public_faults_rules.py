"""The public faults that are about rules: each one's own input under its policy, as rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from .command import Command, call
from .test_policies import write

CASES: Final = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8"))
WHY: Final = {
    "intent": "Add a guard so an expired session is refused",
    "rationale": "login() dereferences session before checking expiry",
}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']} {case['name']}" for case in CASES])
def test_a_public_fault_is_none_here(case: dict[str, Any], bare: Command) -> None:
    outside = bare.home / "outside"
    outside.mkdir()
    for folder in case.get("folders", ()):
        (bare.cwd / folder).mkdir()
    for link, target in case.get("links", {}).items():
        (bare.cwd / link).symlink_to(target.replace("$outside", str(outside)))
    indented = case["rules"].replace("\n", "\n  ")
    policy = f"version: 1\npolicy: acme\nextends: std/baseline\nrules: |\n  {indented}\n"
    write(bare.cwd / ".tool-intent" / "policy.yaml", policy)
    answers = bare.decide(
        *(call(tool, **WHY | _filled(args, bare)) for _, tool, args in case["calls"])
    )
    got = [[_strongest(answer), answer["tool"]] for answer in answers]
    assert got == [[effect, tool] for effect, tool, _ in case["calls"]], answers
    for piece in case.get("says", ()):
        assert piece in answers[0]["message"]


def _filled(args: dict[str, Any], command: Command) -> dict[str, Any]:
    up = "/".join([".."] * len(command.cwd.resolve().parts[1:]))
    text = json.dumps(args).replace("$up", up).replace("$long", "a" * 60_000 + "b")
    filled: dict[str, Any] = json.loads(text)
    return filled


def _strongest(answer: dict[str, Any]) -> str:
    effects = {finding["effect"] for finding in answer["findings"]}
    return next((e for e in ("deny", "ask", "warn", "note") if e in effects), "allow")
