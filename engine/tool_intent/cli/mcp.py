"""`mcp`: in front of a server on standard input and output, over HTTP, or as a server itself.

On the call path: imports neither typer nor rich, and nothing of authoring time.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tool_intent.guard.guard import Guard

_VALUES = (
    "--policy", "--server", "--ask", "--listen", "--upstream", "--allow-host", "--workspace",
)  # fmt: skip


class Usage(ValueError):
    """The options do not go together; `str` says what to write."""


class Options(NamedTuple):
    """The command's options. `policy` adds to the policies that are found."""

    policy: tuple[str, ...] = ()
    server: str | None = None
    ask: str = "deny"
    listen: str | None = None
    upstream: str | None = None
    builtin: bool = False
    workspace: str | None = None
    allow_host: tuple[str, ...] = ()
    command: tuple[str, ...] = ()


def options(arguments: Sequence[str]) -> Options | None:
    """The options, where they are plainly spelt; None leaves help, errors and the commands below
    `mcp` to typer."""
    given: dict[str, Any] = {"policy": (), "allow_host": ()}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            given["command"] = tuple(rest)
            break
        name, _, value = word.partition("=")
        if name == "--builtin" and not value:
            given["builtin"] = True
            continue
        if name not in _VALUES:
            return None
        if not value:
            if not rest or rest[0].startswith("-"):
                return None
            value = rest.pop(0)
        key = name[2:].replace("-", "_")
        given[key] = (*given[key], value) if key in ("policy", "allow_host") else value
    return Options(**given) if arguments else None


def mcp(given: Options) -> int:
    """Serve until the client or the server ends; 2 where the options or policies are unusable."""
    try:
        _expect_one_kind(given)
        if given.builtin:
            return _builtin(_absolute(given))
        if given.listen is not None:
            return _http(given)
        return _stdio(given)
    except Usage as error:
        note(str(error))
        return 2


def note(text: str) -> None:
    """Say something to the person on standard error; where that is gone, nobody is told."""
    with contextlib.suppress(OSError):
        print(f"tool-intent: {text}", file=sys.stderr, flush=True)


def _expect_one_kind(given: Options) -> None:
    kinds = [bool(given.command), given.listen is not None or given.upstream is not None,
             given.builtin]  # fmt: skip
    if sum(kinds) != 1:
        raise Usage(
            "mcp takes one of: -- COMMAND…, --listen HOST:PORT --upstream URL, or --builtin"
            " --workspace DIR"
        )
    if (given.listen is None) != (given.upstream is None):
        raise Usage("--listen HOST:PORT and --upstream URL go together")
    if given.ask not in ("deny", "elicit"):
        raise Usage(f"--ask takes deny or elicit, not {given.ask!r}")
    if given.workspace is not None and not given.builtin:
        raise Usage("--workspace goes with --builtin")


def label(given: str | None, words: Sequence[str]) -> str:
    """The server's name: the one given, or the one that its command tells. Raises Usage."""
    from tool_intent.surfaces.mcp.naming import BadLabel, checked_label, guessed_label

    try:
        if given is not None:
            return checked_label(given)
    except BadLabel as error:
        raise Usage(str(error)) from None
    guessed = guessed_label(words)
    if guessed is None:
        raise Usage("what is the server called? Policies name its tools mcp__NAME__TOOL: --server")
    note(f"policies know this server as {guessed} (mcp__{guessed}__TOOL); --server names it")
    return guessed


def _guard(given: Options, server: str | None, *, begins: bool = True) -> Guard:
    """A session's guard; `server` is the name of the server whose tools are called. Of one that
    does not begin here it is not known what was called before. Raises Usage where there is no
    policy, or none that can be used."""
    from tool_intent.compiler.loading import PolicyError, load
    from tool_intent.guard.guard import Guard
    from tool_intent.guard.recalling import of_no_name
    from tool_intent.guard.recording import ledger

    try:
        artifact = load(given.policy, remember=True, point="mcp")
        recorder = ledger("mcp", os.getcwd(), server=server)
        held = None if begins else of_no_name()
        return Guard(artifact, recorder=recorder, notice=note, held=held)
    except PolicyError as error:
        from tool_intent.cli.decide import explained

        raise Usage(explained(error).removeprefix("tool-intent: ")) from None


def _stdio(given: Options) -> int:
    return _serve(given, given.command)


def _serve(given: Options, command: Sequence[str], *, builtin: bool = False) -> int:
    """Stand in front of the server that a command starts. It starts while we do: nothing reaches it
    before we can judge."""
    from tool_intent.surfaces.mcp.process import start, stop

    try:
        server = start(command, os.environ)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise Usage(f"the server {command[0]!r} cannot be started: {reason}") from None
    try:
        from tool_intent.surfaces.mcp.filter import Filter
        from tool_intent.surfaces.mcp.session import Session
        from tool_intent.surfaces.mcp.stdio import Proxy

        name = None if builtin else label(given.server, command)
        guard = _guard(given, name)
        for said in guard.notes:
            note(said)
        session = Session(guard, name, elicit=given.ask == "elicit", note=note)
        proxy = Proxy(Filter(session, settles_later=True), server, note)
    except BaseException:
        stop(server)
        raise
    return proxy.run()


def _http(given: Options) -> int:
    address, upstream = _address(given.listen or ""), given.upstream or ""
    from urllib.parse import urlsplit

    url = urlsplit(upstream)
    if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment:
        raise Usage(f"--upstream takes a URL such as https://example.com/mcp, not {upstream!r}")
    try:
        from tool_intent.surfaces.mcp.http import HttpProxy, serve
    except ModuleNotFoundError as error:
        raise Usage(_extra(error)) from None
    from tool_intent.surfaces.mcp.session import Session

    name = label(
        given.server, [url.hostname.removeprefix("www.").removeprefix("mcp.").split(".")[0]]
    )
    for said in _guard(given, name).notes:
        note(said)
    elicit = given.ask == "elicit"
    allowed = frozenset({address[0].lower(), *(name.lower() for name in given.allow_host)})

    def session(begins: bool) -> Session:
        return Session(_guard(given, name, begins=begins), name, elicit=elicit, note=note)

    proxy = HttpProxy(session, upstream, allowed)
    note(f"listening on http://{address[0]}:{address[1]}{url.path or '/'}, for {upstream}")
    serve(proxy, *address)
    return 0


def _address(text: str) -> tuple[str, int]:
    """Host and port; a port alone is loopback's."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdecimal() or int(port) > 65_535:
        raise Usage(f"--listen takes HOST:PORT such as 127.0.0.1:8080, not {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def _extra(error: ModuleNotFoundError) -> str:
    return f"this needs {error.name}: pip install 'tool-intent[mcp]'"


def _absolute(given: Options) -> Options:
    """Policies that are files keep their meaning when the folder is changed."""
    kept = [os.path.abspath(p) if os.path.exists(p) else p for p in given.policy]
    return given._replace(policy=tuple(kept))


def _builtin(given: Options) -> int:
    folder = os.path.realpath(given.workspace or "")
    if given.workspace is None or not os.path.isdir(folder):
        raise Usage("--builtin needs --workspace DIR, an existing folder for its tools")
    from importlib.util import find_spec

    for needed in ("mcp", "anyio"):
        if find_spec(needed) is None:
            raise Usage(_extra(ModuleNotFoundError(name=needed)))
    # Policies are found, and relative paths start, where the tools work.
    os.chdir(folder)
    module = "tool_intent.surfaces.mcp.builtin"
    return _serve(given, (sys.executable, "-P", "-m", module, folder), builtin=True)
