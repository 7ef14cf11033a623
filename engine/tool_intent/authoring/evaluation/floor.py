"""The least work to compare a policy's time with: ten rules over a call of `write` by hand.

The rules are those of the benchmark W3: lengths, repetition, five stock phrases, a protected path
and a secret in 2 KB of content, a precompiled search each.
"""

from __future__ import annotations

import re
from typing import Any, Final

_RESTATES: Final = re.compile(
    r"^\W*(writ(e|es|ing)|creat(e|es|ing)|sav(e|es|ing))( (to|a|an|the|this|new|some))*"
    r"( (file|files|content|contents|it))?\W*$",
    re.IGNORECASE,
).search
_SAY_NOTHING: Final = tuple(
    re.compile(pattern, re.IGNORECASE).search
    for pattern in (
        r"\bas requested( by the user)?\b",
        r"\bto (complete|accomplish|finish) the task\b",
        r"\b(this|it) is (necessary|needed|required)\b",
        r"\bbest practices?\b",
        r"\b(improve|enhance) (the )?(code|quality|readability)\b",
    )
)
_PROTECTS: Final = re.compile(r"(infra|\.github/workflows|secrets)/.").match
_APPROVED: Final = re.compile(r"\bapproved\b", re.IGNORECASE).search
_SECRET: Final = re.compile(
    r"AKIA[0-9A-Z]{16}|ghp_[A-Za-z0-9]{36}|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|sk-[A-Za-z0-9]{32,}|xox[baprs]-[A-Za-z0-9-]{10,}"
).search

_LINE: Final = "    totals_{n} = compute_ledger({n}, key='abcdefgh')  # rebuild the nightly index\n"
#: A call that breaks none of the rules.
CALL: Final = {
    "path": "src/rebuild/hash_chain_17.py",
    "content": "".join(_LINE.format(n=n) for n in range(30))[:2048],
    "intent": "Guard the hash chain in the ledger writer",
    "rationale": "Issue 1204 shows that two writers tear the hash chain after a crash.",
}


def faults(args: dict[str, Any]) -> list[str] | None:
    """What ten rules written by hand find about a call of `write`; None for nothing."""
    found: list[str] = []
    intent, rationale = args.get("intent"), args.get("rationale")
    if intent.__class__ is not str or rationale.__class__ is not str:
        found.append("a field is no text")
        return found
    assert isinstance(intent, str)
    assert isinstance(rationale, str)
    if len(intent.split()) < 3:
        found.append("intent must have at least 3 words")
    if _RESTATES(intent):
        found.append("intent only restates the tool name")
    if intent == rationale:
        found.append("rationale repeats intent")
    found += [f"boilerplate {n}" for n, search in enumerate(_SAY_NOTHING) if search(rationale)]
    if _PROTECTS(args["path"]) and not _APPROVED(rationale):
        found.append("protected path")
    if _SECRET(args["content"]):
        found.append("content holds a secret")
    return found or None
