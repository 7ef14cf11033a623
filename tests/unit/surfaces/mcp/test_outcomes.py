"""When what came of a call is recorded: once its answer is sent, unless somebody relies on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tool_intent.compiler.loading import load
from tool_intent.guard.guard import Guard
from tool_intent.guard.recording import ledger
from tool_intent.ledger.reading import records
from tool_intent.surfaces.mcp.filter import Filter
from tool_intent.surfaces.mcp.session import Session

from .conftest import call, line, request, result

#: The catalog of the official server tells that `write_file` writes the file at `path`.
SERVER = "filesystem"
LOOK, WRITE = "list_directory", "write_file"
POLICY = 'version: 1\ntools: {"mcp__*": {require: [intent]}}\n'


class World:
    """A filter that leaves outcomes for later, with a ledger."""

    def __init__(self, folder: Path, policy: str) -> None:
        (folder / "p.yaml").write_text(policy, encoding="utf-8")
        self.file = folder / "a.txt"
        self._kept = folder / "kept"
        environ = {"TOOL_INTENT_CACHE": "off", "TOOL_INTENT_LEDGER": str(self._kept)}
        artifact = load([str(folder / "p.yaml")], cwd=str(folder), found=False, environ=environ)
        guard = Guard(artifact, recorder=ledger("mcp", str(folder), environ, server=SERVER))
        self.filter = Filter(Session(guard, SERVER), settles_later=True)
        self.filter.from_client(line(request("l", "tools/list")))
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        tools = [{"name": name, "inputSchema": schema} for name in (LOOK, WRITE)]
        self.filter.from_server(line(result("l", {"tools": tools})))
        self.filter.to_client.clear()

    def call(self, id: int, tool: str) -> None:
        self.filter.from_client(line(call(id, tool, path=str(self.file), intent="Go.")))

    def answer(self, id: int) -> None:
        answer = result(id, {"content": [{"type": "text", "text": "Done."}]})
        self.filter.from_server(line(answer))

    def outcomes(self) -> list[int]:
        """The ids of the calls whose outcome is in the ledger, in its order."""
        kept = list(records(str(self._kept)))
        made = {r["id"]: r["call"]["id"] for r in kept if r["type"] == "decision"}
        return [made[r["of"]] for r in kept if r["type"] == "outcome"]


@pytest.fixture
def world(tmp_path: Path) -> Callable[..., World]:
    return lambda policy=POLICY: World(tmp_path, policy)


def test_an_answer_does_not_wait_for_the_record_of_its_call(world: Callable[..., World]) -> None:
    here = world()
    here.call(1, LOOK)
    here.answer(1)
    assert len(here.filter.to_client) == 1
    assert here.outcomes() == []
    here.filter.settle()
    assert here.outcomes() == [1]
    here.filter.settle()
    assert here.outcomes() == [1]


def test_a_call_that_changes_files_is_recorded_before_its_answer_is_sent(
    world: Callable[..., World],
) -> None:
    here = world()
    here.call(1, WRITE)
    here.file.write_text("as the call left it")
    here.answer(1)
    assert here.outcomes() == [1]


@pytest.mark.parametrize("audit", ["audit: {required: true}", "ledger: {durability: full}"])
def test_where_the_record_must_be_on_the_disk_an_answer_waits_for_it(
    world: Callable[..., World], audit: str
) -> None:
    here = world(f"{POLICY}{audit}\n")
    here.call(1, LOOK)
    here.answer(1)
    assert here.outcomes() == [1]


def test_outcomes_are_recorded_in_the_order_of_the_answers(world: Callable[..., World]) -> None:
    here = world()
    for number, tool in ((1, LOOK), (2, LOOK), (3, WRITE), (4, LOOK)):
        here.call(number, tool)
    for number in (2, 1, 3, 4):
        here.answer(number)
    assert here.outcomes() == [2, 1, 3]
    here.filter.settle()
    assert here.outcomes() == [2, 1, 3, 4]
