"""Help, exit codes of bad usage, and colour: only on a terminal, never against NO_COLOR."""

from __future__ import annotations

import os
import subprocess
from typing import Final

import pytest

from .command import COMMAND, DEADLINE, Command

COMMANDS: Final = ("init", "check", "decide", "run", "show", "schema")
ESCAPE: Final = "\x1b"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name: str, bare: Command) -> None:
    done = bare(name, "--help")
    assert (done.code, done.err) == (0, "")
    example = done.out.partition("Example: ")[2]
    assert f"tool-intent {name}" in " ".join(example.split()), done.out
    assert ESCAPE not in done.out


def test_help_names_every_command_and_the_exit_codes(bare: Command) -> None:
    done = bare("--help")
    assert bare("-h") == done
    assert done.code == 0
    for name in COMMANDS:
        assert f" {name} " in done.out
    assert "0 clean, 1 findings, 2 usage" in done.out


def test_the_version_is_said(bare: Command) -> None:
    done = bare("--version")
    assert done.code == 0
    assert done.out.startswith("tool-intent 0.")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("frobnicate",),
        ("--frobnicate",),
        ("decide", "--frobnicate"),
        ("decide", "--policy"),
        ("decide", "calls.jsonl"),
        ("check", "--format", "xml"),
        ("run", "bash", "{}", "extra"),
        ("schema",),
    ],
    ids=" ".join,
)
def test_bad_usage_exits_with_2(arguments: tuple[str, ...], plain: Command) -> None:
    done = plain(*arguments, stdin='{"tool": "bash"}\n')
    assert done.code == 2
    assert '"decision"' not in done.out
    assert "Traceback" not in done.err
    assert done.out + done.err


PRINTS: Final = [
    ("check", "w.yaml"),
    ("show", "--effective"),
    ("show", "--sources"),
    ("run", "bash", "{}", "--workspace", "."),
    ("init",),
    ("frobnicate",),
]


@pytest.mark.parametrize("arguments", PRINTS, ids=" ".join)
def test_what_goes_to_no_terminal_holds_no_colour(
    arguments: tuple[str, ...], plain: Command
) -> None:
    (plain.cwd / "w.yaml").write_text("version: 1\ntools: {bsh: {require: [intent]}}\n")
    done = plain(*arguments, env={"TERM": "xterm-256color"})
    assert done.out + done.err
    assert ESCAPE not in done.out + done.err


def _on_a_terminal(command: Command, *arguments: str, **env: str) -> str:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=command.cwd,
        env=command.environment({"TERM": "xterm-256color"} | env),
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65_536):
            shown += chunk
    except OSError:
        pass  # Linux says so when the last writer is gone
    os.close(ours)
    process.wait(DEADLINE)
    return shown.decode()


@pytest.mark.parametrize(
    "arguments", [("show", "--effective"), ("run", "bash", "{}", "--workspace", ".")]
)
def test_a_terminal_gets_colour_unless_no_color_says_no(
    arguments: tuple[str, ...], plain: Command
) -> None:
    assert ESCAPE in _on_a_terminal(plain, *arguments)
    assert ESCAPE not in _on_a_terminal(plain, *arguments, NO_COLOR="1")
