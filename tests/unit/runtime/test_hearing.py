"""`seen`: a name counts where the user or, first, a result said it, never where the agent did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tool_intent import Guard
from tool_intent.runtime.hearing import MOST_READ, Heard, cited
from tool_intent.surfaces.mcp.outcomes import said

POLICY = """version: 1
policy: t
tools: {"*": {optional: [rationale]}}
rules: |
  rule t/seen on bash
    require seen(rationale)
    else deny "Not seen."
"""
CITING = {"command": "x", "rationale": "PAY-77 asks for it"}
TOLD = {"messages": "Look at the importer."}


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    file = tmp_path / "p.yaml"
    file.write_text(POLICY, encoding="utf-8")
    return Guard.load(str(file), cwd=str(tmp_path))


def verdict(guard: Guard, args: Any = CITING, context: Any = TOLD) -> str:
    decision = guard.check("bash", args, context=context)
    if decision.allowed:
        return "seen"
    return "unseen" if decision.findings[0].unknown is None else "unknown"


def fail(message: str) -> Any:
    raise ValueError(message)


def test_what_a_rationale_cites_is_unknown_where_nobody_tells(guard: Guard) -> None:
    assert verdict(guard, context=None) == "unknown"


@pytest.mark.parametrize("messages", ["fix pay-77, please", ["hello", "see `PAY-77`."]])
def test_what_the_user_said_is_seen(guard: Guard, messages: Any) -> None:
    assert verdict(guard, context={"messages": messages}) == "seen"


def test_what_nobody_said_is_unseen_where_the_user_is_told(guard: Guard) -> None:
    assert verdict(guard) == "unseen"


def test_what_a_result_said_first_is_seen_and_so_is_what_an_error_said(guard: Guard) -> None:
    guard.call("read", {"path": "log"}, lambda _: "FAILED src/a.py:7, see PAY-77")
    with pytest.raises(ValueError, match="PAY-78"):
        guard.call("read", {"path": "x"}, lambda _: fail("PAY-78 is closed"))
    for ticket in ("PAY-77", "PAY-78"):
        assert verdict(guard, {"command": "x", "rationale": f"{ticket} asks for it"}) == "seen"
    assert verdict(guard, {"command": "y", "rationale": "src/a.py broke"}) == "seen"


def test_what_the_agent_typed_first_stays_its_own_whatever_results_say(guard: Guard) -> None:
    for args in ({"path": "PAY-77"}, {"path": "a", "rationale": "for PAY-77"}):
        guard.call("read", args, lambda _: "PAY-77")
    assert verdict(guard) == "unseen"
    assert verdict(guard, context={"messages": "PAY-77 it is"}) == "seen"


def test_a_result_that_nobody_told_may_have_said_anything(guard: Guard) -> None:
    guard.call("read", {"path": "log"}, lambda _: {"not": "a text"})
    assert verdict(guard) == "unknown"


def test_a_text_that_cites_nothing_is_not_seen() -> None:
    assert cited("It is needed for the task") == []
    assert cited("src/a.py:7 raises ValueError in #12, see `run`") == [
        "src/a.py", "#12", "`run`", "src/a.py:7", "ValueError",
    ]  # fmt: skip


def test_a_name_beyond_what_is_read_of_a_message_is_not_seen() -> None:
    heard = Heard()
    heard.user("x " * MOST_READ + "PAY-7")
    assert heard.said("PAY-7") is False


def test_the_text_of_an_answer_is_that_of_its_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert said({"result": {"content": parts}}) == "a\nb"
    assert said({"error": {}}) == said({"result": {"content": "a"}}) == ""
