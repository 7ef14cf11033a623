"""A forked command is to be one that a new interpreter ran, as far as anybody can tell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from .forking import FORKS, Busy, same_as_new

TELLS_ALL: Final = """\
import json, os, sys
sys.stderr.write("said aside")
print(json.dumps({
    "arguments": sys.argv,
    "folder": os.getcwd(),
    "settings": dict(os.environ),
    "input": sys.stdin.read(),
    "name": __name__,
    "path": sys.path,
    "loaded": [m for m in sys.modules if m.startswith("tool_intent")],
    "descriptors": [n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}")],
    "streams": [(s.encoding, s.errors, s.line_buffering, s.isatty())
                for s in (sys.stdin, sys.stdout, sys.stderr)],
}))
sys.exit(3)
"""


def _ran(folder: Path, text: str, *arguments: str, input: bytes = b"", **more: Any) -> Any:
    script = folder / "script.py"
    script.write_text(text, encoding="utf-8")
    settings = {"LC_ALL": "C.UTF-8", "HOME": str(folder), "TOOL_INTENT_CACHE": "off"}
    given: dict[str, Any] = {"cwd": folder, "env": settings, "timeout": 60} | more
    return FORKS.run(script, arguments, account=None, input=input, **given)


def test_a_fork_tells_of_itself_what_a_new_interpreter_does(tmp_path: Path) -> None:
    forked = _ran(tmp_path, TELLS_ALL, "--a", "é", input="ö".encode())
    fresh = subprocess.run(
        [sys.executable, tmp_path / "script.py", "--a", "é"], input="ö".encode(), cwd=tmp_path,
        env={"LC_ALL": "C.UTF-8", "HOME": str(tmp_path), "TOOL_INTENT_CACHE": "off"},
        capture_output=True, check=False,
    )  # fmt: skip
    assert json.loads(forked.stdout) == json.loads(fresh.stdout)
    assert json.loads(forked.stdout)["loaded"] == []
    assert (forked.returncode, forked.stderr) == (fresh.returncode, fresh.stderr)


def test_nothing_of_one_run_is_left_for_the_next(tmp_path: Path) -> None:
    text = "import sys, os\nprint(hasattr(sys, 'left'), 'LEFT' in os.environ)\n"
    text += "sys.left = os.environ['LEFT'] = 'x'\n"
    for _ in range(2):
        assert _ran(tmp_path, text).stdout == b"False False\n"


def test_much_goes_in_and_comes_out_or_is_not_read(tmp_path: Path) -> None:
    much = os.urandom(3 << 20)
    echo = "import sys\ndata = sys.stdin.buffer.read()\nsys.stdout.buffer.write(data)\n"
    said = _ran(tmp_path, f"{echo}sys.stderr.buffer.write(data)\n", input=much)
    assert (said.stdout, said.stderr) == (much, much)
    assert _ran(tmp_path, "print('done')\n", input=much).stdout == b"done\n"


def test_the_exit_code_tells_an_error_and_a_signal(tmp_path: Path) -> None:
    failed = _ran(tmp_path, "1 / 0\n")
    assert failed.returncode == 1
    assert failed.stderr.endswith(b"ZeroDivisionError: division by zero\n")
    assert _ran(tmp_path, "import os\nos.kill(os.getpid(), 9)\n").returncode == -9


def test_what_never_ends_is_ended(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        _ran(tmp_path, "import time\ntime.sleep(60)\n", timeout=0.2)
    assert _ran(tmp_path, "print(1)\n").stdout == b"1\n"


def test_another_thread_is_told_to_start_an_interpreter(tmp_path: Path) -> None:
    with FORKS.lock, pytest.raises(Busy):
        _ran(tmp_path, "print(1)\n")


@pytest.mark.parametrize("more", [{"PYTHONIOENCODING": "ascii"}, {"TERM": "x"}, {"LC_ALL": "C"}])
def test_settings_that_are_read_once_take_a_new_interpreter(more: dict[str, str]) -> None:
    assert not same_as_new({"LC_ALL": "C.UTF-8", "PATH": "/bin"} | more)
    assert same_as_new({"LC_ALL": "C.UTF-8", "PATH": "/bin", "TOOL_INTENT_LEDGER": "off"})
