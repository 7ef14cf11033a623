"""What a question to a ledger costs as the ledger grows: every filter of `log`, and every two.

    python tests/benchmarks/log_subjects.py [NUMBER …]

prints, for ledgers of so many decisions (10,000, 100,000 and 1,000,000), the milliseconds of the
newest twenty for each question, and the worst ratio of the largest ledger to the smallest.
"""

from __future__ import annotations

import atexit
import sys
import tempfile
from itertools import combinations
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any, Final

from ledger_subjects import BODY
from measure import Subject

from tool_intent.ledger.chain import GENESIS, line
from tool_intent.ledger.index import Index
from tool_intent.ledger.queries import Wanted
from tool_intent.ledger.records import framed, new_id, timestamp

_BEGIN: Final = 1_796_000_000.0
_TIMES: Final = 5
#: What each filter asks for: a file that every call is about, and things that many calls have, few,
#: and (`bash` with `odd.py`, which take turns) none together.
_ASKED: Final[dict[str, tuple[str, ...]]] = {
    "session": ("s1", "wanted", "s"),
    "tool": ("bash", "b*", "rare"),
    "path": ("src/login.py", "src", "odd.py"),
    "rule": ("fields/missing", "fluff/*", "rare/rule"),
    "decision": ("deny", "ask"),
    "since": (timestamp(_BEGIN), timestamp(_BEGIN + 400)),
}


def questions() -> list[Wanted]:
    """Every filter alone, and every two together."""
    each = [(name, value) for name, values in _ASKED.items() for value in values]
    pairs = [dict(pair) for pair in combinations(each, 2) if pair[0][0] != pair[1][0]]
    return [Wanted(), *(Wanted(**{name: value}) for name, value in each)] + [
        Wanted(**pair) for pair in pairs
    ]


def fill(folder: Path, number: int) -> None:
    """A ledger of so many decisions of 97 sessions."""
    folder.mkdir(exist_ok=True)
    head, every = GENESIS, max(number // 40, 1)
    with (folder / "ledger-2026-11-30-001.jsonl").open("wb") as file:
        for n in range(number):
            body = _body(n, rare=n % every == 0)
            ts = timestamp(_BEGIN + n / 50)
            text, head = line(framed("decision", n + 1, new_id(n), ts, head, body))
            file.write(text)


def _body(n: int, *, rare: bool) -> dict[str, Any]:
    verdict = "deny" if n % 3 == 0 else "ask" if rare else "allow"
    rules = [{"id": "fields/missing" if n % 2 else "fluff/thin", "effect": "deny", "at": ""}]
    rules += [{"id": "rare/rule", "effect": "ask", "at": ""}] if rare else []
    path = "odd.py" if n % 2 else f"src/part{n % 1_000}/f{n}.py"
    return BODY | {
        "session": {"id": "wanted" if rare else f"s{n % 97}"},
        "call": {"id": n, "tool": "rare" if rare else "edit" if n % 2 else "bash"},
        "actions": [{"kind": "write", "path": "src/login.py"}, {"kind": "read", "path": path}],
        "decision": {"verdict": verdict, "rules": rules if verdict == "deny" or rare else []},
    }


def milliseconds(index: Index, wanted: Wanted) -> tuple[float, int]:
    """The median time of the newest twenty, and how many there were."""
    times, found = [], 0
    for _ in range(_TIMES):
        start = thread_time()
        found = len(list(index.entries(wanted, 20)))
        times.append((thread_time() - start) * 1_000)
    return sorted(times)[_TIMES // 2], found


def subjects(folder: Path) -> dict[str, Subject]:
    """Every question, to a small and a large ledger."""
    folder.mkdir()
    return {
        "filters 10,000": _asking(folder / "small", 10_000),
        "filters 100,000": _asking(folder / "large", 100_000),
    }


def _asking(folder: Path, number: int) -> Subject:
    fill(folder, number)
    index = Index(str(folder))
    atexit.register(index.close)

    def ask() -> None:
        for wanted in questions():
            list(index.entries(wanted, 20))

    return Subject(ask, every=4)


def main(numbers: list[int]) -> None:
    """Print the table."""
    table: dict[Wanted, list[tuple[float, int]]] = {}
    for number in numbers:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder), number)
            start = perf_counter()
            index = Index(folder)
            print(f"{number:,}: indexed in {perf_counter() - start:.1f} s", file=sys.stderr)
            for wanted in questions():
                table.setdefault(wanted, []).append(milliseconds(index, wanted))
            index.close()
    for wanted, told in sorted(table.items(), key=lambda row: row[1][-1]):
        asked = " ".join(f"{k}={v}" for k, v in wanted._asdict().items() if v is not None)
        print(*(f"{ms:9.2f} ms {found:2}" for ms, found in told), asked or "everything")
    print(f"worst ratio: {max(told[-1][0] / told[0][0] for told in table.values()):.1f}")


if __name__ == "__main__":
    main([int(number) for number in sys.argv[1:]] or [10_000, 100_000, 1_000_000])
