"""Files over several calls, by the contents that records name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tool_intent.ledger.attribution.hops import Author, Hop, Step, related, steps
from tool_intent.ledger.attribution.replaying import Replay
from tool_intent.ledger.attribution.runs import runs
from tool_intent.ledger.objects import oid_of

BODY = "def first(channel):\n    read(channel)\n    return channel.closed\n"
OTHER = "import channel_of_another_kind\n"


class Calls:
    """Calls and what they changed, `None` where there was no file."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.steps: list[Step] = []

    def call(self, id: str, **files: tuple[str | None, str | None]) -> None:
        hops = [Hop(path, self.put(pre), self.put(post)) for path, (pre, post) in files.items()]
        self.steps.append(Step(id, tuple(hops)))

    def command(self, id: str, **files: tuple[str | None, str | None]) -> None:
        self.call(id, **files)
        hops = (hop._replace(commanded=True) for hop in self.steps[-1].hops)
        self.steps[-1] = Step(id, tuple(hops))

    def put(self, text: str | None) -> str | None:
        if text is None:
            return None
        self.contents[oid_of(text.encode())] = text.encode()
        return oid_of(text.encode())

    def told(self, path: str, text: str, names: tuple[str, ...] = ()) -> list[str]:
        """`lines state call` of each run."""
        replay = Replay(self.contents.get, names)
        data = text.encode()
        replay.run(self.steps, [oid_of(data)])
        return [
            f"{run.start}-{run.end} {run.state} {run.by.call if run.by else '-'}"
            for run in runs(replay.attributed(path, oid_of(data), data))
        ]


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_a_file_that_a_call_renames_keeps_its_authors(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, None), b=(None, BODY))
    assert calls.told("b", BODY) == ["1-3 exact c1"]


def test_a_file_that_a_call_renames_and_changes_keeps_them_but_for_the_change(calls: Calls) -> None:
    text = "x = 1\n" + BODY.replace("closed", "open")
    calls.call("c1", a=(None, "x = 1\n" + BODY))
    calls.call("c2", a=("x = 1\n" + BODY, None), b=(None, text))
    assert calls.told("b", text) == ["1-3 exact c1", "4-4 exact c2"]


def test_a_file_made_beside_one_that_goes_is_no_renamed_one_unless_alike(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, None), b=(None, OTHER + "    read(channel)\n"))
    assert calls.told("b", OTHER + "    read(channel)\n") == ["1-2 exact c2"]


def test_a_copy_that_somebody_makes_is_told_as_the_file_it_is_of(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    assert calls.told("copy", BODY) == ["1-3 exact c1"]


def test_a_command_that_copies_a_file_wrote_none_of_it(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.command("c2", b=(None, BODY))
    assert related(calls.steps, ["b"]) == calls.steps
    calls.call("c3", b=(BODY, BODY + "x = 1\n"))
    assert calls.told("b", BODY + "x = 1\n") == ["1-3 exact c1", "4-4 exact c3"]


def test_a_command_that_brings_back_an_older_version_wrote_none_of_it(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, OTHER))
    calls.command("c3", a=(OTHER, BODY))
    assert calls.told("a", BODY) == ["1-3 exact c1"]


def test_a_call_that_writes_an_older_version_anew_wrote_it(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, OTHER))
    calls.call("c3", a=(OTHER, BODY))
    calls.call("c4", a=(BODY, BODY + "x = 1\n"))
    assert calls.told("a", BODY) == ["1-3 exact c3"]


def test_what_a_command_adds_is_its_own(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.command("c2", a=(BODY, BODY + "x = 1\n"))
    assert calls.told("a", BODY + "x = 1\n") == ["1-3 exact c1", "4-4 exact c2"]


def test_what_either_of_two_calls_made_is_nobodys(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, BODY + "x = 1\n"))
    hops = tuple(hop._replace(sure=False) for hop in calls.steps[-1].hops)
    calls.steps[-1] = Step("c2", hops)
    assert calls.told("a", BODY + "x = 1\n") == ["1-3 exact c1", "4-4 untracked -"]


def test_what_every_project_has_is_no_copy(calls: Calls) -> None:
    calls.call("c1", a=(None, "import os\n"))
    assert calls.told("b", "import os\n") == ["1-1 untracked -"]


def test_going_back_to_an_older_version_is_seen_for_what_it_is(calls: Calls) -> None:
    newer = BODY.replace("closed", "open")
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, newer))
    calls.call("c3", a=(BODY, BODY + "x = 1\n"))  # somebody checked the older one out
    assert calls.told("a", BODY + "x = 1\n") == ["1-3 exact c1", "4-4 exact c3"]
    assert calls.told("a", newer + "x = 1\n") == ["1-2 exact c1", "3-3 exact c2", "4-4 exact c3"]


def test_a_file_made_again_under_a_name_knows_nothing_of_the_old_one(calls: Calls) -> None:
    calls.call("c1", a=(None, BODY))
    calls.call("c2", a=(BODY, None))
    assert calls.told("a", "def first(channel):\n") == ["1-1 untracked -"]


def test_one_record_may_tell_of_a_file_entry_by_entry(calls: Calls) -> None:
    first, both = "x = 1\n", "x = 1\ny = 2\n"
    hops = (
        Hop("a", None, calls.put(first), ("/edits/0",)),
        Hop("a", calls.put(first), calls.put(both), ("/edits/1",)),
    )
    calls.steps.append(Step("c1", hops))
    replay = Replay(calls.contents.get)
    replay.run(calls.steps, [oid_of(both.encode())])
    found = replay.attributed("a", oid_of(both.encode()), both.encode())
    assert [run.by for run in runs(found)] == [
        Author("c1", ("/edits/0",)), Author("c1", ("/edits/1",)),
    ]  # fmt: skip


def test_versions_that_no_call_begins_with_any_more_are_let_go(calls: Calls) -> None:
    texts = [f"{BODY}x = {n}\n" for n in range(50)]
    for n, (pre, post) in enumerate(pairwise(texts)):
        calls.call(f"c{n}", a=(pre, post))
    replay = Replay(calls.contents.get)
    replay.run(calls.steps)
    assert not replay._known
    assert [tip.oid for tip in replay._tips["a"]] == [oid_of(texts[-1].encode())]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "decision", "of": "x", "files": [{"path": "a", "pre": None, "post": "0" * 40}]},
        {"type": "outcome", "files": [{"path": "a", "pre": None, "post": "0" * 40}]},
        {"type": "outcome", "of": 3, "files": [{"path": "a", "pre": None, "post": "0" * 40}]},
        {"type": "outcome", "of": "x", "files": {"path": "a"}},
        {"type": "outcome", "of": "x", "files": ["a", None, {"path": 1}]},
        {"type": "outcome", "of": "x", "files": [{"path": "a", "pre": 1, "post": "0" * 40}]},
        {"type": "outcome", "of": "x", "files": [{"path": "a", "pre": None, "post": None}]},
    ],
)
def test_what_is_no_change_of_a_file_is_passed_over(record: dict[str, Any]) -> None:
    assert list(steps([record])) == []
