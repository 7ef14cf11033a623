"""`make demo-pi`: a real session of each line of pi, told call by call."""

from __future__ import annotations

import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Final

import pytest

from .harness import LINES, Pi, calls, engine

POLICY: Final = """\
version: 1
policy: acme/notes
extends: [std/baseline, std/anti-fluff]
"""
WHY: Final = {
    "intent": "Tell users about the new export",
    "rationale": "Release checklist, point 4: every feature gets a line in the notes",
}
ENTRY: Final = {
    "oldText": "TODO",
    "newText": "- CSV export",
    "intent": "Name the export where users look first",
    "rationale": "Two customers asked support in May whether 2.0 has it",
}
FLUFF: Final = {
    "intent": "Ensure the notes are complete",
    "rationale": "It is important to make sure that everything works as expected.",
}
SCRIPT: Final = [
    calls(("write", {"path": "draft.md", "content": "# Draft\n"})),
    calls(("write", {"path": "notes.md", "content": "# 2.0\nTODO\n"} | WHY)),
    calls(("bash", {"command": "rm notes.md", "intent": "n/a", "rationale": "n/a"})),
    calls(("edit", {"path": "notes.md", "edits": [ENTRY | FLUFF]})),
    calls(("edit", {"path": "notes.md", "edits": [ENTRY]})),
    {"text": "The notes are written."},
]
REFUSED: Final = (True, False, True, True, False)


def main() -> int:
    """Run the session on each line; 1 where a call came to something else than it should, or where
    there is no node or npm."""
    with tempfile.TemporaryDirectory(prefix="tool-intent-demo-") as folder:
        python = engine(Path(folder) / "engine")
        try:
            return max([_shown(Pi(line, python, Path(folder) / line)) for line in LINES])
        except (pytest.skip.Exception, pytest.fail.Exception) as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1


def _shown(pi: Pi) -> int:
    print(f"\n{pi.line}: tool-intent pi install; then a session of six turns")
    pi.install()
    pi.policy(POLICY)
    session = pi.run(SCRIPT)
    results = session.results
    for number, refused in enumerate(REFUSED):
        (call,) = SCRIPT[number]["calls"]
        result = results[f"call_{number}_0"]
        print(f"\n  {'refused' if result.is_error else 'ran    '}  {call['name']} {call['args']}")
        print("\n".join(f"           {line}" for line in result.text.splitlines()))
        if result.is_error is not refused:
            return 1
    left = {p.name: p.read_text(encoding="utf-8") for p in pi.workspace.glob("*.md")}
    print(f"\n  left in the workspace: {left}")
    print(f"  kept in the session file: {session.calls['call_1_0']['rationale']}")
    print("  kept in the ledger:")
    log = pi.tool_intent("log").stdout
    print(textwrap.indent(log, "    "))
    if log.count(" deny ") != sum(REFUSED) or log.count(" passed ") != REFUSED.count(False):
        return 1
    return 0 if left == {"notes.md": "# 2.0\n- CSV export\n"} else 1


if __name__ == "__main__":
    sys.exit(main())
