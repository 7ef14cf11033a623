"""Writes the catalog of Claude Code or Codex to standard output: the tools that the agent's own
command offers its model, read from the requests it sends to a model interface on loopback.

    python tests/agents/extract_requested.py claude-code COMMAND > policies/catalog/claude-code.yaml
    python tests/agents/extract_requested.py codex COMMAND > policies/catalog/codex.yaml

COMMAND is the agent's executable: the one inside PyPI's claude-agent-sdk, or inside npm's
@openai/codex. It gets a home folder of its own, an invented key, and nothing answers it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from catalog_text import Meaning, catalog_text, fail

HOW: Final = "tests/agents/extract_requested.py"
#: Seconds that one start of an agent may take.
DEADLINE: Final = 60

#: Tools of Claude Code that are offered only where they are named, or where others are not.
_NAMED: Final = "Glob,Grep,TaskCreate,TaskGet,TaskList,TaskUpdate"

_FILE: Final = {"path": "file_path"}
CLAUDE_CODE: Final = {
    "Read": Meaning(("@read",), _FILE),
    "Glob": Meaning(("@read",), {"path": "path"}),
    "Grep": Meaning(("@read",), {"path": "path"}),
    "Write": Meaning(("@write",), {**_FILE, "content": "content"}),
    "Edit": Meaning(("@edit",), {**_FILE, "content": "new_string"}),
    "NotebookEdit": Meaning(("@edit",), {"path": "notebook_path", "content": "new_source"}),
    "Bash": Meaning(("@exec",), {"command": "command"}),
    "Monitor": Meaning(("@exec",), {"command": "command", "url": "ws.url"}),
    "WebFetch": Meaning(("@net",), {"url": "url"}),
    "WebSearch": Meaning(("@net",), {"content": "query"}),
    **dict.fromkeys(
        [
            "Agent",
            "CronCreate",
            "CronDelete",
            "CronList",
            "EnterWorktree",
            "ExitWorktree",
            "ListAgents",
            "ReportFindings",
            "ScheduleWakeup",
            "SendMessage",
            "Skill",
            "TaskCreate",
            "TaskGet",
            "TaskList",
            "TaskStop",
            "TaskUpdate",
            "TodoWrite",
            "Workflow",
        ],
        Meaning(),
    ),
}
CODEX: Final = {
    "exec_command": Meaning(("@exec",), {"command": "cmd"}),
    # What is typed at a running session is a command where that is a shell.
    "write_stdin": Meaning(("@exec",), {"command": "chars"}),
    # A patch names its files inside; it is content, never a command, whatever its argument is
    # called.
    "apply_patch": Meaning(("@edit",), {"content": "command"}),
    "view_image": Meaning(("@read",), {"path": "path"}),
    **dict.fromkeys(
        ["create_goal", "get_goal", "request_user_input", "update_goal"],
        Meaning(),
    ),
}

#: What Codex gives its hooks for apply_patch, a tool whose input is a text and has no schema.
APPLY_PATCH: Final = {
    "name": "apply_patch",
    "description": "Edits files by a patch. Its input is the patch itself, which hooks are given as"
    " `command`.",
    "schema": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}


class Listener(ThreadingHTTPServer):
    """A model interface that keeps every request's body and answers none."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.bodies.append(json.loads(body))
        self.send_response(400)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Standard error is for what goes wrong."""


def claude_code(command: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The source and the tools of a session with all built-in tools, and of two that name some."""
    version = _output(command, "--version").split()[0]
    todo = {"CLAUDE_CODE_ENABLE_TASKS": "false", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}
    found: dict[str, dict[str, Any]] = {}
    for more, variables in (([], {}), (["--tools", _NAMED], {}), (["--tools", "TodoWrite"], todo)):
        with _Listening() as server:
            _start(
                [command, "-p", "hello", *more],
                ANTHROPIC_BASE_URL=f"http://127.0.0.1:{server.server_port}",
                ANTHROPIC_API_KEY="invented",
                CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
                # Tools that a search would find later are offered from the start.
                ENABLE_TOOL_SEARCH="false",
                **variables,
            )
        for tool in _tools(server.bodies):
            found.setdefault(tool["name"], {**tool, "schema": tool["input_schema"]})
    how = f"{HOW}, from the requests of the claude command that the package carries"
    return _source("claude-agent-sdk", f"Claude Code {version}", how), list(found.values())


def codex(command: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The source and the function tools of a session that runs no code mode."""
    version = _output(command, "--version").split()[-1]
    with _Listening() as server:
        provider = (
            f'{{name="loopback", base_url="http://127.0.0.1:{server.server_port}/v1",'
            ' env_key="INVENTED", wire_api="responses", request_max_retries=0,'
            " stream_max_retries=0}"
        )
        _start(
            [
                command, "exec", "--skip-git-repo-check", "-m", "gpt-5",
                "-c", "model_provider=loopback", "-c", f"model_providers.loopback={provider}",
                "hello",
            ],
            INVENTED="invented",
        )  # fmt: skip
    # Tools without a name run on the provider's side; those in name spaces are other agents.
    tools = [
        {**tool, "schema": tool["parameters"]}
        for tool in _tools(server.bodies)
        if tool["type"] == "function"
    ]
    how = f"{HOW}, from a request of the codex command; apply_patch as its hooks see it"
    return _source("@openai/codex", version, how), [*tools, APPLY_PATCH]


def _source(package: str, version: str, how: str) -> dict[str, str]:
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return {"package": package, "version": version, "date": date, "how": how}


class _Listening:
    """A listener that runs while the block does."""

    def __enter__(self) -> Listener:
        self._server = Listener()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self._server

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _start(command: Sequence[str], **variables: str) -> None:
    """Run an agent in an empty folder; that the model fails it is expected."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home, **variables}
        try:
            subprocess.run(
                command, cwd=home, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=DEADLINE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{command[0]} was stopped after {DEADLINE} s", file=sys.stderr)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _tools(bodies: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The tools of the first request that offers any."""
    offered = next((body["tools"] for body in bodies if body.get("tools")), None)
    if offered is None:
        fail(f"no tools were offered in {len(bodies)} requests")
    yield from offered


def main() -> None:
    """Print the catalog of the agent that the command line names."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("claude-code", "codex"):
        fail("expected claude-code or codex, and the agent's executable")
    name, command = sys.argv[1], os.path.abspath(sys.argv[2])
    extract, meanings = (claude_code, CLAUDE_CODE) if name == "claude-code" else (codex, CODEX)
    source, tools = extract(command)
    sys.stdout.write(catalog_text(name, source, tools, meanings))


if __name__ == "__main__":
    main()
