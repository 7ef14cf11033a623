"""The official client gets the same through the proxies as directly, from the official servers."""

from __future__ import annotations

import asyncio
import json
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
            await asyncio.sleep(0.5)  # roots are asked for, and told tools change
            seen.events.clear()
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


@pytest.fixture(scope="module")
def over_stdio(place: Path) -> Any:
    command = server("everything")
    proxy = [COMMAND, "mcp", "--", *command]
    return asyncio.run(both(stdio(command, place), stdio(proxy, place), PROBES["everything"]))


def test_there_are_enough_probes_of_different_names() -> None:
    names = [name for name, _ in EVERYTHING]
    assert len(names) == len(set(names)) >= 50


def test_the_page_lists_every_probe() -> None:
    page = " ".join((ROOT / "docs" / "mcp.md").read_text(encoding="utf-8").split())
    for probes in (EVERYTHING, FILESYSTEM):
        assert "; ".join(name for name, _ in probes) + "." in page
        assert f"{len(probes)} probes" in page


@pytest.mark.parametrize("name", [*(name for name, _ in EVERYTHING), "changes"])
def test_stdio_is_the_same_as_directly(name: str, over_stdio: Any) -> None:
    direct, proxied = over_stdio
    assert proxied[name] == direct[name]


def test_the_probes_show_what_they_are_for(over_stdio: Any) -> None:
    direct, _ = over_stdio
    for name, shows in {
        "sampling": "Hello from the model", "elicitation": '"elicitation"', "roots": "srv/data",
        "progress": '["progress"', "a call that makes a task": '"{TASK}"',
        "tasks/result": "content", "structured content": "structuredContent",
        "echo of 3 MB": "0123456789" * 300_000, "a method nobody knows": "-32601",
        "changes": "notifications/tools/list_changed",
    }.items():  # fmt: skip
        assert shows in direct[name], name


def test_listed_tools_differ_by_the_fields_alone(over_stdio: Any) -> None:
    direct, proxied = (json.loads(came["tools/list"]) for came in over_stdio)
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


@pytest.fixture(scope="module")
def files(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    roots = [str(tmp_path_factory.mktemp("files")) for _ in range(2)]
    command = server("filesystem")
    proxy = [COMMAND, "mcp", "--server", "filesystem", "--", *command]
    return asyncio.run(
        both(
            stdio([*command, roots[0]], place),
            stdio([*proxy, roots[1]], place),
            PROBES["filesystem"],
            [{"ROOT": root} for root in roots],
        )
    )


@pytest.mark.parametrize("name", [name for name, _ in FILESYSTEM])
def test_the_file_system_server_is_the_same_as_directly(name: str, files: Any) -> None:
    direct, proxied = files
    assert proxied[name] == direct[name]


# --- over HTTP -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def over_http(place: Path) -> Any:
    behind = free_port()
    upstream = f"http://127.0.0.1:{behind}/mcp"
    everything = [*server("everything"), "streamableHttp"]
    with (
        running(everything, behind, place, PORT=str(behind)),
        http_proxy(upstream, "everything", place) as url,
    ):
        return asyncio.run(both(upstream, url, PROBES["everything"]))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*(name for name, _ in EVERYTHING), "changes"])
def test_http_is_the_same_as_directly(name: str, over_http: Any) -> None:
    direct, proxied = over_http
    assert proxied[name] == direct[name]
