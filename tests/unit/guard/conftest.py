from __future__ import annotations

from pathlib import Path

import pytest

from tool_intent import Guard

POLICY = """\
version: 1
fields:
  rationale: {minLength: 4, pattern: '^[a-z ]+$'}
tools:
  write: {require: [intent, rationale]}
  edit: {at: "edits[]", require: [intent, rationale]}
  ask: {require: [intent], effect: ask}
  add: {require: [intent]}
  later: {require: [intent]}
unlisted: deny
"""


@pytest.fixture
def policy(tmp_path: Path) -> str:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    return str(file)


@pytest.fixture
def guard(policy: str, tmp_path: Path) -> Guard:
    return Guard.load(policy, cwd=str(tmp_path))
