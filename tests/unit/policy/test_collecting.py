"""No garbage is collected while a policy is read, and all is as before once it is."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tool_intent.policy.collecting import no_collections
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root


@no_collections()
def _fail() -> None:
    assert not gc.isenabled()
    raise ValueError("x")


@pytest.mark.parametrize("enabled", [True, False])
def test_collecting_goes_on_as_before(enabled: bool) -> None:
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ValueError, match="x"):
            _fail()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_a_policy_is_read_without_collections(tmp_path: Path) -> None:
    rules = "".join(
        f"  rule a/r{n} on write\n    forbid intent mentions 'x{n}'\n" for n in range(300)
    ).replace("'", '"')
    file = tmp_path / "p.yaml"
    file.write_text(f"version: 1\npolicy: a\nrules: |\n{rules}", encoding="utf-8")
    gc.collect()
    before = [generation["collections"] for generation in gc.get_stats()]
    policy = load([Root(str(file), "repo", "p.yaml")])
    after = [generation["collections"] for generation in gc.get_stats()]
    assert not policy.broken
    # One may have begun before.
    assert sum(after) <= sum(before) + 1
    assert gc.isenabled()
