"""std/anti-fluff as it judges writes of several sizes, each with a reason of its own, after ten
other calls of the session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import workloads
from measure import Subject, over
from rule_subjects import Still

from tool_intent import Call
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load

_CORPUS: Final = Path(__file__).parents[1] / "corpus" / "fluff.jsonl"
_SOURCE: Final = "\n".join(
    f"def read_{n}(stream, limit={n}):\n    return decode_{n % 7}(stream.read(limit))"
    for n in range(2000)
)
_BEFORE: Final = 10
_CALLS: Final = 100


def subjects(folder: Path) -> dict[str, Subject]:
    """Decisions on writes of 4, 8 and 100 KB, and the floor of W3 for as many calls."""
    artifact = load(
        ["std/anti-fluff"], cwd=str(folder), found=False, environ={"TOOL_INTENT_CACHE": "off"}
    )
    floor = over(workloads.floor_w3, workloads.inputs_w3(_CALLS), 4)
    judging = {f"fluff {size} KB": _judging(artifact, size) for size in (4, 8, 100)}
    return judging | {"fluff floor": floor}


def _judging(artifact: Artifact, size: int) -> Subject:
    calls = [
        Call(n, "write", {"path": f"src/{n}.py", "content": _SOURCE[n : n + size * 1024], **said})
        for n, said in enumerate(_reasons())
    ]
    history = artifact.new_history()
    for call in calls[:_BEFORE]:
        artifact.decide(call, history)
    view = Still(history)
    judged = calls[_BEFORE:]
    assert all(artifact.decide(call, view).allowed for call in judged)
    return over(lambda call: artifact.decide(call, view), judged)


def _reasons() -> list[dict[str, Any]]:
    rows = map(json.loads, _CORPUS.read_text(encoding="utf-8").splitlines()[1:])
    good = [r for r in rows if r["label"] == "good" and r["lang"] == "en" and r["intent"]]
    return [
        {"intent": row["intent"], "rationale": row["rationale"]} for row in good[: _BEFORE + _CALLS]
    ]
