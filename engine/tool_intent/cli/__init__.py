"""The `tool-intent` command.

`decide` and `mcp` stand on the way of every call: started plainly, they import nothing but what
judging needs. Everything else, its own `--help` and usage errors included, is typer's.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the console script."""
    try:
        _main(sys.argv[1:])
    except Exception:
        import traceback

        traceback.print_exc()
        print("tool-intent: an internal error; nothing was executed after it", file=sys.stderr)
        sys.exit(2)


def _main(arguments: list[str]) -> None:
    if arguments[:1] == ["decide"]:
        from tool_intent.cli.decide import decide, options

        plain = options(arguments[1:])
        if plain is not None:
            sys.exit(decide(plain))
    if arguments[:1] == ["mcp"]:
        from tool_intent.cli.mcp import mcp
        from tool_intent.cli.mcp import options as mcp_options

        given = mcp_options(arguments[1:])
        if given is not None:
            sys.exit(mcp(given))
    for stream in (sys.stdout, sys.stderr):
        # A terminal of few characters must not stop a report half-way, after a tool has run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    from tool_intent.cli.app import command_line

    command_line(arguments)(prog_name="tool-intent")
