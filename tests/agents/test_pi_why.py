"""`why` of what pi's own tools did: a long command, edits side by side, entries of one edit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .harness import LINES, Pi, calls

LINES_OF = 60


def _why(name: str) -> dict[str, str]:
    return {"intent": f"Do {name}.", "rationale": f"Because of {name}."}


def _edit(name: str, *numbers: int) -> tuple[str, dict[str, Any]]:
    edits = [
        {"oldText": f"value_{n} = {n}\n", "newText": f"value_{n} = {name}\n", **_why(f"{name}.{n}")}
        for n in numbers
    ]
    return ("edit", {"path": "values.py", "edits": edits})


@pytest.mark.parametrize("line", LINES)
def test_each_line_is_told_with_the_reason_it_has(line: str, tmp_path: Path, python: Path) -> None:
    pi = Pi(line, python, tmp_path)
    subprocess.run(["git", "init", "--quiet", str(pi.workspace)], check=True)
    pi.install()
    pi.policy("version: 1\nextends: std/baseline\n")
    text = "".join(f"value_{n} = {n}\n" for n in range(LINES_OF))
    command = f"cat > values.py <<'end'\n{text}# {'-' * 1_024}\nend\n"
    session = pi.run(
        [
            calls(("bash", {"command": command, **_why("write")})),
            # One after the other: of edits that go on at once, nobody may know who made a line.
            calls(_edit("one", 1, 7)),
            calls(_edit("two", 2)),
            calls(_edit("three", 50)),
            calls(("bash", {"command": "sed -i 's/value_9 /value_nine /' *.py", **_why("sed")})),
            {"text": "done"},
        ]
    )
    assert not [one.text for one in session.results.values() if one.is_error]
    done = pi.tool_intent("why", "values.py", "--format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    told = {}
    for run in answer["lines"]:
        said = answer["calls"][run["by"]["call"]]["entries"]
        entries = run["by"].get("entries", [])
        intents = [e["intent"] for e in said if not entries or e["at"] in ("", *entries)]
        told |= dict.fromkeys(range(run["start"] - 1, run["end"]), (run["state"], *intents))
    changed = {1: "one.1", 7: "one.7", 2: "two.2", 50: "three.50", 9: "sed"}
    assert told == {
        n: ("exact", f"Do {changed.get(n, 'write')}.") for n in range(LINES_OF + 1)
    }  # fmt: skip
