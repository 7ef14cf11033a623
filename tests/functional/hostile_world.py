"""Builds worlds as a user without rights and judges calls in them: cases in JSON on standard input,
what was decided and told in JSON on standard output. Started on a managed machine.

    python hostile_world.py FOLDER
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tool_intent import Guard, PolicyError
from tool_intent.compiler.loading import load
from tool_intent.runtime.decision import Decision


class World:
    """A repository and a home folder, which are the agent's to write."""

    def __init__(self, top: Path, case: dict[str, Any]) -> None:
        self.case = case
        self.home, self.repo = top / "home", top / "repo"
        for folder in (self.home, self.repo / ".tool-intent"):
            folder.mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "TOOL_INTENT_CACHE": "off"}
        self.env |= {name: self._filled(value) for name, value in case.get("env", {}).items()}

    def _filled(self, text: str) -> str:
        return text.replace("{repo}", str(self.repo)).replace("{home}", str(self.home))

    def change(self, done: dict[str, Any]) -> None:
        """Whatever an agent does to files: `remove`, `files`, `folders`, `links`, `fifos`."""
        for name in done.get("remove", ()):
            (self.repo / name).unlink()
        for name in done.get("folders", ()):
            (self.repo / name).mkdir(parents=True)
        for name, text in done.get("files", {}).items():
            path = (self.repo / self._filled(name)).resolve()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text * done.get("times", 1), encoding="utf-8")
        for name, target in done.get("links", {}).items():
            (self.repo / name).symlink_to(self._filled(target))
        for name in done.get("fifos", ()):
            os.mkfifo(self.repo / name)

    def judged(self) -> dict[str, Any]:
        """The decisions on the case's calls, and everything that is told of its policy."""
        self.change(self.case)
        start = str(self.repo / self.case.get("cwd", ""))
        try:
            artifact = load(cwd=start, environ=self.env, account=str(self.home), point="python")
        except PolicyError as error:
            return {"decisions": [], "told": [str(error)]}
        guard = Guard(artifact, now=self.case.get("now", 1_796_000_000.0))
        decisions: list[Decision] = []
        for number, call in enumerate(self.case["calls"]):
            if number == self.case.get("then_before"):
                self.change(self.case["then"])
                import time

                time.sleep(0.15)
            decisions.append(
                guard.check(
                    call["tool"], call.get("args", {}), schema=call.get("schema"),
                    context={"cwd": str(self.repo)},
                )
            )  # fmt: skip
        policy = artifact.policy
        told = [*artifact.notes, *(str(d.message) for d in (*policy.warnings, *policy.broken))]
        told += [str(d.message) for d in policy.waiver_findings]
        told += [f.message for decision in decisions for f in decision.findings]
        told += [decision.message or "" for decision in decisions]
        return {"decisions": [_shown(decision) for decision in decisions], "told": told}


def _shown(decision: Decision) -> dict[str, Any]:
    return {
        "decision": decision.decision,
        "rules": [finding.rule for finding in decision.findings],
        "args": decision.args,
    }


def main() -> None:
    top = Path(sys.argv[1])
    cases = json.load(sys.stdin)
    found = {}
    for number, (name, case) in enumerate(cases.items()):
        found[name] = World(top / str(number), case).judged()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
