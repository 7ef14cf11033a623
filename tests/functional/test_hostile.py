"""Ways to weaken, hide, confuse or outlive an organisation's policy from inside a repository or its
environment: its decision stands, and what was tried is told."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from .command import ASSETS, DEADLINE
from .managed import WHY_NOT, Managed

HERE: Final = Path(__file__).parent
STRENGTH: Final = ["allow", "ask", "deny"]
#: By name: what is tried, the calls, and what must come of the last of them.
CASES: Final[dict[str, Any]] = yaml.safe_load((HERE / "hostile.yaml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was decided and told in each case, all of them in one process of the agent's user."""
    top = tmp_path_factory.mktemp("hostile")
    (top / "home").mkdir()
    worlds = top / "worlds"
    worlds.mkdir()
    machine = Managed(top / "home", worlds)
    shutil.copy(ASSETS / "hostile" / "org.yaml", machine.machine)
    done = subprocess.run(
        [*machine.launcher(), sys.executable, HERE / "hostile_world.py", worlds],
        input=json.dumps(CASES),
        env=machine.environment({}),
        cwd="/",
        capture_output=True,
        text=True,
        timeout=3 * DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_there_are_enough_ways() -> None:
    assert len(CASES) >= 45


@pytest.mark.parametrize("name", CASES)
def test_the_organisation_s_decision_stands(name: str, judged: dict[str, Any]) -> None:
    case, found = CASES[name], judged[name]
    last = found["decisions"][-1]
    assert STRENGTH.index(last["decision"]) >= STRENGTH.index(case.get("decision", "deny")), found
    for rule in case.get("finds", ()):
        assert rule in last["rules"], found
    for text in case.get("told", ()):
        assert any(text in told for told in found["told"]), (text, found["told"])
    for secret in case.get("hidden", ()):
        assert not any(secret in told for told in found["told"]), found["told"]
    if "args" in case:
        assert last["args"] == case["args"]
