"""The installed command, run as its users run it: a process of its own, with a deadline.

In the fast tests most are forked from an interpreter that has loaded other people's libraries
already, see `forks.py`."""

from __future__ import annotations

import json
import os
import pwd
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from .forking import FORKS, Busy, same_as_new

COMMAND: Final = Path(sys.executable).parent / "tool-intent"
#: `make test-all` starts every command anew.
_FAST: Final = os.environ.get("HYPOTHESIS_PROFILE") != "ci"
ASSETS: Final = Path(__file__).parents[1] / "assets"

#: Seconds that one command may take; far more than any does, even on a busy machine.
DEADLINE: Final = 60

_IMPORTED: Final = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
_RESTRICTED: Final = Path(__file__).with_name("restricted.py")
_LAUNCHED: Final = Path(__file__).with_name("launched.py")
#: Whether who runs the tests has policies of their own, which are none of the tests' business.
_ACCOUNT: Final = Path(pwd.getpwuid(os.getuid()).pw_dir)
_HAS_POLICIES: Final = any(
    os.path.lexists(_ACCOUNT / place)
    for place in (".config/tool-intent", ".local/state/tool-intent")
)


class Done(NamedTuple):
    """A command that ended: its exit code, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def answers(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line, parse_int=_integer) for line in self.out.splitlines()]

    @property
    def imported(self) -> set[str]:
        """The modules that were imported, where the command ran with `TRACED`."""
        return set(_IMPORTED.findall(self.err))

    @property
    def said(self) -> str:
        """Standard error without the list of imports."""
        lines = self.err.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("import time:"))


#: Settings under which the interpreter lists its imports on standard error.
TRACED: Final = {"PYTHONPROFILEIMPORTTIME": "1"}


class Command:
    """`tool-intent` for one user (a home folder) in one folder. `account`, if set, is the home
    folder of the user's account, wherever the environment says that home is."""

    #: Whether it starts as any program of this user's does.
    is_plain: ClassVar = True

    def __init__(self, home: Path, cwd: Path) -> None:
        self.home = home
        self.cwd = cwd
        self.account = home if _HAS_POLICIES else None

    def program(self) -> list[str | Path]:
        """The command without its arguments."""
        if self.account is None:
            return [COMMAND]
        return [sys.executable, _LAUNCHED, self.account, COMMAND]

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Nothing of the machine's own settings, so that results do not depend on them."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8"} | more

    def __call__(
        self,
        *arguments: str | Path,
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        restricted: str | None = None,
    ) -> Done:
        """Run to the end; `restricted` is what `restricted.py` takes."""
        where: dict[str, Any] = {
            "input": stdin.encode() if isinstance(stdin, str) else stdin,
            "cwd": cwd or self.cwd,
            "env": self.environment(env or {}),
            "timeout": DEADLINE,
        }
        done = self._forked(arguments, where) if restricted is None else None
        if done is None:
            launcher = [] if restricted is None else [sys.executable, _RESTRICTED, restricted]
            program = [*launcher, *self.program(), *arguments]
            done = subprocess.run(program, capture_output=True, check=False, **where)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def _forked(
        self, arguments: tuple[str | Path, ...], where: dict[str, Any]
    ) -> subprocess.CompletedProcess[bytes] | None:
        """Run in a fork, None where that is not the same, or not possible now."""
        if not (_FAST and self.is_plain and same_as_new(where["env"])):
            return None
        try:
            return FORKS.run(COMMAND, arguments, account=self.account, **where)
        except Busy:
            return None

    def start(self, *arguments: str | Path, **more: Any) -> subprocess.Popen[bytes]:
        """Start, with pipes to talk through; the caller keeps the deadline."""
        return subprocess.Popen(
            [*self.program(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.cwd,
            env=self.environment(more.pop("env", {})),
            **more,
        )

    def decide(self, *calls: Mapping[str, Any], options: tuple[str, ...] = ()) -> list[Any]:
        """The decisions on `calls`; the command must end with 0 and say nothing else."""
        done = self("decide", *options, stdin=lines(*calls))
        assert (done.code, done.err) == (0, ""), done
        return done.answers


def _integer(spelling: str) -> int | str:
    """Python reads no number of more than 4,300 digits."""
    return int(spelling) if len(spelling) <= 4_300 else spelling


def lines(*calls: Mapping[str, Any]) -> str:
    """Calls as JSON lines."""
    return "".join(f"{json.dumps(call)}\n" for call in calls)


def call(tool: str, /, **args: Any) -> dict[str, Any]:
    """A call of `tool`."""
    return {"id": tool, "tool": tool, "args": args}


def reasoned(tool: str, /, **args: Any) -> dict[str, Any]:
    """A call of `tool` with all that `std/baseline` asks of it."""
    why = {"intent": "Keep the notes right", "rationale": "The second line is out of date"}
    return call(tool, **args, **why)


def rules(decision: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Each finding of a decision as its rule, place and effect."""
    return [(f["rule"], f["at"], f["effect"]) for f in decision["findings"]]


def tree(folder: Path) -> dict[str, bytes | None]:
    """What a folder holds: the bytes of each file, None for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
