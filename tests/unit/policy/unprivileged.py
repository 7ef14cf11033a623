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

from tool_intent.compiler.loading import compiled
from tool_intent.policy import signing, sources, vouching
from tool_intent.policy.keys import pinned_keys
from tool_intent.policy.load import load
from tool_intent.policy.standing import standing
from tool_intent.policy.trust import why_writable
from tool_intent.runtime.model import Call
from tool_intent.runtime.paths import Place

#: What is imported where it is used has to be here before this user loses sight of it.
LOADED = (base64, datetime, ed25519, grp, hashlib, pwd, signing)


def _standing(path: str, rank: Any, machine: str, now: float, data: str, repository: Any) -> Any:
    return standing(path, rank, data.encode(), pinned_keys(machine), now, repository=repository)


def _relative(folder: str, path: str) -> Any:
    os.chdir(folder)
    return why_writable(path)


def _waived(machine: str, repository: str, now: float) -> Any:
    """What a write comes to by the policies found there, and what is told of waivers."""
    keys = pinned_keys(machine)

    def doubts(path: str, data: bytes) -> str | None:
        found = standing(path, "org", data, keys, now)
        return None if found.admitted else found.reason

    found = sources.discover(repository, {"HOME": "/nonexistent"}, machine=machine)
    roots = [sources.Root(c.path, c.rank, c.shown) for c in found if c.state == "loaded"]
    signers = vouching.signers_here(now, machine)
    policy = load(roots, doubts=doubts, signers=signers, now=now)
    artifact = compiled(policy, Place(repository, repository, "/nonexistent", False))
    decision = artifact.decide(Call(1, "write", {"path": "a"}, now=now))
    said = [(f.origin.rank, f.effect, f.waived) for f in decision.findings if f.origin]
    return said, [d.message for d in policy.waiver_findings]


QUESTIONS: dict[str, Callable[..., Any]] = {
    "why_writable": why_writable,
    "from": _relative,
    "pinned_keys": lambda machine: [(k.name, k.reason) for k in pinned_keys(machine)],
    "standing": _standing,
    "waived": _waived,
    "marks": vouching.marks,
}


def main() -> None:
    request = json.load(sys.stdin)
    for name, *arguments in request["calls"]:
        if name == "waived":  # compiling a policy imports what it comes upon
            QUESTIONS[name](*arguments)
    if request["uids"] is not None:
        os.setgroups(request["groups"])
        os.setresgid(*[request["gid"]] * 3)
        os.setresuid(*request["uids"])
    answers = [QUESTIONS[name](*arguments) for name, *arguments in request["calls"]]
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
