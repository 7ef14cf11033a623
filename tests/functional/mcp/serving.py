"""Processes that the official client talks to, on stdio or over HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp.client.stdio import StdioServerParameters, stdio_client

from .raw import COMMAND, DEADLINE


def environment(place: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(place.parent / "home"), "LC_ALL": "C.UTF-8"}


@asynccontextmanager
async def stdio(command: Sequence[str], place: Path) -> AsyncIterator[Any]:
    """The client's end of a server that is started; what that says on standard error is lost."""
    first, *rest = command
    parameters = StdioServerParameters(
        command=first, args=rest, env=environment(place), cwd=str(place)
    )
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        async with stdio_client(parameters, errlog=nowhere) as streams:
            yield streams


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], port: int, place: Path, **env: str) -> Iterator[None]:
    """A process that listens on a port."""
    process = subprocess.Popen(
        command, cwd=place, env=environment(place) | env,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + DEADLINE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < end, f"nothing listens on {port}"
                assert process.poll() is None, f"{command[0]} ended"
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(DEADLINE)


@contextmanager
def http_proxy(upstream: str, name: str, place: Path, *options: str) -> Iterator[str]:
    """The HTTP proxy in front of a server; gives its address."""
    port = free_port()
    command = [
        COMMAND, "mcp", *options, "--server", name, "--listen", f"127.0.0.1:{port}",
        "--upstream", upstream,
    ]  # fmt: skip
    with running(command, port, place):
        yield f"http://127.0.0.1:{port}/mcp"
