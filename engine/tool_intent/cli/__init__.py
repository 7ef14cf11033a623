"""The `tool-intent` command.

`decide` stands on the way of every call: started plainly, it imports nothing but what judging
needs. Everything else, its own `--help` and usage errors included, is typer's.
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
    for stream in (sys.stdout, sys.stderr):
        # A terminal of few characters must not stop a report half-way, after a tool has run.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    from tool_intent.cli.app import app

    app(prog_name="tool-intent")
