"""`mcp`: in front of a server on standard input and output, over HTTP, or as a server itself.

On the call path: imports neither typer nor rich, and nothing of authoring time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tool_intent.compiler.artifact import Artifact

_FLAGS = {"--builtin": "builtin", "--any-host": "any_host"}
_VALUES = ("--policy", "--server", "--ask", "--listen", "--upstream", "--workspace")


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
    any_host: bool = False
    command: tuple[str, ...] = ()


def options(arguments: Sequence[str]) -> Options | None:
    """The options, where they are plainly spelt; None leaves help, errors and the commands below
    `mcp` to typer."""
    given = Options()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return given._replace(command=tuple(rest))
        name, _, value = word.partition("=")
        if name in _FLAGS and not value:
            given = given._replace(**{_FLAGS[name]: True})
            continue
        if name not in _VALUES:
            return None
        if not value:
            if not rest or rest[0].startswith("-"):
                return None
            value = rest.pop(0)
        if name == "--policy":
            given = given._replace(policy=(*given.policy, value))
        else:
            given = given._replace(**{name[2:]: value})
    return given if given != Options() else None


def mcp(given: Options) -> int:
    """Serve until the client or the server ends; 2 where the options or policies are unusable."""
    try:
        _expect_one_kind(given)
        if given.builtin:
            return _builtin(given)
        if given.listen is not None:
            return _http(given)
        return _stdio(given)
    except Usage as error:
        note(str(error))
        return 2


def note(text: str) -> None:
    """Say something to the person on standard error; where that is gone, nobody is told."""
    try:
        print(f"tool-intent: {text}", file=sys.stderr, flush=True)
    except OSError:
        pass


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


def _label(given: Options, words: Sequence[str]) -> str:
    from tool_intent.surfaces.mcp.naming import BadLabel, checked_label, guessed_label

    try:
        if given.server is not None:
            return checked_label(given.server)
    except BadLabel as error:
        raise Usage(str(error)) from None
    label = guessed_label(words)
    if label is None:
        raise Usage("what is the server called? Policies name its tools mcp__NAME__TOOL: --server")
    note(f"policies know this server as {label} (mcp__{label}__TOOL); --server names it otherwise")
    return label


def _artifact(given: Options) -> Artifact:
    from tool_intent.compiler.loading import PolicyError, load

    try:
        artifact = load(given.policy)
    except PolicyError as error:
        from tool_intent.cli.decide import explained

        raise Usage(explained(error).removeprefix("tool-intent: ")) from None
    for said in artifact.notes:
        note(said)
    return artifact


def _stdio(given: Options) -> int:
    from tool_intent.surfaces.mcp.process import start, stop

    try:
        server = start(given.command, os.environ)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise Usage(f"the server {given.command[0]!r} cannot be started: {reason}") from None
    try:
        from tool_intent.guard.guard import Guard
        from tool_intent.surfaces.mcp.filter import Filter
        from tool_intent.surfaces.mcp.stdio import Proxy

        label = _label(given, given.command)
        guard = Guard(_artifact(given))
        proxy = Proxy(Filter(guard, label, elicit=given.ask == "elicit", note=note), server, note)
    except BaseException:
        stop(server)
        raise
    return proxy.run()


def _http(given: Options) -> int:
    raise Usage("not yet")


def _builtin(given: Options) -> int:
    raise Usage("not yet")
