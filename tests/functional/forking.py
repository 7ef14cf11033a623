"""Running commands by `forks.py`: what each does of its own, less what it costs to start."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

_SERVER: Final = Path(__file__).with_name("forks.py")
#: Settings that no interpreter and no library reads when it is loaded; with others a fork of an
#: interpreter may differ from a new one.
_HARMLESS: Final = ("PATH", "HOME", "LC_ALL", "TOOL_INTENT_", "XDG_")


class Busy(Exception):
    """One script runs at a time."""


def same_as_new(env: Mapping[str, str]) -> bool:
    """Whether a fork does with these settings what a new interpreter does."""
    return all(name.startswith(_HARMLESS) for name in env) and env.get("LC_ALL") == "C.UTF-8"


class Forks:
    """One interpreter to fork, started when it is first needed, which ends with this process."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        self._interpreter: subprocess.Popen[bytes] | None = None
        #: Held while a script runs.
        self.lock = threading.Lock()

    def run(
        self,
        script: Path,
        arguments: Sequence[str | Path],
        *,
        account: Path | None,
        input: bytes,
        cwd: Path,
        env: Mapping[str, str],
        timeout: float,
    ) -> subprocess.CompletedProcess[bytes]:
        """As `subprocess.run` with captured output, for a script of this interpreter's; `account`
        is as `launched.py` takes it. Raises Busy where another thread has one running."""
        if not self.lock.acquire(blocking=False):
            raise Busy
        request = {
            "account": None if account is None else str(account),
            "script": str(script),
            "arguments": list(map(str, arguments)),
            "cwd": str(cwd),
            "environ": dict(env),
        }
        try:
            return self._forked(request, input, timeout)
        finally:
            self.lock.release()

    def _forked(
        self, request: dict[str, Any], input: bytes, timeout: float
    ) -> subprocess.CompletedProcess[bytes]:
        control = self._started()
        (theirs, stdin), (stdout, out), (stderr, err) = os.pipe(), os.pipe(), os.pipe()
        try:
            socket.send_fds(control, [json.dumps(request).encode()], [theirs, out, err])
        finally:
            for one in (theirs, out, err):
                os.close(one)
        child = int(control.recv(64))
        late = threading.Timer(timeout, os.kill, (child, signal.SIGKILL))
        late.start()
        said: dict[int, bytes] = {}
        ends: list[Callable[[], None]] = [
            lambda: _fed(stdin, input),
            lambda: said.update({1: _read(stdout)}),
            lambda: said.update({2: _read(stderr)}),
        ]
        threads = [threading.Thread(target=end) for end in ends]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        code = int(control.recv(64))
        in_time = late.is_alive()
        late.cancel()
        if not in_time:
            raise subprocess.TimeoutExpired(request["arguments"], timeout, said[1], said[2])
        return subprocess.CompletedProcess(request["arguments"], code, said[1], said[2])

    def _started(self) -> socket.socket:
        if self._control is None:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                # Its streams are pipes because those of every fork are: an interpreter looks once.
                self._interpreter = subprocess.Popen(
                    [sys.executable, _SERVER, str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={"PATH": os.environ["PATH"], "HOME": "/nowhere", "LC_ALL": "C.UTF-8"},
                )
        return self._control


def _fed(descriptor: int, data: bytes) -> None:
    try:
        with open(descriptor, "wb", buffering=0) as pipe:
            view = memoryview(data)
            while view:
                view = view[pipe.write(view) :]
    except BrokenPipeError:  # it ended before it had read everything
        pass


def _read(descriptor: int) -> bytes:
    with open(descriptor, "rb") as pipe:
        return pipe.read()


FORKS: Final = Forks()
