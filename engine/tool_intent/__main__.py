"""`python -m tool_intent`: the command, where its script is not on the path."""

from tool_intent.cli import main

main()
