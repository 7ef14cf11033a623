"""Generated stacks of policies: what an organisation, a team, a user, a repository and a folder of
it may say, one file or several a rank. Strategies are made once: to make them takes longer than to
draw from them."""

from __future__ import annotations

import json
from functools import cache
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


_levels = st.sampled_from(["allow", "note", "warn", "ask", "deny"])
_keys = st.sampled_from(KEYS)
_one_or_two_keys = st.lists(_keys, min_size=1, max_size=2, unique=True)
_up_to_three_keys = st.lists(_keys, min_size=1, max_size=3, unique=True)
_one_or_two_fields = st.lists(st.sampled_from(FIELDS), min_size=1, max_size=2, unique=True)
_uses = st.sampled_from([{}, {"minLength": 3}])
_demands = st.sampled_from(["require", "require", "optional"])
_whens = st.sampled_from(['path under "src"', 'not intent mentions "x"'])
_verbs = st.sampled_from(["require", "forbid"])
_upwards = {e: st.sampled_from(EFFECTS[: EFFECTS.index(e) + 1]) for e in EFFECTS}
_tool = st.sampled_from(TOOLS)
_one_or_two_tools = st.lists(_tool, min_size=1, max_size=2, unique=True)
_up_to_two_tools = st.lists(_tool, max_size=2, unique=True)
_groups = st.lists(st.sampled_from(["@write", "@edit"]), max_size=1)
_path_names = st.sampled_from(["path", "file"])
_intents = st.sampled_from([{}, {"minLength": 4}])
_names = st.lists(st.sampled_from(IDS), max_size=2, unique=True)
_word_lists = st.sampled_from(['["fix", "x"]', '["PAY-1"]', '["qqq"]'])
_adjusted = st.sampled_from(EFFECTS)
_stages = st.sampled_from(STAGES)
_ranks = st.lists(st.sampled_from(STACKED), min_size=2, max_size=4)


@cache
def _some_of(names: tuple[str, ...]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)


@st.composite
def _entry(draw: st.DrawFn) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    names = draw(_one_or_two_fields)
    uses = {name: {} if name == "ticket" else draw(_uses) for name in names}
    entry[draw(_demands)] = uses
    if draw(st.booleans()):
        entry["effect"] = draw(_effects)
    if draw(st.integers(0, 3)) == 0:
        entry["at"] = "edits[]"
    if draw(st.integers(0, 4)) == 0:
        entry["except"] = [draw(_keys)]
    if draw(st.integers(0, 4)) == 0:
        entry["when"] = draw(_whens)
    return entry


@st.composite
def _rule(draw: st.DrawFn, name: str) -> str:
    targets = ", ".join(draw(_one_or_two_keys))
    but = f" except {draw(_keys)}" if draw(st.integers(0, 4)) == 0 else ""
    kind = draw(_verbs)
    asked = draw(_conditions)
    guard = f"\n  when {draw(_conditions)}" if draw(st.integers(0, 3)) == 0 else ""
    effect = draw(_effects)
    floor = f"\n  floor {draw(_upwards[effect])}" if draw(st.booleans()) else ""
    return f'rule {name} on {targets}{but}{guard}\n  {kind} {asked}\n  else {effect} "No."{floor}\n'


@st.composite
def _catalogs(draw: st.DrawFn) -> dict[str, Any]:
    """A catalog: what some tools are, and which argument is their path."""
    known = draw(_one_or_two_tools)
    return {
        "catalog": "generated",
        "tools": {
            name: {
                "groups": draw(_groups),
                "roles": {"path": draw(_path_names), "content": "content"},
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
        said["fields"]["intent"] = draw(_intents)
    keys = draw(_up_to_three_keys)
    said["tools"] = {key: draw(_entry()) for key in keys}
    said["groups"] = {"@own": draw(_up_to_two_tools)}
    if draw(st.integers(0, 3)) == 0:
        said["groups"]["@write"] = [draw(_tool)]
    if draw(st.integers(0, 2)) == 0:
        said["unlisted"] = draw(_levels)
    if draw(st.integers(0, 2)) == 0:
        said["catalog"] = draw(_catalogs())
    names = draw(_names)
    if names:
        words = draw(_word_lists)
        head = f"words listed = {words}\noption least = {draw(st.integers(1, 3))} between 1 and 4\n"
        said["rules"] = head + "".join(draw(_rule(name)) for name in names)
    if adjustable is not None:
        adjustable += [name for name in names if name not in adjustable]
    if adjustable and draw(st.booleans()):
        adjusted = draw(_some_of(tuple(adjustable)))
        said["adjust"] = {name: draw(_adjusted) for name in adjusted}
        if draw(st.booleans()):
            said["stages"] = {adjusted[0]: draw(_stages)}
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
    ranks = draw(_ranks)
    ranks.sort(key=STACKED.index)
    adjustable: list[str] | None = [] if permits else None
    return Stack(tuple((rank, draw(policies(adjustable=adjustable))) for rank in ranks))


_called = st.sampled_from([*TOOLS, "read", "unheard_of"])
_carried = st.lists(st.sampled_from(FIELDS), max_size=3, unique=True)
_values = st.sampled_from(["fix src/a.py", "x", "PAY-1 now", "", 7, True])
_paths = st.sampled_from(["src/a.py", "b.py", "$X/c"])
_contents = st.sampled_from(["a", "AKIA", "é"])
_edit_intents = st.sampled_from(["fix it", ""])
_outcomes = st.sampled_from(["tried", "passed"])


@st.composite
def calls(draw: st.DrawFn) -> dict[str, Any]:
    """One call: its tool, arguments, and what came of it."""
    tool = draw(_called)
    args: dict[str, Any] = {}
    for name in draw(_carried):
        args[name] = draw(_values)
    for name in ("path", "file"):
        if draw(st.booleans()):
            args[name] = draw(_paths)
    if draw(st.booleans()):
        args["content"] = draw(_contents)
    if draw(st.booleans()):
        args["edits"] = [
            {"intent": draw(_edit_intents), "newText": "x"} for _ in range(draw(st.integers(0, 2)))
        ]
    return {"tool": tool, "args": args, "outcome": draw(_outcomes)}


def _write(path: Path, said: dict[str, Any]) -> None:
    """As YAML whose values are JSON, but for rules, which stand in a block."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in said.items() if key != "rules"]
    if "rules" in said:
        lines += ["rules: |", *("  " + line for line in said["rules"].splitlines())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
