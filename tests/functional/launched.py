"""Run a script as a user whose account has another home folder: `python launched.py HOME SCRIPT
ARGUMENT…`.

Policies of user rank are found in the home folder of the account, whatever the environment says.
So this is how a test has policies of its own there, and keeps out those of who runs the tests.
"""

from __future__ import annotations

import os
import pwd
import sys


def launch(account: str | None, script: str, arguments: list[str]) -> None:
    """Run a script as if an interpreter had been started for it, `account` being the home folder
    of the user's account unless it is None."""
    if account is not None:
        known = pwd.getpwuid(os.getuid())
        pwd.getpwuid = lambda _: pwd.struct_passwd((*known[:5], account, known[6]))
    sys.argv = [script, *arguments]
    with open(script, encoding="utf-8") as text:
        code = compile(text.read(), script, "exec")
    exec(code, {"__name__": "__main__"})


if __name__ == "__main__":
    launch(sys.argv[1], sys.argv[2], sys.argv[3:])
