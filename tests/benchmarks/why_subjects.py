"""What `why` costs on a large file with many calls, and how often it and others are wrong."""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from measure import Subject

from tool_intent.ledger.answering import Ledger
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.objects import ObjectStore

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.attribution import peers
from tests.attribution.fuzz import History, history
from tests.attribution.measure import Score, score

LINES: Final = 10_000
_DIGEST: Final = f"sha256:{'0' * 64}"
_HISTORIES: Final = range(40)


def subjects(folder: Path) -> dict[str, Subject]:
    """`why` of a whole file of 10,000 lines, from the ledger's records on: for the first time, and
    once more."""

    def asked(calls: int, *, again: bool = False) -> Subject:
        ledger = folder / f"why-{calls}"
        text = _recorded(ledger, calls)

        def run() -> None:
            if not again:
                shutil.rmtree(ledger / "why", ignore_errors=True)
            answer = Ledger(str(ledger)).answer(["file.py"], text)
            assert len(answer.text) == len(text)

        return Subject(run, every=40)

    return {
        "why 500 calls": asked(500),
        "why 5,000 calls": asked(5_000),
        "why again": asked(4_999, again=True),
    }


def _recorded(folder: Path, calls: int) -> bytes:
    """A ledger of calls that each changed one line of a file; what the file is in the end."""
    rng = random.Random(1)
    appender, objects = Appender(str(folder)), ObjectStore(str(folder))
    lines = [f"value_{n} = {n}\n" for n in range(LINES)]
    pre = objects.put("".join(lines).encode())
    for call in range(calls):
        at = rng.randrange(LINES)
        lines[at] = f"value_{at} = changed({call})\n"
        post = objects.put("".join(lines).encode())
        decision = appender.append(
            "decision",
            {
                "call": {"id": call, "tool": "edit", "surface": "run"},
                "entries": [{"at": "", "intent": f"Change value {at}."}],
                "args": {"original": _DIGEST, "executed": _DIGEST},
                "decision": {"verdict": "allow", "policy": _DIGEST},
            },
        )
        files = [{"path": "file.py", "pre": pre, "post": post}]
        appender.append("outcome", {"of": decision.id, "ok": True, "files": files})
        pre = post
    return "".join(lines).encode()


def answers() -> list[dict[str, Any]]:
    """Of 40 random histories of edits, formatters and moves: the share of the lines credited to a
    call that another author wrote, and of the lines that calls wrote, those not credited."""
    made = [history(seed) for seed in _HISTORIES]
    found = []
    for name, algorithm, budgets in (
        ("why", peers.why, (0.02, 0.05)),
        *((name, algorithm, (None, None)) for name, algorithm in peers.PEERS.items()),
    ):
        start = perf_counter()
        total = _score(algorithm, made)
        milliseconds = round((perf_counter() - start) * 1000 / len(made), 3)
        wrong = {"credited wrongly": 1 - total.precision, "not credited": 1 - total.recall}
        for (what, share), budget in zip(wrong.items(), budgets, strict=True):
            row = {"name": f"lines {what}, {name}", "ratio": round(share, 3), "budget": budget}
            over = {} if budget is None else {"over": share > budget}
            found.append({**row, **over, "median_ms": milliseconds})
    return found


def _score(algorithm: Callable[[History], peers.Told], made: list[History]) -> Score:
    return sum((score(one.lines, algorithm(one)) for one in made), Score())
