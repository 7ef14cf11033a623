"""Runs scripts in forks of an interpreter that has loaded what they import of others:
`python forks.py DESCRIPTOR`, a socket.

A request is JSON, `{"account", "script", "arguments", "cwd", "environ"}` (see `launched.py`
for the first three), with three descriptors that become
the standard streams; the answers are the process's id, and once it has ended, its exit code (minus
the number of the signal that ended it). Nothing of the package itself is loaded before a fork: each
run finds, sets up and loads it as a new interpreter would. Ends when the socket is closed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
from typing import Any

from launched import launch

#: What commands import of other packages, and of the standard library. Not `typer.rich_utils`: it
#: reads the environment when it is loaded.
LIBRARIES = (
    "jinja2", "jsonschema", "lark", "pydantic.types", "re2", "rich.console", "rich.table",
    "rich.tree", "shellingham", "sqlite3", "subprocess", "tempfile", "tree_sitter",
    "tree_sitter_bash", "typer.main", "yaml",
)  # fmt: skip


def main(control: socket.socket) -> None:
    """Serve until the other end is closed; returns in a fork that has run its script."""
    while True:
        request, streams, _, _ = socket.recv_fds(control, 1 << 20, 3)
        if not request:
            return
        child = os.fork()
        if not child:
            control.close()
            _run(json.loads(request), streams)
            return
        for stream in streams:
            os.close(stream)
        control.send(f"{child}".encode())
        _, status = os.waitpid(child, 0)
        control.send(f"{os.waitstatus_to_exitcode(status)}".encode())


def _run(request: dict[str, Any], streams: list[int]) -> None:
    """Do what `execve` and a new interpreter would have done."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.path[0] = os.path.dirname(request["script"])
    launch(request["account"], request["script"], request["arguments"])


if __name__ == "__main__":
    for library in LIBRARIES:
        with contextlib.suppress(ModuleNotFoundError):  # an extra that is not installed
            importlib.import_module(library)
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as given:
        main(given)
