"""What `decide` remembers of a session: sessions as lines, with the answer to each."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from .command import DEADLINE, Command, lines
from .test_lines import _answer
from .test_policies import write

CASES: Final = yaml.safe_load(Path(__file__).with_name("history.yaml").read_text(encoding="utf-8"))

#: What of a line is not sent.
_EXPECTED: Final = ("decision", "findings", "error")


def policy(command: Command, rules: str) -> None:
    """Rules alone, over no fields."""
    indented = rules.strip().replace("\n", "\n  ")
    text = f"version: 1\npolicy: acme\nrules: |\n  {indented}\n"
    write(command.cwd / ".tool-intent" / "policy.yaml", text)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_session_is_remembered_as_its_lines_say(case: dict[str, Any], bare: Command) -> None:
    policy(bare, case["rules"])
    sent = [{k: v for k, v in row.items() if k not in _EXPECTED} for row in case["lines"]]
    options = ("--now", case["now"]) if "now" in case else ()
    done = bare("decide", *options, stdin=lines(*sent))
    expected = [
        row.get("error") or row.get("decision", "allow")
        for row in case["lines"]
        if "outcome" not in row or "error" in row
    ]
    got = [a["decision"] if "decision" in a else a["error"]["code"] for a in done.answers]
    assert got == expected
    assert done.code == (2 if any("error" in row for row in case["lines"]) else 0)
    calls = [row for row in case["lines"] if "tool" in row]
    for row, answer in zip(calls, (a for a in done.answers if "decision" in a), strict=True):
        if "findings" in row:
            assert [f["rule"] for f in answer["findings"]] == row["findings"]


def test_durations_go_by_the_real_clock_where_none_is_given(bare: Command) -> None:
    policy(bare, "rule h/soon on edit\n  require earlier read within 1s\n")
    with bare.start("decide") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        got = []
        for tool, wait in (("read", 0.0), ("edit", 0.0), ("edit", 1.2)):
            time.sleep(wait)
            process.stdin.write(lines({"tool": tool, "args": {"path": "a"}}).encode())
            process.stdin.flush()
            got.append(_answer(process.stdout)["decision"])
        process.stdin.close()
        assert process.wait(DEADLINE) == 0
    assert got == ["allow", "allow", "deny"]


@pytest.mark.slow
def test_forty_thousand_calls_are_judged_in_bounded_memory(bare: Command) -> None:
    """The longest window is 10,000 calls: what no window reaches is let go of."""
    policy(
        bare,
        "rule h/read on edit\n"
        "  require earlier @read where path == this.path within 10_000 calls\n"
        "rule h/many on write\n"
        '  when count(earlier @read within 10_000 calls) < 10_000\n  deny "few"\n',
    )
    peaks, answers = [], {}
    with bare.start("decide") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(40_000):
            call = {"id": number, "tool": "read", "args": {"path": f"{number}.py"}}
            process.stdin.write(lines(call).encode())
            process.stdin.flush()
            process.stdout.readline()
            if number in (20_000, 39_999):
                status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
                peaks.append(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]))
        for path in ("39999.py", "30500.py", "9.py"):
            call = {"tool": "edit", "args": {"path": path}}
            process.stdin.write(lines(call).encode())
            process.stdin.flush()
            answers[path] = json.loads(process.stdout.readline())["decision"]
        process.stdin.close()
        assert process.wait(DEADLINE) == 0
    assert answers == {"39999.py": "allow", "30500.py": "allow", "9.py": "deny"}
    assert peaks[1] < peaks[0] * 1.2
