"""Claude Code itself, the command inside claude-agent-sdk, with its servers behind the proxy."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ...agents.installed import claude_code
from .raw import REASONS, odd, proxied
from .scripted_messages import results, scripted, tool_use

DEADLINE = 120


@pytest.mark.slow
def test_claude_code_has_a_call_refused_and_mends_it(
    project: Path, user: Path, tmp_path: Path
) -> None:
    first, *rest = proxied(odd())
    settings = {"mcpServers": {"s": {"command": first, "args": rest}}}
    (tmp_path / "mcp.json").write_text(json.dumps(settings), encoding="utf-8")
    name = "mcp__s__echo"
    refused, mended = tool_use(name, message="hi"), tool_use(name, message="hi", **REASONS)
    with scripted(refused, mended) as model:
        done = subprocess.run(
            [
                claude_code(), "-p", "Greet.", "--mcp-config", tmp_path / "mcp.json",
                "--strict-mcp-config", "--allowedTools", name,
            ],
            cwd=project, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=DEADLINE,
            env={
                "PATH": os.environ["PATH"], "HOME": str(user), "ANTHROPIC_API_KEY": "invented",
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_port}",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false",
                "LC_ALL": "C.UTF-8",
            },
        )  # fmt: skip
        assert done.returncode == 0, done
        requests = model.requests
    offered: dict[str, Any] = {tool["name"]: tool for tool in requests[0]["tools"]}
    assert offered[name]["input_schema"]["required"] == ["intent", "rationale"]
    first_result, second_result = results(requests[-1])
    assert first_result["is_error"] is True
    assert "intent is missing" in json.dumps(first_result["content"])
    assert not second_result.get("is_error")
    ((said,),) = [second_result["content"]]
    assert json.loads(said["text"]) == {"message": "hi"}, "what reached the server"
