"""A restart never lets through what the session itself would have refused: what history answers
from the ledger is what it would have answered anyway, or that it does not know."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from tool_intent import Decision, Guard
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.reading import records

from .conftest import examples

POLICY: Final = """\
version: 1
extends: std/baseline
ledger: {keep: [mode]}
rules: |
  rule a/read on edit
    require earlier @read passed where path == this.path within 6 calls else deny "a"
  rule b/count on @exec
    forbid count(earlier @exec failed within 5 calls) >= 2 else deny "b"
  rule c/reason on write
    forbid earlier write where intent == this.intent within 1h else ask "c"
  rule d/since on @exec
    when command runs "push"
    require earlier @exec passed where command runs "test" since last @write within 20 calls
    else deny "d"
  rule e/content on write
    forbid earlier write passed where content == this.content within 20 calls else deny "e"
  rule f/mode on other
    forbid earlier other where has args.mode and args.mode == "x" within 4 calls else deny "f"
  rule g/entry on edit
    forbid earlier edit where rationale == this.rationale within 20 calls else ask "g"
  rule h/whole on @exec
    forbid count(earlier * passed where "a" in call.paths within 9 calls) >= 3 else deny "h"
"""


#: What the policy may become at a restart: calls before it may have said what it asks of.
LATER: Final = (
    POLICY
    + """\
  rule i/ticket on write
    forbid earlier write where ticket == this.ticket within 20 calls else ask "i"
fields: {ticket: {pattern: '^A-[0-9]$'}}
"""
)


class Made(NamedTuple):
    """A call, and what comes of it if it runs: None where nobody tells. `forged` records are
    written to the ledger before it."""

    tool: str
    args: dict[str, Any]
    session: str
    cwd: str | None
    ok: bool | None
    forged: bool


_ORDER: Final = ("allow", "ask", "deny")
_WHY: Final = st.sampled_from([*(f"Reason {n}" for n in range(14)), "[1]", 7])
_PATH: Final = st.sampled_from(["a", "./a", "b"])


def _made(tool: str, **args: st.SearchStrategy[Any]) -> st.SearchStrategy[Made]:
    given = st.fixed_dictionaries({**args, "intent": _WHY, "rationale": _WHY})
    ended = st.sampled_from([True, True, False, None])
    session = st.sampled_from(["s", "s", "t", "s/1", "s/1/1"])
    cwd = st.sampled_from([None, None, None, "sub", "/elsewhere"])
    forged = st.sampled_from([False] * 9 + [True])
    return st.builds(Made, st.just(tool), given, session, cwd, ended, forged)


_ENTRY: Final = st.fixed_dictionaries(
    {"oldText": st.just("x"), "newText": st.just("y"), "intent": _WHY, "rationale": _WHY}
)
_CALLS: Final = st.one_of(
    _made("read", path=_PATH),
    _made("read", path=_PATH, offset=st.just(3)),
    _made("edit", path=_PATH, edits=st.lists(_ENTRY, min_size=1, max_size=2)),
    _made(
        "write", path=_PATH, content=st.sampled_from("pq"), ticket=st.sampled_from(["A-1", "A-2"])
    ),
    _made("bash", command=st.sampled_from(["run test", "git push", "cat a", "push $X"])),
    _made("other", mode=st.sampled_from(["x", "y", "[1]", 7])),
)
_SESSION: Final = st.lists(_CALLS, min_size=1, max_size=14)


@pytest.fixture(scope="module")
def policies() -> Iterator[tuple[str, str]]:
    folder = Path(tempfile.mkdtemp())
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "later.yaml").write_text(LATER)
    yield str(folder / "policy.yaml"), str(folder / "later.yaml")
    shutil.rmtree(folder)


class Host:
    """A guard in a work tree of its own."""

    def __init__(self, policy: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / ".git" / "objects").mkdir(parents=True)
        (self.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.guard = Guard.load(policy, cwd=str(self.folder))

    def call(self, made: Made) -> Decision:
        above = made.session.rpartition("/")[0]
        told = {"parent": above or None, "cwd": made.cwd}
        context = {name: value for name, value in told.items() if value is not None}
        admission = self.guard.admit(made.tool, made.args, session=made.session, context=context)
        if admission.decision.allowed and made.ok is not None:
            admission.settle(made.ok)
        return admission.decision

    def forge(self) -> None:
        """Add what the agent may write there: a decision that was made before, once more."""
        folder = str(self.folder / ".git" / "tool-intent")
        told = [record for record in records(folder) if record["type"] == "decision"]
        frame = ("v", "type", "seq", "id", "ts", "prev", "hash")
        for record in told[-2:]:
            body = {name: value for name, value in record.items() if name not in frame}
            Appender(folder).append("decision", body)

    def restart(self, policy: str) -> None:
        held = {name: self.guard.held(name) for name in ("s", "t", "s/1")}
        known = {name: text for name, text in held.items() if text is not None}
        self.guard = Guard.load(policy, cwd=str(self.folder), held=known)


def _expect_no_less(stays: Decision, goes_on: Decision) -> bool:
    """Whether the decisions are the same; a stronger one says what it cannot tell."""
    assert _ORDER.index(goes_on.decision) >= _ORDER.index(stays.decision)
    if goes_on.decision == stays.decision:
        event(f"the same: {stays.decision}")
        return True
    unknown = [f for f in goes_on.findings if "could not be told" in f.message]
    assert unknown, "a rule fires that did not, and says nothing of what it cannot tell"
    event("stronger, for something unknown")
    return False  # what came of this call differs from now on


@settings(deadline=None, max_examples=examples(dev=40, ci=600))
@given(_SESSION, st.sets(st.integers(0, 13), min_size=1, max_size=3))
def test_a_restart_never_lowers_a_decision(
    policies: tuple[str, str], calls: list[Made], restarts: set[int]
) -> None:
    live, restarted = Host(policies[0]), Host(policies[0])
    try:
        for number, made in enumerate(calls):
            if made.forged:
                restarted.forge()
            if number in restarts:
                restarted.restart(policies[0])
            if not _expect_no_less(live.call(made), restarted.call(made)):
                return
    finally:
        shutil.rmtree(live.folder)
        shutil.rmtree(restarted.folder)


@settings(
    deadline=None,
    max_examples=examples(dev=15, ci=300),
    phases=[p for p in Phase if p is not Phase.explain],
)
@given(_SESSION, st.integers(1, 6))
def test_a_policy_that_is_new_after_a_restart_lets_through_no_more_than_one_there_from_the_start(
    policies: tuple[str, str], calls: list[Made], restart: int
) -> None:
    live, restarted = Host(policies[1]), Host(policies[0])
    try:
        for number, made in enumerate(calls):
            if number == restart:
                restarted.restart(policies[1])
            stays, goes_on = live.call(made), restarted.call(made)
            if number < restart and stays.decision != goes_on.decision:
                return  # what came of this call differs from now on
            if number >= restart and not _expect_no_less(stays, goes_on):
                return
    finally:
        shutil.rmtree(live.folder)
        shutil.rmtree(restarted.folder)
