"""bash runs a command in the workspace, and neither time nor output nor children run away."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.tools import Builtin
from tool_intent.tools.capture import MAX_BYTES, MAX_LINES, Capture

from ..processes import is_gone, is_running


def _bash(builtin: Builtin, command: str, **args: Any) -> tuple[str, bool]:
    return builtin.run("bash", {"command": command, **args})


@pytest.mark.parametrize(
    ("command", "text", "ok"),
    [
        ("echo out; echo err >&2; echo out", "out\nerr\nout\n", True),
        ("printf x", "x", True),
        ("true", "[No output.]", True),
        ("echo a; exit 3", "a\n[Exit code 3.]", False),
        ("printf a; exit 3", "a\n[Exit code 3.]", False),
        ("false", "[Exit code 1.]", False),
        ("kill -TERM $$", "[Killed by signal 15 (SIGTERM).]", False),
        ("[[ a == a ]] && echo $((6 * 7))", "42\n", True),
        ("cat; echo read nothing", "read nothing\n", True),
        (r"printf 'a\xffb'", "a\ufffdb", True),
        ("exec >&- 2>&-; exit 4", "[Exit code 4.]", False),
    ],
)
def test_output_and_exit_code_come_back(
    builtin: Builtin, command: str, text: str, ok: bool
) -> None:
    assert _bash(builtin, command) == (text, ok)


def test_it_runs_in_the_workspace_with_the_callers_environment_in_a_session_of_its_own(
    builtin: Builtin, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLS_TEST", "inherited")
    text, _ = _bash(builtin, "pwd; echo $TOOLS_TEST; echo $$; cut -d' ' -f5,6 /proc/$$/stat")
    where, value, pid, group = text.split("\n")[:4]
    assert (where, value, group) == (str(root), "inherited", f"{pid} {pid}")


def test_the_callers_input_is_out_of_reach(child: Callable[..., Any], root: Path) -> None:
    args = {"command": "readlink /proc/self/fd/0"}
    assert child("metered", root=str(root), tool="bash", args=args)["text"] == "/dev/null\n"


def test_sh_stands_in_where_there_is_no_bash(
    builtin: Builtin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = shutil.which("sh")
    assert shell
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to(shell)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert _bash(builtin, "echo $0") == (f"{tmp_path}/bin/sh\n", True)


def test_a_shell_planted_on_a_relative_path_is_not_run(
    builtin: Builtin, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "bash").write_text("#!/bin/sh\necho planted\n")
    os.chmod(root / "bash", 0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", ".")
    assert _bash(builtin, "echo hi") == (
        "there is neither bash nor sh on PATH; install one, or mend PATH.",
        False,
    )


def test_a_command_longer_than_the_system_takes_is_said(builtin: Builtin) -> None:
    assert _bash(builtin, "x" * (1 << 22)) == (
        "the command is longer than the system takes; write it to a file and run that.",
        False,
    )


@pytest.mark.parametrize(
    "command",
    [
        "sleep 300 & echo $! > pids; echo $$ >> pids; echo begun; sleep 300",
        "echo $$ > pids; echo begun; exec >&- 2>&-; sleep 300",
        # Deaf to all that can be ignored, output closed, its own children.
        """trap '' TERM INT HUP; (trap '' TERM; sleep 300; sleep 300) & echo $! > pids
        echo $$ >> pids; echo begun; exec >&- 2>&-; wait; sleep 300""",
    ],
)
def test_at_the_limit_the_whole_group_is_killed(builtin: Builtin, root: Path, command: str) -> None:
    begun = time.monotonic()
    text, ok = _bash(builtin, command, timeout=0.5)
    assert time.monotonic() - begun < 5
    assert not ok
    assert text.startswith("begun\n[Killed at its limit of 0.5 seconds. Give a longer timeout")
    assert all(is_gone(int(pid)) for pid in (root / "pids").read_text().split())


def test_a_flood_of_output_ends_at_the_limit(builtin: Builtin) -> None:
    begun = time.monotonic()
    text, ok = _bash(builtin, "yes", timeout=0.5)
    assert time.monotonic() - begun < 5
    assert not ok
    assert "left out" in text
    assert "Killed at its limit" in text


def test_a_child_with_a_session_of_its_own_is_out_of_reach_and_does_not_hang_the_call(
    builtin: Builtin, root: Path
) -> None:
    begun = time.monotonic()
    _, ok = _bash(builtin, "setsid sh -c 'echo $$ > pid; exec sleep 60' & sleep 60", timeout=0.5)
    assert time.monotonic() - begun < 5
    assert not ok
    pid = int((root / "pid").read_text())
    assert is_running(pid)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("command", ["sleep 60", "while sleep 0.02; do echo noise; done"])
def test_a_background_child_that_holds_the_output_does_not_hang_the_call(
    builtin: Builtin, root: Path, command: str
) -> None:
    begun = time.monotonic()
    text, ok = _bash(builtin, f"({command}) & echo $! > pid; echo done")
    assert time.monotonic() - begun < 5
    assert ok
    assert "done\n" in text
    assert text.endswith("[A background process still holds the output; what it prints from here "
                         "on is lost.]")  # fmt: skip
    pid = int((root / "pid").read_text())
    if command == "sleep 60":
        assert is_running(pid)
    os.killpg(os.getpgid(pid), signal.SIGKILL)


def test_output_written_just_before_the_end_is_not_lost(builtin: Builtin) -> None:
    text, _ = _bash(builtin, "echo first > >(sleep 0.03; cat); seq 1500")
    assert text.endswith("first\n")
    assert "1500\n" in text


def test_output_within_the_bounds_comes_back_whole(builtin: Builtin) -> None:
    assert _bash(builtin, "seq 2000")[0] == "".join(f"{n}\n" for n in range(1, 2001))


def test_output_past_the_lines_keeps_its_beginning_and_its_end(builtin: Builtin) -> None:
    text, _ = _bash(builtin, "seq 5000")
    head, gap, tail = text.partition(
        "[… 15,000 bytes with 3,000 line ends left out; send the output to a file to read all of "
        "it …]\n"
    )
    assert gap
    assert head == "".join(f"{n}\n" for n in range(1, 1001))
    assert tail == "".join(f"{n}\n" for n in range(4001, 5001))


@pytest.mark.parametrize("shift", range(3))
def test_output_of_one_endless_line_is_cut_between_characters(shift: int) -> None:
    capture = Capture()
    capture.feed(("x" * shift + "€" * 40_000).encode())
    capture.feed(b"y" * shift)
    text = capture.text()
    assert "left out" in text
    assert "\ufffd" not in text
    assert text.startswith("x" * shift + "€")
    assert text.endswith("€" + "y" * shift)


def test_any_amount_of_output_is_read_in_bounded_memory(
    child: Callable[..., Any], root: Path
) -> None:
    command = "echo first; head -c 300000000 /dev/zero | tr '\\0' x; echo; echo last"
    done = child("metered", root=str(root), tool="bash", args={"command": command})
    assert done["ok"]
    assert done["text"].startswith("first\n[… ")
    assert done["text"].endswith("…]\nlast\n")
    assert done["grown"] < 8 << 20


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([b"a\n", "é€".encode(), b"x" * 700, b"\n", b"\xff"]),
                  st.integers(1, 3_000)),
        max_size=6,
    )
)  # fmt: skip
def test_a_capture_is_exact_within_its_bounds_and_bounded_past_them(
    parts: list[tuple[bytes, int]],
) -> None:
    data = b"".join(part * times for part, times in parts)
    capture = Capture()
    for start in range(0, len(data), 65_536):
        capture.feed(data[start : start + 65_536])
    text = capture.text()
    if len(data) <= MAX_BYTES and data.count(b"\n") <= MAX_LINES:
        assert text == data.decode("utf-8", "replace")
        return
    head, gap, tail = text.partition("[… ")
    assert gap
    note, _, tail = tail.partition("…]\n")
    # A byte that is not UTF-8 reads as a character of three.
    assert len(head.encode()) + len(tail.encode()) <= 3 * MAX_BYTES + 1
    assert head.count("\n") + tail.count("\n") <= MAX_LINES + 1
    assert data.decode("utf-8", "replace").startswith(head.removesuffix("\n"))
    assert data.decode("utf-8", "replace").endswith(tail)
    assert note.endswith("left out; send the output to a file to read all of it ")
