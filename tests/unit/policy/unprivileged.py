"""Asks this room's questions as a user without rights: a request in JSON on standard input, the
answers in JSON on standard output.

A request holds `calls`, each the name of a question and its arguments, and who asks: `uids` (real,
effective, saved), `gid` and `groups`; null for whoever starts this.
"""

from __future__ import annotations

import base64
import datetime
import grp
import hashlib
import json
import os
import pwd
import sys
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ed25519

from tool_intent.policy import signing
from tool_intent.policy.keys import pinned_keys
from tool_intent.policy.standing import standing
from tool_intent.policy.trust import why_writable

#: What is imported where it is used has to be here before this user loses sight of it.
LOADED = (base64, datetime, ed25519, grp, hashlib, pwd, signing)


def _standing(path: str, rank: Any, machine: str, now: float, data: str, repository: Any) -> Any:
    return standing(path, rank, data.encode(), pinned_keys(machine), now, repository=repository)


def _relative(folder: str, path: str) -> Any:
    os.chdir(folder)
    return why_writable(path)


QUESTIONS: dict[str, Callable[..., Any]] = {
    "why_writable": why_writable,
    "from": _relative,
    "pinned_keys": lambda machine: [(k.name, k.reason) for k in pinned_keys(machine)],
    "standing": _standing,
}


def main() -> None:
    request = json.load(sys.stdin)
    if request["uids"] is not None:
        os.setgroups(request["groups"])
        os.setresgid(*[request["gid"]] * 3)
        os.setresuid(*request["uids"])
    answers = [QUESTIONS[name](*arguments) for name, *arguments in request["calls"]]
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
