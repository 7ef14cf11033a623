"""Reports that are about a demand or a place rather than about a field's value."""

from __future__ import annotations

from collections.abc import Sequence

from tool_intent.compiler.ir import Report
from tool_intent.policy.model import Absent, Requirement
from tool_intent.runtime.model import STRENGTH


def missing(demanded: Absent) -> Report:
    """The report of a policy that a stronger one demands."""
    return Report(
        "policy/missing",
        "deny",
        "",
        f"{demanded.origin} requires policies here to extend `{demanded.name}`, and none does",
        f"A person must add it: extends: [{demanded.name}]",
        demanded.origin,
        None,
    )


def entry_reports(
    at: tuple[str, ...], requirements: Sequence[Requirement]
) -> tuple[Report | None, Report | None]:
    demanding = [r for r in requirements if any(u.required for u in r.uses)]
    if not at or not demanding:
        return None, None
    by = max(demanding, key=lambda r: STRENGTH[r.effect])
    # In an order that no order of files changes.
    names = sorted({u.name for r in demanding for u in r.uses if u.required})
    shown = "".join(step if step == "[]" else f".{step}" for step in at).lstrip(".")
    listed = " and ".join(f"`{n}`" for n in names)
    each = "in each" if at[-1] == "[]" else "in it"
    no_entry = Report(
        "entries/missing", by.effect, "", f"there is nothing here that could carry {listed}",
        f"Send `{shown}` with {listed} {each}.", by.origin, None,
    )  # fmt: skip
    no_object = Report(
        "entries/type", by.effect, "", "this must be an object",
        f"Send it as an object that carries {listed}.", by.origin, None,
    )  # fmt: skip
    return no_entry, no_object
