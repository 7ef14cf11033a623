"""Settings that every test shares."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

from tool_intent.policy import homes

ROOT = Path(__file__).parents[1]

hypothesis.settings.register_profile("dev", max_examples=100, deadline=None)
# Every run on CI tries the same examples, so that a change is judged by what it changed; `dev` runs
# try new ones each time.
hypothesis.settings.register_profile(
    "ci", max_examples=1_000, deadline=None, print_blob=True, derandomize=True, database=None
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(autouse=True)
def _no_policy_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    """Nothing outside a test decides in it: no user policy, a cache of the test run's own. Commands
    that are run as processes are kept from them in `functional/command.py`."""
    home = tmp_path_factory.getbasetemp() / "home"
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(homes, "account_home", lambda: str(home))
    for name in [n for n in os.environ if n.startswith(("TOOL_INTENT_", "XDG_"))]:
        monkeypatch.delenv(name)
