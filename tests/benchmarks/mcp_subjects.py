"""What the MCP proxy costs: the official client's calls of server-everything's `echo`, directly and
through proxies, one after the other in one run."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import rule_policies

HERE = Path(__file__).parent
CALLS = 1_000
STARTS = 15
#: Characters of the larger messages, and how often each is sent.
LARGE = {"20 kB": (20_000, 200), "3 MB": (3_000_000, 15)}
REASONS = {
    "intent": "Guard the hash chain in the writer",
    "rationale": "Issue 12 shows the chain torn where two writers meet.",
}
_HELLO = {
    "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"}},
}  # fmt: skip


def answers(folder: Path) -> list[dict[str, Any]]:
    """One answer a row; those that cannot be measured here say why not."""
    try:
        server = _everything()
    except RuntimeError as error:
        return [{"name": "MCP proxy", "ratio": None, "budget": None, "absent": str(error)}]
    project = _project(folder)
    commands = _commands(server)
    _listed(commands["MCP proxy"], project)  # fills the cache
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times, resident = asyncio.run(_calls(commands, project))
    rows = [_added(name, times) for name in commands if name != "direct"]
    if "FastMCP proxy" not in commands:
        absent = {"ratio": None, "budget": None, "absent": "not installed (fastmcp)"}
        rows.append({"name": "FastMCP proxy, added in direct", **absent})
    small, large = (_difference(times, size) for size in LARGE)
    growth = large / small / (LARGE["3 MB"][0] / LARGE["20 kB"][0])
    rows.append(_row("MCP proxy, 3 MB in 20 kB by size", growth, 1.0, large))
    rows.append(_row("MCP proxy, resident in 40 MB", resident / 40e6, 1.0, None))
    rows[-1]["resident_mb"] = round(resident / 1e6, 1)
    late = _start_up(commands["direct"], commands["MCP proxy"], project)
    rows.append(_row("MCP proxy, start-up added in 60 ms", late / 0.060, 1.0, late))
    return rows


def _everything() -> list[str]:
    """The command of the official server, installed as the tests' lock file says."""
    sys.path.insert(0, str(HERE.parent / "agents"))
    if find_spec("pytest") is None or find_spec("mcp") is None:
        raise RuntimeError("not installed (mcp)")
    import pytest
    from installed import installed

    try:
        folder = installed("mcp")
    except (pytest.skip.Exception, pytest.fail.Exception) as error:
        raise RuntimeError(str(error).splitlines()[0]) from None
    packages = folder / "node_modules" / "@modelcontextprotocol"
    return ["node", str(packages / "server-everything" / "dist" / "index.js")]


def _project(folder: Path) -> Path:
    """A folder whose policy asks for two fields and judges `echo` by fifty rules."""
    (folder / "mcp-home").mkdir()
    policy = folder / "mcp-project" / ".tool-intent" / "policy.yaml"
    policy.parent.mkdir(parents=True)
    text = rule_policies.fifty().replace("entry.newText", "args.message")
    text = text.replace(" on edit\n", " on mcp__everything__echo\n")
    head, _, rules = text.partition("rules: |")
    head = "version: 1\npolicy: bench/mcp\ntools:\n"
    head += '  "mcp__*": {require: [intent, rationale]}\n'
    policy.write_text(f"{head}rules: |{rules}", encoding="utf-8")
    return policy.parents[1]


def _commands(server: list[str]) -> dict[str, list[str]]:
    own = str(Path(sys.executable).with_name("tool-intent"))
    commands = {
        "direct": server,
        "MCP proxy": [own, "mcp", "--server", "everything", "--", *server],
        "SDK proxy": [sys.executable, str(HERE / "sdk_proxy.py"), *server],
    }
    if find_spec("fastmcp") is not None:
        commands["FastMCP proxy"] = [sys.executable, str(HERE / "fastmcp_proxy.py"), *server]
    return commands


def _environment(project: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(project.parent / "mcp-home")}


@contextmanager
def _nowhere() -> Iterator[Any]:
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        yield nowhere


@asynccontextmanager
async def _connected(command: Sequence[str], project: Path, nowhere: Any) -> AsyncIterator[Any]:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    first, *rest = command
    parameters = StdioServerParameters(
        command=first, args=rest, env=_environment(project), cwd=str(project)
    )
    async with Client(stdio_client(parameters, errlog=nowhere), mode="legacy") as client:
        await client.list_tools()
        yield client


async def _calls(
    commands: dict[str, list[str]], project: Path
) -> tuple[dict[tuple[str, str], list[float]], float]:
    """Seconds of each call by subject and size, interleaved call by call; and the proxy's resident
    bytes after them."""
    times: dict[tuple[str, str], list[float]] = {}
    async with AsyncExitStack() as stack:
        nowhere = stack.enter_context(_nowhere())
        clients = {
            name: await stack.enter_async_context(_connected(command, project, nowhere))
            for name, command in commands.items()
        }
        for size, (length, count) in {"": (5, CALLS), **LARGE}.items():
            message = "hello" * (length // 5)
            for n in range(-20 if not size else -1, count):
                for name, client in clients.items():
                    if size and "proxy" in name and name != "MCP proxy":
                        continue
                    args = {"message": message} | (REASONS if name == "MCP proxy" else {})
                    start = perf_counter()
                    result = await client.call_tool("echo", args)
                    seconds = perf_counter() - start
                    assert not result.is_error, (name, result)
                    if n >= 0:
                        times.setdefault((name, size), []).append(seconds)
        return times, _resident()


def _resident() -> float:
    """Resident bytes of our proxy among this process's children."""
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            status = (folder / "status").read_text()
        except OSError:
            continue
        ours = f"PPid:\t{os.getpid()}\n" in status and b"mcp" in words and b"--server" in words
        if ours:
            line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
            return float(line.split()[1]) * 1024
    raise RuntimeError("the proxy is gone")


def _difference(times: dict[tuple[str, str], list[float]], size: str) -> float:
    return median(times["MCP proxy", size]) - median(times["direct", size])


def _added(name: str, times: dict[tuple[str, str], list[float]]) -> dict[str, Any]:
    direct = median(times["direct", ""])
    added = median(times[name, ""]) - direct
    budget = 0.45 if name == "MCP proxy" else None
    return _row(f"{name}, added in direct", added / direct, budget, added)


def _row(name: str, ratio: float, budget: float | None, seconds: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "ratio": round(ratio, 3), "budget": budget}
    if budget is not None:
        row["over"] = row["ratio"] > budget
    return row | {"median_ms": 0.0 if seconds is None else round(seconds * 1000, 3)}


def _start_up(direct: list[str], proxied: list[str], project: Path) -> float:
    """The median of how much later the list of tools is there, started one after the other."""
    return median(_listed(proxied, project) - _listed(direct, project) for _ in range(STARTS))


def _listed(command: Sequence[str], project: Path) -> float:
    start = perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        cwd=project, env=_environment(project),
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        wanted = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        for number, messages in ((0, [_HELLO]), (1, [ready, wanted])):
            for message in messages:
                process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline()).get("id") != number:
                pass
        seconds = perf_counter() - start
        process.terminate()
        return seconds


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        for answer in answers(Path(place)):
            print(json.dumps(answer))
