"""The official client gets the same through the proxies as directly, from the official servers."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ...agents.installed import installed
from .driving import PROBES, Seen, client, quiet_deprecations, run
from .raw import COMMAND
from .serving import free_port, http_proxy, running, stdio

ROOT = Path(__file__).parents[3]
EVERYTHING = [(p["name"], p) for p in PROBES["everything"]]
FILESYSTEM = [(p["name"], p) for p in PROBES["filesystem"]]


def server(name: str) -> list[str]:
    """The command of an official server."""
    folder = installed("mcp") / "node_modules" / "@modelcontextprotocol" / f"server-{name}"
    return ["node", str(folder / "dist" / "index.js")]


async def answers(
    transport: Any, probes: list[dict[str, Any]], known: dict[str, str], *, reasons: bool
) -> dict[str, str]:
    """What came of each probe, by its name; and the list of tools as the client shows it."""
    seen = Seen()
    known = dict(known)
    with quiet_deprecations():
        async with client(transport, seen) as connected:
            tools = await connected.list_tools()
            await seen.settled()
            came = {"tools/list": tools.model_dump_json(by_alias=True)}
            for probe in probes:
                came[probe["name"]] = await run(connected, seen, probe, known, reasons=reasons)
            await asyncio.sleep(0.2)
            return came | {"changes": " ".join(sorted(seen.changes))}


async def both(direct: Any, proxied: Any, probes: Any, known: Any = ({}, {})) -> Any:
    """What comes of the probes directly and through a proxy, at the same time."""
    return await asyncio.gather(
        answers(direct, probes, known[0], reasons=False),
        answers(proxied, probes, known[1], reasons=True),
    )


def differing(came: Any) -> dict[str, Any]:
    """The probes that came to something else through the proxy, and both."""
    direct, proxied = came
    assert direct.keys() == proxied.keys()
    return {
        name: {"direct": direct[name][:2_000], "proxied": proxied[name][:2_000]}
        for name in direct
        if name != "tools/list" and proxied[name] != direct[name]
    }


def test_there_are_enough_probes_of_different_names() -> None:
    names = [name for name, _ in EVERYTHING]
    assert len(names) == len(set(names)) >= 50


def test_the_page_lists_every_probe() -> None:
    page = " ".join((ROOT / "docs" / "mcp.md").read_text(encoding="utf-8").split())
    for probes in (EVERYTHING, FILESYSTEM):
        assert "; ".join(name for name, _ in probes) + "." in page
        assert f"{len(probes)} probes" in page


def test_stdio_is_the_same_as_directly(place: Path) -> None:
    command = server("everything")
    proxy = [COMMAND, "mcp", "--", *command]
    came = asyncio.run(both(stdio(command, place), stdio(proxy, place), PROBES["everything"]))
    assert differing(came) == {}
    _expect_telling(came[0])
    _expect_fields_alone(came)


def _expect_telling(direct: dict[str, str]) -> None:
    """The probes show what they are for."""
    for name, shows in {
        "sampling": "Hello from the model", "elicitation": '"elicitation"', "roots": "srv/data",
        "progress": '["progress"', "a call that makes a task": '"{TASK}"',
        "tasks/result": "content", "structured content": "structuredContent",
        "echo of 3 MB": "0123456789" * 300_000, "a method nobody knows": "-32601",
        "changes": "notifications/tools/list_changed",
    }.items():  # fmt: skip
        assert shows in direct[name], name


def _expect_fields_alone(came: Any) -> None:
    """Listed tools differ by the fields alone."""
    direct, proxied = (json.loads(one["tools/list"]) for one in came)
    for plain, shown in zip(direct["tools"], proxied["tools"], strict=True):
        schema = shown["inputSchema"]
        assert list(schema["properties"])[:2] == ["intent", "rationale"]
        assert schema["required"][:2] == ["intent", "rationale"]
        for field in ("intent", "rationale"):
            del schema["properties"][field]
        schema["required"] = schema["required"][2:]
        plain["inputSchema"].setdefault("required", [])
        plain["inputSchema"].setdefault("properties", {})
        shown["description"] = shown["description"].rpartition("\n")[0]
        assert shown == plain
    del direct["tools"], proxied["tools"]
    assert proxied == direct


def test_the_file_system_server_is_the_same_as_directly(place: Path, tmp_path: Path) -> None:
    roots = [str(tmp_path / name) for name in ("direct", "proxied")]
    for root in roots:
        Path(root).mkdir()
    command = server("filesystem")
    proxy = [COMMAND, "mcp", "--server", "filesystem", "--", *command]
    came = asyncio.run(
        both(
            stdio([*command, roots[0]], place),
            stdio([*proxy, roots[1]], place),
            PROBES["filesystem"],
            [{"ROOT": root} for root in roots],
        )
    )
    assert differing(came) == {}


@pytest.mark.slow
def test_http_is_the_same_as_directly(place: Path) -> None:
    behind = free_port()
    upstream = f"http://127.0.0.1:{behind}/mcp"
    everything = [*server("everything"), "streamableHttp"]
    with (
        running(everything, behind, place, PORT=str(behind)),
        http_proxy(upstream, "everything", place) as url,
    ):
        came = asyncio.run(both(upstream, url, PROBES["everything"]))
    assert differing(came) == {}


@pytest.mark.slow
def test_the_file_system_server_over_http_is_the_same_as_directly(
    place: Path, tmp_path: Path
) -> None:
    """It speaks stdio only, so a bridge carries its messages over HTTP."""
    roots = [str(tmp_path / name) for name in ("direct", "proxied")]
    ports = [free_port(), free_port()]
    for root in roots:
        Path(root).mkdir()
    bridge = [sys.executable, str(Path(__file__).with_name("stdio_over_http.py"))]
    behind = [
        [*bridge, str(port), *server("filesystem"), root]
        for port, root in zip(ports, roots, strict=True)
    ]
    direct, upstream = (f"http://127.0.0.1:{port}/mcp" for port in ports)
    with (
        running(behind[0], ports[0], place),
        running(behind[1], ports[1], place),
        http_proxy(upstream, "filesystem", place) as url,
    ):
        known = [{"ROOT": root} for root in roots]
        came = asyncio.run(both(direct, url, PROBES["filesystem"], known))
    assert differing(came) == {}
    assert "Successfully moved" in came[0]["move_file"]
