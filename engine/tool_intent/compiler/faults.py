"""What every call is told while a policy cannot be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tool_intent.compiler.ir import Report
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.model import Effect, Finding, Origin

_MISSING: Final = "policy/missing"
_MEND: Final = {
    "policy/broken": "A person must mend it; `tool-intent check` shows every error.",
    _MISSING: "A person must do the one or the other.",
}


def faults(broken: Iterable[Diagnostic], effects: Mapping[str, Effect] = {}) -> Iterable[Report]:
    """One report a file that cannot be used, with its first error, or that is missing. `effects`
    gives what a file leads to where that is not `deny`."""
    first: dict[str, list[Diagnostic]] = {}
    for diagnostic in broken:
        first.setdefault(diagnostic.file, []).append(diagnostic)
    for file, errors in first.items():
        error = errors[0]
        rule = _MISSING if error.code == _MISSING else "policy/broken"
        more = f" (and {len(errors) - 1} more errors)" if len(errors) > 1 else ""
        cause = f"line {error.line}: {error.message}{more}"
        yield Report(
            rule,
            "deny" if rule == _MISSING else effects.get(file, "deny"),
            "",
            error.message if rule == _MISSING else f"the policy {file} cannot be used: {cause}",
            _MEND[rule],
            Origin(file, error.line, error.column, "session"),
            None,
        )


def fault_findings(broken: Iterable[Diagnostic]) -> tuple[Finding, ...]:
    """The same as findings about a whole call."""
    return tuple(
        Finding(r.rule, "deny", "", r.message, r.fix, r.origin, r.who) for r in faults(broken)
    )


def broken(message: str) -> Finding:
    """The finding `policy/broken` that is about no line of a file."""
    return Finding("policy/broken", "deny", "", message, "A person must mend it.")


def missing(message: str) -> Finding:
    """The finding `policy/missing` of what went while it was in use."""
    fix = "A person must put it back, or start a new session."
    return Finding(_MISSING, "deny", "", message, fix)
