"""SARIF 2.1.0: each finding of each decision is a result.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from tool_intent.__about__ import __version__
from tool_intent.ledger.joining import joined
from tool_intent.ledger.members import Members, part, parts, paths, said, target, text, when

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {"deny": "error", "ask": "warning", "warn": "warning", "note": "note"}
#: Characters that make links and placeholders of a message's text (3.11.5, 3.11.6).
_ESCAPED: Final = re.compile(r"[\[\]\\]")


def sarif(records: Iterable[Members]) -> dict[str, Any]:
    """A SARIF log of one run. Waived findings are results too, suppressed by their waiver."""
    rules: dict[str, int] = {}
    results = [
        _result(decision, finding, rules)
        for decision, _ in joined(records)
        for finding in parts(part(decision, "decision"), "rules")
        if text(finding, "id")
    ]
    driver = {"name": "tool-intent", "version": __version__, "rules": [{"id": r} for r in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(decision: Members, finding: Members, rules: dict[str, int]) -> dict[str, Any]:
    rule, effect, at = (text(finding, key) for key in ("id", "effect", "at"))
    tool = text(part(decision, "call"), "tool")
    identity = "\0".join((text(decision, "id"), rule, at)).encode("utf-8", "surrogatepass")
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules.setdefault(rule, len(rules)),
        "level": _LEVELS.get(effect, "none"),
        "message": {"text": _message(effect, rule, tool, at, target(decision))},
        "locations": [_location(path) for path in paths(decision)[:1]],
        "partialFingerprints": {"toolIntentFinding/v1": sha256(identity).hexdigest()},
        "properties": _properties(decision, finding),
    }
    if waiver := text(finding, "waived"):
        result["suppressions"] = [{"kind": "external", "justification": f"waived by {waiver}"}]
    return result


def _message(effect: str, rule: str, tool: str, at: str, about: str) -> str:
    where = f" at {at}" if at else ""
    shown = f": {about}" if about else ""
    plain = f"{effect}: {rule}{where} of a call of {tool}{shown}"
    return _ESCAPED.sub(r"\\\g<0>", plain).replace("{", "{{").replace("}", "}}")


def _location(path: str) -> dict[str, Any]:
    uri = quote(path, errors="replace")
    base = {} if path.startswith("/") else {"uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": {"uri": uri, **base}}}


def _properties(decision: Members, finding: Members) -> dict[str, Any]:
    return {
        "record": text(decision, "id"),
        "time": when(decision),
        "session": text(part(decision, "session"), "id"),
        "verdict": text(part(decision, "decision"), "verdict"),
        "origin": text(finding, "origin"),
        "reasons": [{"at": at, **dict(fields)} for at, fields in said(decision)],
    }
