"""Tools of MCP servers in pi 1.x: shown directly, loaded by a search, called from a script."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from .harness import Pi, Session, calls
from .installed import AGENTS

POLICY = """\
version: 1
max_retries: 100
tools:
  "mcp__*__*": {require: [intent]}
  write: {require: [intent]}
"""
WHY = {"intent": "Pay the invoice of the printer"}
SCRIPT = (AGENTS / "script.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def session(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Session:
    pi = Pi("pi-1", python, tmp_path_factory.mktemp("mcp"))
    pi.install()
    pi.policy(POLICY)
    bank = {"command": sys.executable, "args": [str(AGENTS / "mcp_bank.py")]}
    servers = {
        "shown": bank | {"exposure": "direct"},
        "found": bank | {"exposure": "deferred"},
        "coded": bank | {"exposure": "codemode"},
    }
    (pi.agent / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return pi.run([
        calls(("mcp__shown__transfer", {"amount": 5})),
        calls(("mcp__shown__transfer", {"amount": 5} | WHY)),
        calls(("tool_search", {"query": "transfer"})),
        calls(("mcp__found__transfer", {"amount": 5})),
        calls(("mcp__found__transfer", {"amount": 5} | WHY)),
        calls(("codemode", {"code": SCRIPT})),
    ])  # fmt: skip


@pytest.mark.parametrize("step", [0, 3], ids=["shown", "found by a search"])
def test_a_call_without_its_reason_does_not_reach_the_server(step: int, session: Session) -> None:
    result = session.results[f"call_{step}_0"]
    assert result.is_error
    assert "nothing was executed" in result.text
    assert "intent is missing" in result.text


@pytest.mark.parametrize("step", [1, 4], ids=["shown", "found by a search"])
def test_a_call_with_its_reason_reaches_the_server_without_it(step: int, session: Session) -> None:
    assert session.results[f"call_{step}_0"].text == 'the bank got {"amount": 5}'


def test_the_model_is_shown_the_field_of_a_tool_that_a_server_tells_of(session: Session) -> None:
    schema = session.tool("mcp__shown__transfer")["parameters"]
    assert list(schema["properties"]) == ["intent", "amount"]
    assert schema["required"] == ["intent", "amount"]
    loaded = session.tool("mcp__found__transfer", request=3)["parameters"]
    assert list(loaded["properties"]) == ["intent", "amount"]


def test_calls_of_a_script_are_judged_one_by_one(session: Session) -> None:
    text = session.results["call_5_0"].text.partition("Output:\n")[2]
    bare, paid, written, described = text.split("\n---\n")
    assert bare.startswith("bare failed: ")
    assert "intent" in bare
    assert paid.startswith("paid ran: ")
    assert 'the bank got {\\"amount\\": 6}' in paid
    assert written.startswith("write failed: ")
    assert "intent" in written
    assert "intent" in described
