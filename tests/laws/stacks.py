"""Generated stacks of policies: what an organisation, a team, a user, a repository and a folder of
it may say, one file or several a rank."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import hypothesis.strategies as st

from tool_intent.policy.load import load
from tool_intent.policy.model import EffectivePolicy
from tool_intent.policy.sources import Root
from tool_intent.runtime.model import EFFECTS, RANKS, SENIORITY, Rank

STACKED: tuple[Rank, ...] = tuple(rank for rank in RANKS if rank != "shipped")
#: Tools that no shipped catalog knows, so that each rank may say what they are.
TOOLS = ["save", "tune", "ship", "mcp__x__y", "deploy"]
KEYS = [*TOOLS, "@write", "@edit", "@own", "mcp__*", "*"]
FIELDS = ["intent", "rationale", "ticket"]
#: Rule ids: some that ranks share.
IDS = [f"r/{name}" for name in "abcd"]

#: Lists of stages, and moments before, between and after them.
STAGES = [
    [{"from": "2026-01-01", "effect": "note"}, {"from": "2027-01-01", "effect": "deny"}],
    [{"from": "2026-06-01", "effect": "warn"}],
]
MOMENTS = [1_700_000_000.0, 1_780_000_000.0, 1_790_000_000.0, 1_900_000_000.0, None]

_effects = st.sampled_from(["note", "warn", "ask", "deny"])
_constraints = st.sampled_from(
    [{}, {"minLength": 3}, {"maxLength": 5}, {"type": "integer"}, {"enum": ["x", "PAY-1"]},
     {"pattern": "^PAY"}, {"type": "integer", "minimum": 3}]
)  # fmt: skip
_conditions = st.sampled_from(
    [
        'intent mentions "fix"', "has ticket", "words(rationale) >= 2", 'path under "src"',
        'not path like "*.py"', 'tool in ["save", "deploy"]', "intent restates call",
        'any(p in call.paths: p under "src")', "has rationale and has intent",
        "earlier @own where path == this.path within 5 calls", "intent in listed",
        "earlier @write passed within 3 calls", "words(intent) >= least",
        "count(earlier save within 9 calls) >= 1", "content matches /AKIA/",
        "earlier * where intent == this.intent since last @write within 9 calls",
        "overlap(rationale, call) >= 1",
    ]
)  # fmt: skip


@st.composite
def _entry(draw: st.DrawFn) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    names = draw(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=2, unique=True))
    uses = {
        name: {} if name == "ticket" else draw(st.sampled_from([{}, {"minLength": 3}]))
        for name in names
    }
    entry[draw(st.sampled_from(["require", "require", "optional"]))] = uses
    if draw(st.booleans()):
        entry["effect"] = draw(_effects)
    if draw(st.integers(0, 3)) == 0:
        entry["at"] = "edits[]"
    if draw(st.integers(0, 4)) == 0:
        entry["except"] = [draw(st.sampled_from(KEYS))]
    if draw(st.integers(0, 4)) == 0:
        entry["when"] = draw(st.sampled_from(['path under "src"', 'not intent mentions "x"']))
    return entry


@st.composite
def _rule(draw: st.DrawFn, name: str) -> str:
    targets = ", ".join(draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True)))
    but = f" except {draw(st.sampled_from(KEYS))}" if draw(st.integers(0, 4)) == 0 else ""
    kind = draw(st.sampled_from(["require", "forbid"]))
    asked = draw(_conditions)
    guard = f"\n  when {draw(_conditions)}" if draw(st.integers(0, 3)) == 0 else ""
    effect = draw(_effects)
    lower = EFFECTS[: EFFECTS.index(effect) + 1]
    floor = f"\n  floor {draw(st.sampled_from(lower))}" if draw(st.booleans()) else ""
    return f'rule {name} on {targets}{but}{guard}\n  {kind} {asked}\n  else {effect} "No."{floor}\n'


@st.composite
def _catalogs(draw: st.DrawFn) -> dict[str, Any]:
    """A catalog: what some tools are, and which argument is their path."""
    known = draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2, unique=True))
    return {
        "catalog": "generated",
        "tools": {
            name: {
                "groups": draw(st.lists(st.sampled_from(["@write", "@edit"]), max_size=1)),
                "roles": {"path": draw(st.sampled_from(["path", "file"])), "content": "content"},
            }
            for name in known
        },
    }


@st.composite
def policies(draw: st.DrawFn, *, adjustable: list[str] | None) -> dict[str, Any]:
    """One file. It may adjust and stage rules called as one of `adjustable`, to which those that it
    gives itself are added; none where that is None."""
    said: dict[str, Any] = {"version": 1}
    said["fields"] = {"ticket": draw(_constraints)}
    if draw(st.booleans()):
        said["fields"]["intent"] = draw(st.sampled_from([{}, {"minLength": 4}]))
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=3, unique=True))
    said["tools"] = {key: draw(_entry()) for key in keys}
    said["groups"] = {"@own": draw(st.lists(st.sampled_from(TOOLS), max_size=2, unique=True))}
    if draw(st.integers(0, 3)) == 0:
        said["groups"]["@write"] = [draw(st.sampled_from(TOOLS))]
    if draw(st.integers(0, 2)) == 0:
        said["unlisted"] = draw(st.sampled_from(["allow", "note", "warn", "ask", "deny"]))
    if draw(st.integers(0, 2)) == 0:
        said["catalog"] = draw(_catalogs())
    names = draw(st.lists(st.sampled_from(IDS), max_size=2, unique=True))
    if names:
        words = draw(st.sampled_from(['["fix", "x"]', '["PAY-1"]', '["qqq"]']))
        head = f"words listed = {words}\noption least = {draw(st.integers(1, 3))} between 1 and 4\n"
        said["rules"] = head + "".join(draw(_rule(name)) for name in names)
    if adjustable is not None:
        adjustable += [name for name in names if name not in adjustable]
    if adjustable and draw(st.booleans()):
        adjusted = draw(st.lists(st.sampled_from(adjustable), min_size=1, max_size=2, unique=True))
        said["adjust"] = {name: draw(st.sampled_from(EFFECTS)) for name in adjusted}
        if draw(st.booleans()):
            said["stages"] = {adjusted[0]: draw(st.sampled_from(STAGES))}
    return said


class Stack(NamedTuple):
    """Files by rank, strongest first."""

    files: tuple[tuple[Rank, dict[str, Any]], ...]

    def down_to(self, rank: Rank) -> Stack:
        """The files of a rank and of stronger ones."""
        return Stack(tuple((r, f) for r, f in self.files if SENIORITY[r] <= SENIORITY[rank]))

    def shuffled(self, order: Random) -> Stack:
        """The files in another order within each rank, one of them twice."""
        files = list(self.files)
        order.shuffle(files)
        files.append(files[0])
        files.sort(key=lambda pair: SENIORITY[pair[0]])
        return Stack(tuple(files))

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """Its ranks, strongest first."""
        return tuple(dict.fromkeys(rank for rank, _ in self.files))

    def load(self, folder: Path) -> EffectivePolicy:
        """The effective policy of it, written to a folder and read from there."""
        roots = []
        for number, (rank, said) in enumerate(self.files):
            path = folder / f"{rank}{number}.yaml"
            if "catalog" in said:
                name = f"catalog-{rank}{number}.yaml"
                _write(folder / name, said["catalog"])
                _write(path, {**said, "catalog": f"./{name}"})
            else:
                _write(path, said)
            roots.append(Root(str(path), rank, f"{rank}{number}.yaml"))
        return load(roots, doubts=lambda *_: None)


@st.composite
def stacks(draw: st.DrawFn, *, permits: bool = False) -> Stack:
    """Two to four files at one to four ranks."""
    ranks = draw(st.lists(st.sampled_from(STACKED), min_size=2, max_size=4))
    ranks.sort(key=STACKED.index)
    adjustable: list[str] | None = [] if permits else None
    return Stack(tuple((rank, draw(policies(adjustable=adjustable))) for rank in ranks))


_PATHS = ["src/a.py", "b.py", "$X/c"]


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """One call: its tool, arguments, and what came of it."""
    tool = draw(st.sampled_from([*TOOLS, "read", "unheard_of"]))
    args: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(FIELDS), max_size=3, unique=True)):
        args[name] = draw(st.sampled_from(["fix src/a.py", "x", "PAY-1 now", "", 7, True]))
    for name in ("path", "file"):
        if draw(st.booleans()):
            args[name] = draw(st.sampled_from(_PATHS))
    if draw(st.booleans()):
        args["content"] = draw(st.sampled_from(["a", "AKIA", "é"]))
    if draw(st.booleans()):
        args["edits"] = [
            {"intent": draw(st.sampled_from(["fix it", ""])), "newText": "x"}
            for _ in range(draw(st.integers(0, 2)))
        ]
    return {"tool": tool, "args": args, "outcome": draw(st.sampled_from(["tried", "passed"]))}


def _write(path: Path, said: dict[str, Any]) -> None:
    """As YAML whose values are JSON, but for rules, which stand in a block."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in said.items() if key != "rules"]
    if "rules" in said:
        lines += ["rules: |", *("  " + line for line in said["rules"].splitlines())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
