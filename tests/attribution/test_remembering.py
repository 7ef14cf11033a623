"""An answer that goes on from an earlier one is the answer that the whole ledger gives."""

from __future__ import annotations

import json
import random
import zlib
from pathlib import Path
from typing import Any

import pytest

from tool_intent.ledger import remembering
from tool_intent.ledger.answering import Ledger
from tool_intent.ledger.attribution.hops import Hop, Step
from tool_intent.ledger.attribution.model import Attributed
from tool_intent.ledger.attribution.replaying import Replay
from tool_intent.ledger.objects import oid_of
from tool_intent.ledger.remembering import Remembered, Seed

from .recorded import Recorded
from .world import Change, Made, World

PATHS = ("a", "b", "c")


class Random:
    """A random history of three files: edits, copies, renames, ways back, and what nobody did."""

    def __init__(self, seed: int, calls: int) -> None:
        self._rng = random.Random(seed)
        self.contents: dict[str, bytes] = {}
        self.versions: list[bytes] = []
        self.steps = [self._step(n) for n in range(calls)]

    def _step(self, number: int) -> Step:
        rng = self._rng
        hops = []
        for path in rng.sample(PATHS, rng.choice((1, 1, 1, 2))):
            pre = rng.choice([None, *self.versions[-6:], self.text()]) if self.versions else None
            post = rng.choice(self.versions[-9:]) if self.versions and rng.random() < 0.3 else None
            if post is None and rng.random() < 0.9:
                post = self.text(pre)
            if pre != post:
                sure, commanded = rng.random() < 0.9, rng.random() < 0.3
                hop = Hop(path, self.put(pre), self.put(post), (), sure, commanded)
                hops.append(hop)
        return Step(f"c{number}", tuple(hops or [Hop("a", None, self.put(b"x\n"))]))

    def text(self, before: bytes | None = None) -> bytes:
        lines = (before or b"first_of_all\nsecond_of_all\nthird_of_all\n").splitlines(True)
        for _ in range(self._rng.randrange(1, 3)):
            at = self._rng.randrange(len(lines) + 1)
            lines[at : at + self._rng.randrange(2)] = [b"line_%d\n" % self._rng.randrange(40)]
        return b"".join(lines)

    def put(self, text: bytes | None) -> str | None:
        if text is None:
            return None
        self.versions.append(text)
        self.contents[oid_of(text)] = text
        return oid_of(text)


def _told(known: Attributed) -> list[Any]:
    return [(o.touch.by, o.touch.earlier(), o.reformatted, o.moved) for o in known.owners]


def _answer(
    made: Random, steps: list[Step], text: bytes, names: tuple[str, ...], seeds: list[Seed],
    memory: Remembered | None,
) -> tuple[int, list[Any]]:  # fmt: skip
    replay = Replay(made.contents.get, names)
    get = made.contents.get
    done = 0 if memory is None else memory.resume(replay, steps, oid_of(text), get)
    for seed in () if done else seeds:
        replay.seed(*seed)
    replay.run(steps[done:], [oid_of(text)])
    if memory is not None:
        memory.keep(replay, steps, done)
    return done, _told(replay.attributed(names[0], oid_of(text), text))


@pytest.mark.parametrize("seeded", [False, True])
def test_going_on_comes_to_the_same_as_beginning(
    seeded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "_FEW", 1)
    resumed = 0
    for seed in range(25):
        made = Random(seed, 24)
        rng = random.Random(seed)
        names = rng.choice([("a",), ("a", "b")])
        start = made.text()
        seeds = []
        if seeded:
            owners = Replay(made.contents.get).attributed("a", oid_of(start), start).owners
            seeds = [("a", oid_of(start), Attributed(start, owners))]
            made.contents[oid_of(start)] = start
        for end in sorted(rng.sample(range(1, 25), 18)):
            text = rng.choice([made.text(), *made.versions])
            made.put(text)
            steps = made.steps[:end]
            memory = Remembered(str(tmp_path / str(seed)), names, seeds)
            done, told = _answer(made, steps, text, names, seeds, memory)
            assert told == _answer(made, steps, text, names, seeds, None)[1], (seed, end)
            resumed += done > 0
    assert resumed > 80


def test_files_that_lines_may_yet_come_from_are_carried_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "_FEW", 1)
    made = Random(0, 0)
    block = b"one_of_the_moved\ntwo_of_the_moved\nthree_of_the_moved\n"
    other, text = block + b"rest = 1\n", b"first = 1\n"
    more, edited = text + b"second = 2\n", b"# by hand\n" + other
    files = [
        [("f", None, text), ("g", None, other)],
        [("f", text, more)],
        [("g", edited, edited.replace(block, b"")), ("f", more, more + block)],
    ]
    steps = [
        Step(f"c{n}", tuple(Hop(path, made.put(pre), made.put(post)) for path, pre, post in hops))
        for n, hops in enumerate(files)
    ]
    for end, asked in enumerate((text, more, more + block), 1):
        memory = Remembered(str(tmp_path), ("f",), [])
        done, told = _answer(made, steps[:end], asked, ("f",), [], memory)
        assert done == end - 1
    assert [(by.call, moved) for by, _, _, moved in told[2:]] == [("c0", True)] * 3


# --- with a ledger -------------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.write("c0", "f", "first = 1\n")
    for n in range(1, 30):
        world.change(f"c{n}", "f", lambda draft, n=n: draft.append([f"value_{n} = {n}"]))  # type: ignore[misc]
    return world


def _asked(recorded: Recorded, text: bytes) -> list[Any]:
    found = Ledger(recorded.folder).answer(["f"], text).runs
    return [(run.start, run.end, run.by and recorded.names[run.by.call]) for run in found]


def _counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps each answer went through."""
    seen: list[int] = []
    run = Replay.run

    def counting(self: Replay, steps: Any, asked: Any = ()) -> None:
        seen.append(len(steps))
        run(self, steps, asked)

    monkeypatch.setattr(Replay, "run", counting)
    return seen


def test_a_second_answer_goes_through_what_is_new_alone(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(world, tmp_path / "ledger")
    seen = _counted(monkeypatch)
    text = (world.folder / "f").read_bytes()
    first = _asked(recorded, text)
    assert first == [(n + 1, n + 1, f"c{n}") for n in range(30)]
    assert _asked(recorded, text) == first
    more = text + b"value_30 = 30\n"
    recorded.add(Made("c30", (Change("f", text, more),)))
    assert _asked(recorded, more) == [*first, (31, 31, "c30")]
    assert _asked(recorded, text[:-10] + b"\n") is not None  # another version, of another commit
    assert seen == [30, 0, 1, 1]


def test_a_version_that_is_not_the_last_is_found_out_anew(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(world, tmp_path / "ledger")
    seen = _counted(monkeypatch)
    text = (world.folder / "f").read_bytes()
    _asked(recorded, text)
    older = b"".join(text.splitlines(True)[:20])
    assert _asked(recorded, older) == [(n + 1, n + 1, f"c{n}") for n in range(20)]
    assert seen == [30, 30]


def test_a_ledger_that_is_another_one_is_gone_through(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Recorded(world, tmp_path / "ledger")
    text = (world.folder / "f").read_bytes()
    _asked(recorded, text)
    for segment in (tmp_path / "ledger").glob("*.jsonl"):
        segment.unlink()
    seen = _counted(monkeypatch)
    other = Recorded(world, tmp_path / "ledger")
    assert _asked(other, text)[-1] == (30, 30, "c29")
    assert seen == [30]


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda whole: whole[:-9],
        lambda _: zlib.compress(b"[" * 100_000),
        lambda _: zlib.compress(b"{}"),
        lambda whole: _changed(whole, lambda kept: kept.__setitem__(2, [[["c"], None]])),
        lambda whole: _changed(whole, lambda kept: kept.__setitem__(2, [])),
        lambda whole: _changed(whole, lambda kept: kept.__setitem__(3, [])),
        lambda whole: _changed(whole, lambda kept: kept.__setitem__(3, {})),
        lambda whole: _changed(whole, lambda kept: kept[3]["f"][0].__setitem__(0, [1])),
        lambda whole: _changed(whole, lambda kept: kept[3]["f"][0][1].pop()),
        lambda whole: _changed(whole, lambda kept: kept[3]["f"][0][1][0].__setitem__(2, 1 << 60)),
    ],
)
def test_what_is_damaged_is_found_out_anew(damage: Any, world: World, tmp_path: Path) -> None:
    recorded = Recorded(world, tmp_path / "ledger")
    text = (world.folder / "f").read_bytes()
    first = _asked(recorded, text)
    (kept,) = (tmp_path / "ledger" / "why").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    kept.write_bytes(damage(kept.read_bytes()))
    assert _asked(recorded, text) == first


def _changed(whole: bytes, change: Any) -> bytes:
    kept = json.loads(zlib.decompress(whole))
    change(kept)
    return zlib.compress(json.dumps(kept).encode())


def test_what_was_kept_longest_ago_is_let_go(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "_MOST_FILES", 3)
    recorded = Recorded(world, tmp_path / "ledger")
    text = (world.folder / "f").read_bytes()
    kept: list[set[Path]] = []
    for n in range(5):
        Ledger(recorded.folder).answer(["f", f"name_{n}"], text)
        kept.append(set((tmp_path / "ledger" / "why").iterdir()))
    assert [len(files) for files in kept] == [1, 2, 3, 3, 3]
    assert not kept[-1] & kept[1]


def test_an_answer_is_given_where_nothing_can_be_kept(world: World, tmp_path: Path) -> None:
    recorded = Recorded(world, tmp_path / "ledger")
    (tmp_path / "ledger" / "why").write_text("in the way")
    text = (world.folder / "f").read_bytes()
    assert len(_asked(recorded, text)) == 30


def test_what_a_lost_content_leaves_untold_is_not_kept(world: World, tmp_path: Path) -> None:
    recorded = Recorded(world, tmp_path / "ledger")
    text = (world.folder / "f").read_bytes()
    older = oid_of(b"".join(text.splitlines(True)[:9]))
    lost = tmp_path / "ledger" / "objects" / older[:2] / older[2:]
    lost.rename(tmp_path / "lost")
    assert _asked(recorded, text)[8][2] is None
    (tmp_path / "lost").rename(lost)
    assert _asked(recorded, text)[8] == (9, 9, "c8")
