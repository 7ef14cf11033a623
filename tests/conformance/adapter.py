"""The official suite's rows, asked of the product as a user would: a policy file and a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tool_intent import Guard, PolicyError

TOOL = "t"
FIELD = "x"


def load(schema: dict[str, Any] | bool, folder: Path) -> Guard:
    """A guard whose one tool requires one field with this schema.

    The policy file is written into `folder`, which must outlive the guard. A schema without a
    type takes any scalar; the suite's `$schema` goes, since a policy knows one dialect.
    """
    definition: dict[str, Any] = {"type": ["string", "number", "boolean"]}
    if isinstance(schema, bool):
        definition["allOf"] = [schema]
    else:
        definition |= {key: value for key, value in schema.items() if key != "$schema"}
    policy = {
        "version": 1,
        "fields": {FIELD: definition},
        "tools": {TOOL: {"require": [FIELD]}},
    }
    file = folder / "policy.yaml"
    file.write_text(json.dumps(policy, indent=1, ensure_ascii=False), encoding="utf-8")
    return Guard.load(str(file), cwd=str(folder))


def findings(guard: Guard, value: object) -> list[str]:
    """The ids of what the product finds wrong with the field's value, in order."""
    return [finding.rule for finding in guard.check(TOOL, {FIELD: value}).findings]


def verdict(guard: Guard, value: object) -> bool:
    """Whether the product lets a call through that carries this value."""
    return guard.check(TOOL, {FIELD: value}).allowed


def refusal(schema: dict[str, Any] | bool, folder: Path) -> str:
    """Why the product refuses a policy with this schema; the empty text if it does not."""
    try:
        load(schema, folder)
    except PolicyError as error:
        return "\n".join(diagnostic.message for diagnostic in error.diagnostics)
    return ""
