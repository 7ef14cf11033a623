"""Client settings: wrapped, unwrapped, examined; and catalogs of live servers."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from ..command import Command
from .raw import COMMAND, POLICY, lenient, odd, proxied

SERVER = ["npx", "-y", "@modelcontextprotocol/server-github"]
JSONC = """\
{
  // what the editor starts
  "mcpServers": {
    "git hub": {
      "command": "npx", // from the registry
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {"TOKEN": "//not a comment, }"},
    },
    "docs": {"url": "https://example.com/mcp"},
    "plain": {"command": "plain-server", "cwd": "."},
  },
  "other": [1.0, 2,], /* kept */
}
"""
TOML = """\
model = "m"  # kept

[mcp_servers.github]
command = "npx" # from the registry
args = [
  "-y", # yes ]
  '@modelcontextprotocol/server-github',
]
env = { TOKEN = "x" }

[mcp_servers."a b"]
command = 'plain'

[other]
command = "no server"
"""


def read(path: Path) -> Any:
    """The servers of a settings file, by name."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        return tomllib.loads(text)["mcp_servers"]
    plain = "\n".join(line.partition(" // ")[0] for line in text.splitlines())
    return yaml.safe_load(plain.replace("// what", "# what").replace("/* kept */", ""))[
        "mcpServers"
    ]


@pytest.mark.parametrize(("name", "text"), [("mcp.json", JSONC), ("config.toml", TOML)])
def test_servers_are_put_behind_the_proxy_and_back(name: str, text: str, bare: Command) -> None:
    file = bare.cwd / name
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    before = read(file)
    done = bare("mcp", "wrap", name, "--policy", "std/baseline", "--yes")
    assert done.code == 0, done
    after = read(file)
    for server, table in before.items():
        if "url" in table:
            assert after[server] == table
            continue
        command, args = after[server]["command"], after[server]["args"]
        assert command == COMMAND
        start = args.index("--")
        assert args[:2] == ["mcp", "--server"]
        assert args[2].replace("-", " ") == server.replace("-", " ")
        assert args[3:start] == ["--policy", "std/baseline"]
        assert args[start + 1 :] == [table["command"], *table.get("args", [])]
        assert after[server].get("env") == table.get("env")
    kept = [line for line in text.splitlines() if "kept" in line or "from the registry" in line]
    for line in kept:
        assert line.partition("#" if ".toml" in name else "//")[2] in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert (bare.cwd / f"{name}.before-tool-intent").read_text() == text
    again = bare("mcp", "wrap", name, "--yes")
    assert "nothing to change" in again.out
    assert bare("mcp", "unwrap", name, "--yes").code == 0
    back = read(file)
    for server, table in before.items():
        assert back[server] == (table if "url" in table else {"args": [], **table})


def test_the_diff_is_shown_and_nothing_written_where_nobody_can_be_asked(bare: Command) -> None:
    file = bare.cwd / ".mcp.json"
    file.write_text(JSONC, encoding="utf-8")
    done = bare("mcp", "wrap", ".mcp.json")
    assert done.code == 2
    assert '-      "command": "npx", // from the registry' in done.out
    assert "docs stays as it is: it is reached by address" in done.err
    assert file.read_text() == JSONC
    assert os.listdir(bare.cwd) == [".mcp.json"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ('{"mcpServers": {', "not JSON"),
        ("[]", "no object"),
        ('{"mcpServers": {"a": {"command": 7}}}', "wrong type"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "wrong type"),
        ('{"mcpServers": {"a": {"command": "x", "command": "y"}}}', "stands 2 times"),
    ],
)
def test_settings_that_cannot_be_edited_are_left_alone(text: str, said: str, bare: Command) -> None:
    (bare.cwd / "mcp.json").write_text(text, encoding="utf-8")
    done = bare("mcp", "wrap", "mcp.json", "--yes")
    assert done.code == 2
    assert said in done.err
    assert (bare.cwd / "mcp.json").read_text() == text


@pytest.mark.parametrize(
    "settings",
    [
        {"servers": {"a": {"type": "stdio", "command": "x", "args": ["y"]}}},
        {"mcp": {"servers": {"a": {"command": "x"}}}},
        {"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}},
    ],
)
def test_every_place_where_clients_name_servers_is_found(settings: Any, bare: Command) -> None:
    (bare.cwd / "mcp.json").write_text(json.dumps(settings), encoding="utf-8")
    assert bare("mcp", "wrap", "mcp.json", "--yes").code == 0
    assert COMMAND in (bare.cwd / "mcp.json").read_text()


def examined(bare: Command, servers: dict[str, list[str]]) -> list[tuple[str, str]]:
    """The codes that the doctor gives, with the server's name."""
    tables = {name: {"command": first, "args": rest} for name, (first, *rest) in servers.items()}
    (bare.cwd / ".mcp.json").write_text(json.dumps({"mcpServers": tables}), encoding="utf-8")
    done = bare("doctor", ".mcp.json", "--format", "json")
    assert done.err == ""
    codes = [(check["name"], check["text"].split(": ")[1]) for check in json.loads(done.out)]
    assert done.code == (1 if any(c != "mcp/judged" for c, _ in codes) else 0)
    return codes


def test_the_doctor_calls_each_proxied_server_in_vain(bare: Command, tmp_path: Path) -> None:
    (bare.cwd / ".tool-intent").mkdir()
    (bare.cwd / ".tool-intent" / "policy.yaml").write_text(POLICY, encoding="utf-8")
    log = tmp_path / "ran"
    log.touch()
    assert examined(bare, {"good": proxied(lenient(log))}) == [("mcp/judged", "good")]
    assert log.read_text() == ""
    fake = tmp_path / "tool-intent"
    fake.write_text(f"#!/bin/sh\nshift 4\nexec {sys.executable} {odd()[1]}\n", encoding="utf-8")
    fake.chmod(0o755)
    found = examined(
        bare,
        {
            "good": proxied(lenient(log)),
            "twin": lenient(log),
            "plain": odd(),
            "fake": [str(fake), "mcp", "--server", "s", "--", "x"],
            "dead": [COMMAND, "mcp", "--server", "s", "--", "false"],
        },
    )
    assert found == [
        ("mcp/judged", "good"), ("mcp/direct-entry", "twin"), ("mcp/not-proxied", "plain"),
        ("mcp/not-judged", "fake"), ("mcp/does-not-start", "dead"),
    ]  # fmt: skip


def test_the_doctor_looks_at_the_settings_it_finds_and_at_pi_where_there_is_one(
    bare: Command, tmp_path: Path
) -> None:
    plain = {"mcpServers": {"plain": {"command": odd()[0], "args": odd()[1:]}}}
    (bare.cwd / ".mcp.json").write_text(json.dumps(plain), encoding="utf-8")
    programs = tmp_path / "programs"
    programs.mkdir()

    def names() -> list[str]:
        done = bare("doctor", "--format", "json", env={"PATH": str(programs)})
        assert (done.code, done.err) == (1, "")
        return [check["name"] for check in json.loads(done.out)]

    assert names() == ["mcp/not-proxied"]
    (programs / "pi").write_text("#!/bin/sh\n", encoding="utf-8")
    (programs / "pi").chmod(0o755)
    found = names()
    assert found[0] == "engine"
    assert {"extension", "pi", "mcp/not-proxied"} <= {*found}


def test_a_catalog_of_a_live_server_loads_and_names_its_tools(bare: Command) -> None:
    server = [sys.executable, str(Path(__file__).with_name("sdk_server.py"))]
    done = bare("catalog", "import", "--server", "sdk", "--", *server)
    assert done.code == 0, done
    (bare.cwd / "sdk.yaml").write_text(done.out, encoding="utf-8")
    tools = yaml.safe_load(done.out)["tools"]
    assert list(tools) == ["mcp__sdk__echo", "mcp__sdk__danger", "mcp__sdk__more"]
    assert tools["mcp__sdk__danger"]["schema"]["properties"] == {"path": {"type": "string"}}
    policy = "version: 1\ncatalog: ./sdk.yaml\ntools:\n  mcp__sdk__echo: {require: [intent]}\n"
    (bare.cwd / "p.yaml").write_text(policy + "fields: {intent: {}}\n", encoding="utf-8")
    assert bare("check", "--strict", "p.yaml").code == 0


def test_a_server_that_tells_no_tools_gives_no_catalog(bare: Command) -> None:
    done = bare("catalog", "import", "--", *odd("no-tools"))
    assert done.code == 2
    assert "did not tell its tools" in done.err
    assert bare("catalog", "import").code == 2


def test_a_bare_name_that_two_servers_share_is_an_error(bare: Command) -> None:
    catalog = (
        "catalog: two\ntools:\n  mcp__a__search: {}\n  mcp__b__search: {}\n  mcp__b__find: {}\n"
    )
    (bare.cwd / "two.yaml").write_text(catalog, encoding="utf-8")
    policy = (
        "version: 1\ncatalog: ./two.yaml\nfields: {intent: {}}\ntools:\n"
        "  search: {require: [intent]}\n  mcp__b__find: {require: [intent]}\n"
    )
    (bare.cwd / "p.yaml").write_text(policy, encoding="utf-8")
    done = bare("check", "p.yaml", "--format", "json")
    assert done.code == 1
    (error,) = [d for d in json.loads(done.out) if d["severity"] == "error"]
    assert (error["code"], error["line"]) == ("policy/ambiguous-tool", 5)
    assert error["message"] == "`search` is a tool of several servers: a, b"
    assert error["help"] == "write mcp__a__search, or mcp__*__search for all of them"


def test_help_says_how_it_is_used(bare: Command) -> None:
    done = bare("mcp", "--help")
    assert done.code == 0
    assert "Example: tool-intent mcp" in done.out
    for word in ("--server", "--ask", "--listen", "--upstream", "--builtin", "wrap", "unwrap"):
        assert word in done.out
