"""Run a script as a user whose account has another home folder: `python launched.py HOME SCRIPT
ARGUMENT…`.

Policies of user rank are found in the home folder of the account, whatever the environment says.
So this is how a test has policies of its own there, and keeps out those of who runs the tests.
"""

from __future__ import annotations

import os
import pwd
import sys

home, script = sys.argv[1:3]
known = pwd.getpwuid(os.getuid())
pwd.getpwuid = lambda _: pwd.struct_passwd((*known[:5], home, known[6]))
sys.argv = sys.argv[2:]
with open(script, encoding="utf-8") as text:
    exec(compile(text.read(), script, "exec"), {"__name__": "__main__"})
