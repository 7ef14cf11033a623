"""Calls made in a process of their own: as another user, until a crash, or under a meter.

Run as `child.py MODE` with a JSON request on standard input; the answer is JSON.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from tool_intent.tools import Builtin, Workspace

_NOBODY = 65534
_FILES = "/tools/files.py"


def as_nobody(request: dict[str, Any]) -> Any:
    """The results of `calls`, made without the rights of root."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    builtin = Builtin(Workspace(request["root"]))
    return [builtin.run(tool, args) for tool, args in request["calls"]]


def metered(request: dict[str, Any]) -> Any:
    """The result of a call, and by how many bytes the memory of this process grew at most."""
    builtin = Builtin(Workspace(request["root"]))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = builtin.run(request["tool"], request["args"])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"text": result.text, "ok": result.ok, "grown": (after - before) * 1024}


def crashes(request: dict[str, Any]) -> Any:
    """What a SIGKILL before each line of files.py leaves: one state a line, the last a whole run.

    A state is the text of `path` (None if it is absent) and the texts of all other files.
    """
    root, path = Path(request["root"]), request["args"]["path"]
    if not request["nameless"]:
        # What a file system that knows no nameless files makes of the flag.
        os.O_TMPFILE = os.O_DIRECTORY
    builtin = Builtin(Workspace(root))
    states: list[dict[str, Any]] = []
    while True:
        for file in root.iterdir():
            file.unlink()
        if request["old"] is not None:
            (root / path).write_text(request["old"])
        killed = _killed_at(len(states) + 1, builtin, request)
        held = {file.name: file.read_text() for file in root.iterdir()}
        builtin.run(request["tool"], request["args"])
        after = sorted(file.name for file in root.iterdir())
        states.append({"text": held.pop(path, None), "others": held, "after": after})
        if not killed:
            return states


def _killed_at(count: int, builtin: Builtin, request: dict[str, Any]) -> bool:
    process = os.fork()
    if process == 0:
        _kill_before_line(count)
        builtin.run(request["tool"], request["args"])
        os._exit(0)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status)


def _kill_before_line(count: int) -> None:
    left = count

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(_FILES):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


if __name__ == "__main__":
    modes = {"as_nobody": as_nobody, "metered": metered, "crashes": crashes}
    json.dump(modes[sys.argv[1]](json.load(sys.stdin)), sys.stdout)
