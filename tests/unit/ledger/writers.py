"""Processes that append, for tests that stop them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MAIN = """
import sys
from tool_intent.ledger.appending import Appender
folder, name, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
appender = Appender(folder)
for n in range(number):
    detail = {"writer": name, "n": n, "text": "x" * (n * 7 % 500)}
    receipt = appender.append("marker", {"kind": "gap", "detail": detail})
    print(n, receipt.hash, flush=True)
"""


def start(folder: Path, name: str, number: int, out: Path) -> subprocess.Popen[bytes]:
    """A process that appends `number` records and prints each, to `out`, once acknowledged."""
    command = [sys.executable, "-c", MAIN, str(folder), name, str(number)]
    with out.open("wb") as file:
        return subprocess.Popen(command, stdout=file)
