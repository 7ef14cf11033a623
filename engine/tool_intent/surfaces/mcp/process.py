"""A server as a child process: started, waited for, ended.

On the way of every start: the server is started before the policy is read, so that both are at it
at once; this module imports nothing but what that takes.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final, NamedTuple

#: Seconds that a server has to end by itself, and after being told to.
GRACE: Final = 1.0


class Server(NamedTuple):
    """A started server: its process, and our ends of its pipes."""

    pid: int
    requests: int
    answers: int


def start(command: Sequence[str], environ: Mapping[str, str]) -> Server:
    """Start a server with our standard error. Raises OSError.

    Nothing but our own file ends is inherited, and no signal stays ignored, as with a client that
    starts the server itself.
    """
    requests, ours = os.pipe()
    answers, theirs = os.pipe()
    try:
        pid = os.posix_spawnp(
            command[0],
            list(command),
            dict(environ),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, requests, 0),
                (os.POSIX_SPAWN_DUP2, theirs, 1),
            ],
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    except OSError:
        os.close(ours)
        os.close(answers)
        raise
    finally:
        os.close(requests)
        os.close(theirs)
    return Server(pid, ours, answers)


def stop(server: Server, number: int = signal.SIGTERM) -> int:
    """End a server that may have ended already; returns its exit code as shells count them."""
    code = waited(server, 0)
    for signal_, patience in ((number, GRACE), (signal.SIGKILL, None)):
        if code is None:
            os.kill(server.pid, signal_)
            code = waited(server, patience)
    return 128 + signal.SIGKILL if code is None else code


def waited(server: Server, patience: float | None) -> int | None:
    """The exit code of a server that ends within `patience` seconds (None: however long)."""
    end = None if patience is None else monotonic() + patience
    while True:
        try:
            pid, status = os.waitpid(server.pid, 0 if end is None else os.WNOHANG)
        except ChildProcessError:
            return 0
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        if end is not None and monotonic() >= end:
            return None
        select.select([], [], [], 0.01)
