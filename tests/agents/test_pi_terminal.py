"""pi as a person sees it: a terminal of each line, driven by tmux, kept in docs/pi.md."""

from __future__ import annotations

import re
import shutil

import pytest

from . import pages
from .harness import Pi, calls
from .scripted_model import ScriptedModel
from .terminal import Terminal

POLICY = """\
version: 1
policy: acme/notes
extends: std/baseline
rules: |
  rule deploys/ask on @exec
    when command mentions "deploy"
    ask "This goes to customers."
"""
WHY = {
    "intent": "Count in the order of the release",
    "rationale": "The checklist says three before two",
}
ENTRY = {"oldText": "two", "newText": "three"}
SCRIPT = [
    calls(("edit", {"path": "notes.txt", "edits": [ENTRY]})),
    calls(("edit", {"path": "notes.txt", "edits": [ENTRY | WHY]})),
    calls(("bash", {"command": "echo deploy"} | WHY)),
    {"text": "All done."},
]


def _kept(screen: str) -> str:
    """The part of a screen from the prompt on, with what differs from run to run made alike."""
    text = screen[screen.index("Put the notes in order") :]
    text = re.sub(r"\n─+\n\n?─+\n.*", "", text, flags=re.DOTALL)
    text = re.sub(r"sha256:[0-9a-f]{64}", "sha256:…", text)
    text = re.sub(r"\d\d:\d\d:\d\d", "12:00:00", text)
    text = re.sub(r"Took \d+\.\ds", "Took 0.1s", text)
    text = re.sub(r"\n{3,}", "\n\n", text)
    return "\n".join(f"    {line}".rstrip() for line in text.strip("\n").splitlines())


@pytest.mark.slow
def test_a_person_sees_the_diff_the_reasons_the_question_and_what_is_enforced(pi: Pi) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    pi.policy(POLICY)
    notes = pi.workspace / "notes.txt"
    notes.write_text("one\ntwo\n", encoding="utf-8")
    with ScriptedModel(SCRIPT) as model:
        pi.serve(model)
        with Terminal(pi.shell(), pi.workspace, pi.environment(), (100, 70)) as terminal:
            terminal.wait_for("asks of 4 tools")
            terminal.type("Put the notes in order")
            asked = terminal.wait_for("may bash run?", "Yes", "No")
            assert '{"command":"echo deploy"}' in asked
            assert 'acme/notes says: "This goes to customers."' in asked
            dialogue = asked[asked.index("tool-intent: may bash run?") :]
            dialogue = dialogue[: dialogue.index("escape")].rstrip()
            terminal.press("Enter")
            terminal.wait_for("All done.")
            terminal.type("/tool-intent")
            screen = terminal.wait_for("last refusals:")
    assert notes.read_text(encoding="utf-8") == "one\nthree\n"
    assert "Received arguments" not in screen
    for words in ("-2 two", "+2 three", "edits[0] intent: Count in the order", "intent: Count"):
        assert words in screen
    shown = "\n".join(f"    {line.strip()}".rstrip() for line in dialogue.splitlines()[:-1])
    page = f"{shown.rstrip()}\n\nand in the end\n\n{_kept(screen)}"
    pages.expect(f"screen: {pi.line}", page)
