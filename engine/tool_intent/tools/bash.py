"""bash: a shell command in the workspace, bounded in time and output. It is not confined."""

from __future__ import annotations

import errno
import math
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, Final

from tool_intent.tools.capture import MAX_BYTES, MAX_LINES, Capture
from tool_intent.tools.files import encoded
from tool_intent.tools.model import ToolError
from tool_intent.tools.wording import system_error
from tool_intent.tools.workspace import Workspace

#: Seconds.
DEFAULT_TIMEOUT: Final = 120
MAX_TIMEOUT: Final = 600

#: Seconds to wait for the output once the shell is gone, where another process holds the pipe.
_GRACE: Final = 0.1
_LONGEST_GRACE: Final = 1.0
_POLL: Final = 0.05
_CHUNK: Final = 64 * 1024

DESCRIPTION: Final = (
    "Run a bash command in the workspace folder. It is not confined to the workspace: it may do "
    "whatever the user who runs it may. Output and errors come back together, cut in the middle "
    f"past {MAX_BYTES // 1024} KB or {MAX_LINES:,} lines; there is no input. At the time limit the "
    "command and its children are killed. What is left running in the background must send its "
    "output to a file."
)

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "The command, as bash reads it."},
        "timeout": {
            "type": "number",
            "description": (
                f"Time limit in seconds, at most {MAX_TIMEOUT}; {DEFAULT_TIMEOUT} if left out."
            ),
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}


def bash(workspace: Workspace, args: Mapping[str, Any]) -> str:
    """The output of `args["command"]`, run with the caller's environment.

    Raises `ToolError` with the output and the reason if it exits with anything but 0 or reaches
    its limit. At the limit its process group is killed; a child that made a session of its own
    (setsid) is out of reach and goes on.
    """
    limit = _limit(args.get("timeout", DEFAULT_TIMEOUT))
    process = _start(workspace, args["command"])
    output = Capture()
    try:
        with process.stdout as pipe:  # type: ignore[union-attr]  # asked for as a pipe
            held = _drain(process, pipe, output, time.monotonic() + limit)
        timed_out = held is None
    finally:
        # Before the shell is waited for: until then nobody else can have its group's number.
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return _report(output.text(), process.returncode, limit if timed_out else None, bool(held))


def _limit(timeout: float) -> float:
    if 0 < timeout <= MAX_TIMEOUT:
        return float(timeout)
    raise ToolError(
        f"timeout counts seconds, more than 0 and at most {MAX_TIMEOUT}: divide milliseconds by "
        "1,000, and run what takes longer in the background, with its output in a file."
    )


def _start(workspace: Workspace, command: str) -> subprocess.Popen[bytes]:
    if not command.strip():
        raise ToolError("command is empty; give a command to run.")
    if "\0" in command:
        raise ToolError("command holds a NUL character, which no shell takes; leave it out.")
    encoded(command, "command")
    try:
        return subprocess.Popen(  # noqa: S603  # running commands is what the tool is for
            [_shell(), "-c", command],
            cwd=workspace.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise ToolError(
                "the command is longer than the system takes; write it to a file and run that."
            ) from None
        if error.filename == workspace.root:
            raise ToolError(workspace.gone(error)) from error
        raise ToolError(system_error("bash", error)) from error


def _shell() -> str:
    """The absolute path of bash, or of sh where there is no bash."""
    for name in ("bash", "sh"):
        found = shutil.which(name)
        # An empty or relative entry of PATH would find a shell that the workspace planted.
        if found and os.path.isabs(found):
            return found
    raise ToolError("there is neither bash nor sh on PATH; install one, or mend PATH.")


def _drain(
    process: subprocess.Popen[bytes], pipe: IO[bytes], output: Capture, end: float
) -> bool | None:
    """Read `pipe` until the command is over: whether another process still holds the pipe.

    None if the command is not over at `end`, a time of the monotonic clock.
    """
    poller = select.poll()
    poller.register(pipe, select.POLLIN)
    quiet_since = gone_at = 0.0
    while True:
        now = time.monotonic()
        if not gone_at and process.poll() is not None:
            gone_at = quiet_since = now
        if gone_at and (now - quiet_since > _GRACE or now - gone_at > _LONGEST_GRACE):
            return True
        if not gone_at and now >= end:
            return None
        wait = _POLL if gone_at else min(_POLL, end - now)
        if not poller.poll(math.ceil(wait * 1000)):
            continue
        data = os.read(pipe.fileno(), _CHUNK)
        if not data:
            return _exited(process, end)
        output.feed(data)
        quiet_since = time.monotonic()


def _exited(process: subprocess.Popen[bytes], end: float) -> bool | None:
    """False once the command, which has closed its output, is over; None if not at `end`."""
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None
    return False


def _report(text: str, code: int, limit: float | None, held: bool) -> str:
    notes = []
    if limit is not None:
        notes.append(
            f"Killed at its limit of {limit:g} seconds. Give a longer timeout (at most "
            f"{MAX_TIMEOUT}) or do less at a time."
        )
    elif code < 0:
        notes.append(f"Killed by signal {-code} ({_signal_name(-code)}).")
    elif code > 0:
        notes.append(f"Exit code {code}.")
    if held:
        notes.append(
            "A background process still holds the output; what it prints from here on is lost."
        )
    if not text and not notes:
        notes.append("No output.")
    gap = "" if not text or text.endswith("\n") else "\n"
    report = text + (gap + "\n".join(f"[{note}]" for note in notes) if notes else "")
    if code != 0 or limit is not None:
        raise ToolError(report)
    return report


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "real-time"
