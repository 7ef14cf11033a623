"""History through the guard: what came of a call counts when it is known, not before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tool_intent import Denied, Guard

RULES = """\
version: 1
rules: |
  rule history/read-before-edit on edit
    require earlier @read passed where path == this.path within 200 calls
    else deny "Read {path} before editing it."
  rule deploy/mode on deploy
    require args.mode == "dry" else deny "Only dry runs."
  rule any/command on * except deploy
    when has command and command runs "rm" deny "No rm."
"""


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    file = tmp_path / "policy.yaml"
    file.write_text(RULES)
    return Guard.load(str(file), cwd=str(tmp_path))


def test_a_read_that_is_still_running_does_not_help_an_edit_nor_one_that_failed(
    guard: Guard,
) -> None:
    async def session() -> list[bool]:
        gate = asyncio.Event()
        allowed: list[bool] = []

        async def read(_: dict[str, Any]) -> None:
            await gate.wait()
            raise OSError("no such file")

        async def edit(_: dict[str, Any]) -> None:
            return None

        async def tried() -> None:
            try:
                await guard.acall("edit", {"path": "a.py"}, edit)
                allowed.append(True)
            except Denied:
                allowed.append(False)

        reading = asyncio.create_task(guard.acall("read", {"path": "a.py"}, read))
        await asyncio.sleep(0)
        await tried()
        gate.set()
        with pytest.raises(OSError, match="no such file"):
            await reading
        await tried()
        return allowed

    assert asyncio.run(session()) == [False, False]


def test_a_read_that_came_back_helps_an_edit(guard: Guard) -> None:
    guard.call("read", {"path": "a.py"}, lambda _: "text")
    assert guard.call("edit", {"path": "./a.py"}, lambda _: "done") == "done"


def test_a_checked_call_counts_as_passed_when_the_next_one_is_checked(guard: Guard) -> None:
    assert guard.check("read", {"path": "a.py"}, session="s").allowed
    assert not guard.check("edit", {"path": "a.py"}, session="other").allowed
    assert guard.check("edit", {"path": "a.py"}, session="s").allowed


@pytest.mark.parametrize(
    ("mode", "allowed"),
    [("dry", True), ("live", False), (["dry", "live"], False), (["dry"], False)],
)
def test_a_list_where_one_value_is_expected_is_unknown(
    guard: Guard, mode: Any, allowed: bool
) -> None:
    assert guard.check("deploy", {"mode": mode}).allowed is allowed


def test_a_tool_whose_roles_are_known_has_no_other(guard: Guard) -> None:
    assert guard.check("read", {"path": "a.py"}).findings == ()


def test_programs_that_several_processes_put_into_one_cache_look_for_the_same_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_INTENT_CACHE", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    policy = work / "policy.yaml"
    policy.write_text(
        "version: 1\nrules: |\n"
        "  rule a/read-first on edit\n"
        "    require earlier @read passed where path == this.path within 200 calls\n"
        '    else deny "Read it first."\n'
        "  rule b/once on @exec\n"
        "    forbid count(earlier @exec tried within 200 calls) >= 1\n"
        '    else deny "Once."\n'
    )
    edit = {"path": "a.py", "edits": []}

    def said(tools: list[tuple[str, dict[str, Any]]]) -> list[list[str]]:
        guard = Guard.load(str(policy), cwd=str(work))
        return [[f.rule for f in guard.check(t, a, session="s").findings] for t, a in tools]

    # The first process has asked about one tool only, and not about that of the first rule.
    assert said([("bash", {"command": "ls"})] * 2) == [[], ["b/once"]]
    assert said([("edit", edit), ("read", {"path": "a.py"}), ("edit", edit)]) == [
        ["a/read-first"], [], [],
    ]  # fmt: skip
