"""`why` and `seal` on real repositories, whose ledgers hold what real calls did."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from ..attribution.recorded import Recorded
from ..attribution.truth import PERSON
from ..attribution.world import Change, Made, World
from .command import COMMAND, Command
from .inside import Inside

ROOT = Path(__file__).parents[2]
FEES = "def fee(cents):\n    return cents // 100\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository in which c1 wrote a file, c2 changed a line of it, and a person added one."""
    world = World(tmp_path)
    world.write("c1", "fees.py", FEES)
    world.commit()
    world.change("c2", "fees.py", lambda draft: draft.swap("cents // 100", "-(-cents // 100)"))
    world.change(PERSON, "fees.py", lambda draft: draft.append(["RATE = 1"]))
    return world


@pytest.fixture
def recorded(world: World) -> Recorded:
    return Recorded(world, world.folder / ".git" / "tool-intent")


@pytest.fixture
def ask(world: World, tmp_path: Path) -> Command:
    return Inside(tmp_path, world.folder)


def _lines(done: Any, recorded: Recorded) -> list[tuple[int, int, str, str | None, list[str]]]:
    """The runs of a JSON answer, calls by the names that the world has for them."""
    assert done.code == 0, done.err
    return [
        (
            run["start"],
            run["end"],
            run["state"],
            run["by"] and recorded.names[run["by"]["call"]],
            [recorded.names[one["call"]] for one in run["earlier"]],
        )
        for run in json.loads(done.out)["lines"]
    ]


def test_a_line_is_told_with_its_call_its_reasons_and_those_before(
    world: World, recorded: Recorded, tmp_path: Path
) -> None:
    ask = Command(tmp_path, world.folder)
    done = ask("why", "fees.py")
    assert (done.code, done.err) == (0, "")
    stamp = json.loads(ask("why", "fees.py", "--format", "json").out)
    first, second = (stamp["calls"][run["by"]["call"]]["ts"] for run in stamp["lines"][:2])
    assert done.out == (
        "fees.py\n"
        f"1         exact        write  {first}  pi/m-1  session s-1\n"
        "          intent: Do c1.\n"
        "          rationale: For c1.\n"
        f"2         exact        write  {second}  pi/m-1  session s-1\n"
        "          intent: Do c2.\n"
        "          rationale: For c2.\n"
        f"          before: write  {first}  pi/m-1  session s-1: intent: Do c1.\n"
        "3         untracked    nobody is recorded who wrote this\n"
    )


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("fees.py:2", [(2, 2, "exact", "c2", ["c1"])]),
        ("fees.py:1-2", [(1, 1, "exact", "c1", []), (2, 2, "exact", "c2", ["c1"])]),
        ("fees.py:3-3", [(3, 3, "untracked", None, [])]),
    ],
)
def test_lines_are_asked_for_by_number(
    target: str, expected: list[Any], ask: Command, recorded: Recorded
) -> None:
    assert _lines(ask("why", target, "--format", "json"), recorded) == expected


def test_what_became_of_a_line_is_told(world: World, tmp_path: Path) -> None:
    def by_hand(draft: Any) -> None:
        draft.swap("-(-cents // 100)", "-(-cents // 200)")
        draft.insert(0, ["if True:"])
        draft.indent(1, 2)

    world.change(PERSON, "fees.py", by_hand)
    recorded = Recorded(world, world.folder / ".git" / "tool-intent")
    done = Inside(tmp_path, world.folder)("why", "fees.py", "--format", "json")
    assert _lines(done, recorded) == [
        (1, 1, "untracked", None, []),
        (2, 2, "reformatted", "c1", []),
        (3, 3, "edited-after", None, ["c2", "c1"]),
        (4, 4, "untracked", None, []),
    ]


def test_a_link_is_told_as_the_file_it_leads_to(ask: Command, recorded: Recorded) -> None:
    (ask.cwd / "link").symlink_to("fees.py")
    assert _lines(ask("why", "link:1", "--format", "json"), recorded)[0][3] == "c1"


def test_an_empty_file_has_no_lines_to_tell_of(ask: Command, recorded: Recorded) -> None:
    (ask.cwd / "empty").write_bytes(b"")
    assert ask("why", "empty").out == "empty\nThe file is empty.\n"


def test_a_file_is_told_as_committed(ask: Command, recorded: Recorded) -> None:
    done = ask("why", "fees.py", "--rev", "HEAD", "--format", "json")
    assert _lines(done, recorded) == [(1, 2, "exact", "c1", [])]
    assert json.loads(done.out)["rev"] == "HEAD"


def test_each_entry_of_a_call_is_told_by_the_file_it_changed(
    world: World, recorded: Recorded, ask: Command
) -> None:
    entries = [{"at": "", "intent": "Both."}, {"at": "/edits/0", "intent": "The first."},
               {"at": "/edits/1", "intent": "The second."}]  # fmt: skip
    text = (world.folder / "fees.py").read_bytes()
    middle, after = text + b"A = 1\n", text + b"A = 1\nB = 2\n"
    (world.folder / "fees.py").write_bytes(after)
    recorded.add(
        Made("c3", (Change("fees.py", text, middle), Change("fees.py", middle, after))),
        entries,
        [["/edits/0"], ["/edits/1"]],
    )
    out = ask("why", "fees.py:4-5").out
    assert "intent: Both.\n          /edits/0 intent: The first.\n" in out
    assert "intent: Both.\n          /edits/1 intent: The second.\n" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fee.py"], "there is no file fee.py; did you mean fees.py?"),
        (["none/at/all"], "there is no file none/at/all; name one, or a commit that has it"),
        (["fees.py:4"], "fees.py has 3 lines: there is no line 4"),
        (["fees.py:2-9"], "fees.py has 3 lines: there is no line 9"),
        (["fees.py:0"], "0-0 are no lines"),
        (["fees.py:3-2"], "3-2 are no lines"),
        ([".git"], ".git is a folder: name a file in it"),
        (["picture"], "picture is binary"),
        (["pipe"], "pipe is no regular file"),
        (["large"], "large is larger than 64 MiB"),
        (["dangling"], "there is no file dangling"),
        (["empty:1"], "empty is empty: there is no line 1"),
        (["fees.py", "--rev", "nope"], "fees.py: there is no commit `nope`"),
        (["fees.py", "--rev", "--output=x"], "fees.py: `--output=x` is no revision"),
        (["other.py", "--rev", "HEAD"], "other.py: there is no file other.py in"),
        (["../outside", "--rev", "HEAD"], "--rev needs a git repository"),
    ],
)
def test_what_cannot_be_asked_is_said(
    arguments: list[str], complaint: str, ask: Command, recorded: Recorded
) -> None:
    (ask.cwd / "picture").write_bytes(b"\x89PNG\0\0")
    (ask.cwd / "empty").write_bytes(b"")
    (ask.cwd.parent / "outside").write_text("x\n")
    os.mkfifo(ask.cwd / "pipe")
    (ask.cwd / "dangling").symlink_to("nowhere")
    with open(ask.cwd / "large", "wb") as file:
        file.truncate(100 << 20)
    done = ask("why", *arguments)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err


def test_without_any_record_the_command_says_where_they_would_be(
    world: World, ask: Command
) -> None:
    done = ask("why", "fees.py")
    assert done.code == 2
    assert f"{world.folder}/.git/tool-intent holds no record of a change" in done.err
    assert "git fetch origin refs/notes/tool-intent:refs/notes/tool-intent" in done.err
    off = ask("why", "fees.py", env={"TOOL_INTENT_LEDGER": "off"})
    assert "TOOL_INTENT_LEDGER is off" in off.err


@pytest.mark.parametrize("name", ["a\nb.py", "fees.py:2", "-rf", "ä \\ *.py", "a/[b]?.py"])
def test_any_name_of_a_file_is_taken_as_it_is(name: str, world: World, tmp_path: Path) -> None:
    world.write("c3", name, "x = 1\ny = 2\n")
    recorded = Recorded(world, world.folder / ".git" / "tool-intent")
    world.commit()
    ask = Inside(tmp_path, world.folder)
    done = ask("why", "--format", "json", "--", f"./{name}")
    assert _lines(done, recorded) == [(1, 2, "exact", "c3", [])]
    assert ask("why", "--", f"./{name}:1").out.count("\n") == 4
    assert ask("seal").code == 0
    shutil.rmtree(world.folder / ".git" / "tool-intent")
    assert "exact" in ask("why", "--", f"./{name}").out


def test_what_a_model_wrote_cannot_speak_for_the_terminal(
    world: World, recorded: Recorded, ask: Command
) -> None:
    hostile = "a\x1b[2J\u202eb\n1-9       exact\r\x07[bold]c[/bold]\u200b" + "x" * 500
    before = (world.folder / "fees.py").read_bytes()
    (world.folder / "fees.py").write_bytes(before + b"A = 1\n")
    recorded.add(
        Made("c3", (Change("fees.py", before, before + b"A = 1\n"),)),
        [{"at": "/\x1b[31m", "intent": hostile}],
    )
    out = ask("why", "fees.py:4").out
    assert "a\\u{1b}[2J\\u{202e}b ⏎ 1-9       exact\\u{d}\\u{7}[bold]c[/bold]\\u{200b}" in out
    assert all(c.isprintable() or c == "\n" for c in out)
    assert max(len(line) for line in out.splitlines()) < 200


# --- repositories of all kinds -------------------------------------------------------------------


def test_a_repository_without_commits_is_asked_too(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("c1", "fees.py", FEES)
    recorded = Recorded(world, world.folder / ".git" / "tool-intent")
    ask = Inside(tmp_path, world.folder)
    done = ask("why", "fees.py", "--format", "json")
    assert _lines(done, recorded) == [(1, 2, "exact", "c1", [])]
    done = ask("seal")
    assert (done.code, "HEAD cannot be sealed: there is no commit `HEAD`" in done.err) == (2, True)


def test_work_trees_of_a_repository_share_what_is_known(world: World, recorded: Recorded) -> None:
    tree = world.folder.parent / "tree"
    world.repository.git("worktree", "add", "--quiet", str(tree), "HEAD")
    done = Inside(world.folder.parent, tree)("why", "fees.py", "--format", "json")
    assert _lines(done, recorded) == [(1, 2, "exact", "c1", [])]


def test_a_submodule_is_told_by_the_repository_in_which_calls_were_made(
    world: World, tmp_path: Path
) -> None:
    inner = World(tmp_path / "inner")
    inner.write(PERSON, "lib.py", "x = 1\n")
    inner.commit()
    world.repository.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.folder), "sub"
    )  # fmt: skip
    after = b"x = 1\ny = 2\n"
    (world.folder / "sub" / "lib.py").write_bytes(after)
    world.calls.append(Made("c3", (Change("sub/lib.py", b"x = 1\n", after),)))
    recorded = Recorded(world, world.folder / ".git" / "tool-intent")
    done = Inside(tmp_path, world.folder / "sub")("why", "lib.py", "--format", "json")
    expected = [(1, 1, "untracked", None, []), (2, 2, "exact", "c3", [])]
    assert _lines(done, recorded) == expected
    own = Recorded(World(tmp_path / "empty"), world.folder / ".git/modules/sub/tool-intent")
    own.add(Made("c4", (Change("lib.py", b"y = 2\n", after),)))
    done = Inside(tmp_path, world.folder)("why", "sub/lib.py", "--format", "json")
    assert _lines(done, own) == [(1, 1, "exact", "c4", []), (2, 2, "untracked", None, [])]


def test_nothing_that_a_hostile_repository_configures_is_run(
    world: World, recorded: Recorded, tmp_path: Path
) -> None:
    ask = Command(tmp_path, world.folder)
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ran >> {ran}\nexec cat\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    world.git("add", "--all")
    world.repository.git("commit", "--quiet", "--message=x")
    (world.folder / ".gitattributes").write_text("* filter=bad diff=bad merge=bad\n")
    git = world.repository.git
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass",
        "core.gitProxy", "core.alternateRefsCommand", "diff.external", "diff.bad.command",
        "diff.bad.textconv", "filter.bad.clean", "filter.bad.smudge", "filter.bad.process",
        "merge.bad.driver", "gpg.program", "gpg.ssh.program", "credential.helper",
        "sequence.editor", "uploadpack.packObjectsHook", "interactive.diffFilter", "pager.log",
        "pager.notes", "pager.grep", "trailer.x.command", "alias.log", "alias.notes",
    ):  # fmt: skip
        git("config", key, f"!{program}" if key.startswith("alias") else str(program))
    git("config", "log.showSignature", "true")
    git("config", "commit.gpgSign", "true")
    git("config", "notes.displayRef", "*")
    git("config", "include.path", str(tmp_path / "included"))
    hooks = world.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("reference-transaction", "post-index-change", "post-commit", "pre-commit",
                 "prepare-commit-msg", "commit-msg", "fsmonitor-watchman"):  # fmt: skip
        shutil.copy(program, hooks / hook)
    ran.unlink(missing_ok=True)
    assert _lines(ask("why", "fees.py", "--format", "json"), recorded)[0][3] == "c1"
    assert ask("why", "fees.py", "--rev", "HEAD").code == 0
    assert ask("seal").code == 0
    shutil.rmtree(world.folder / ".git" / "tool-intent")
    assert "sealed" in ask("why", "fees.py").out
    assert not ran.exists()
    # The trap works: git itself, asked without care, falls into it.
    world.repository.git("-c", "user.name=x", "status")
    assert ran.exists()


def test_outside_of_any_repository_files_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    world, other = World(tmp_path / "world"), World(tmp_path / "other")
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, text, at in zip(folders, (b"one\n", b"one\ntwo\n"), (world, other), strict=True):
        folder.mkdir()
        (folder / "notes.txt").write_bytes(text)
        at.calls.append(Made(folder.name, (Change("notes.txt", None, text),)))
    ledger = tmp_path / ".local" / "state" / "tool-intent"
    recorded = Recorded(world, ledger, folders[0])
    recorded.names |= Recorded(other, ledger, folders[1]).names
    for folder, end in zip(folders, (1, 2), strict=True):
        done = Inside(tmp_path, folder)("why", "notes.txt", "--format", "json")
        assert _lines(done, recorded) == [(1, end, "exact", folder.name, [])]


def test_a_named_ledger_that_holds_several_repositories_tells_them_apart(
    world: World, tmp_path: Path
) -> None:
    other = World(tmp_path / "other")
    other.write("c9", "fees.py", FEES + "RATE = 1\n")
    recorded = Recorded(world, tmp_path / "ledger")
    recorded.names |= Recorded(other, tmp_path / "ledger").names
    env = {"TOOL_INTENT_LEDGER": str(tmp_path / "ledger")}
    done = Inside(tmp_path, world.folder)("why", "fees.py", "--format", "json", env=env)
    assert [run[3] for run in _lines(done, recorded)] == ["c1", "c2", None]
    done = Inside(tmp_path, other.folder)("why", "fees.py", "--format", "json", env=env)
    assert [run[3] for run in _lines(done, recorded)] == ["c9"]


def test_calls_of_a_session_that_began_outside_of_the_repository_count(
    world: World, tmp_path: Path
) -> None:
    calls = [
        Made(made.id, tuple(c._replace(path=str(world.folder / c.path)) for c in made.changes))
        for made in world.calls
    ]
    world.calls = calls
    recorded = Recorded(world, tmp_path / ".local" / "state" / "tool-intent", tmp_path)
    done = Inside(tmp_path, world.folder)("why", "fees.py", "--format", "json")
    assert [run[3] for run in _lines(done, recorded)] == ["c1", "c2", None]


# --- ledgers that lost something -----------------------------------------------------------------


def test_lines_that_only_a_lost_content_could_tell_are_credited_to_nobody(
    world: World, recorded: Recorded, ask: Command
) -> None:
    text = (world.folder / "fees.py").read_bytes()
    lost = text.replace(b"RATE = 1", b"RATE = 7")
    recorded.add(Made("c3", (Change("fees.py", lost, text + b"A = 1\n"),)))
    (world.folder / "fees.py").write_bytes(text + b"A = 1\n")
    for file in (world.folder / ".git" / "tool-intent" / "objects").rglob("*"):
        if file.is_file() and b"RATE = 7" in zlib.decompress(file.read_bytes()):
            file.unlink()
    assert _lines(ask("why", "fees.py", "--format", "json"), recorded) == [
        (1, 1, "exact", "c1", []),
        (2, 2, "exact", "c2", ["c1"]),
        (3, 4, "untracked", None, []),
    ]


def test_a_call_whose_record_is_gone_is_named_by_its_id(
    world: World, recorded: Recorded, ask: Command
) -> None:
    (segment,) = (world.folder / ".git" / "tool-intent").glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    lost = next(one for one, name in recorded.names.items() if name == "c1")
    kept = [
        line for line in lines if not (b'"decision"' in line and f'"id":"{lost}"'.encode() in line)
    ]
    segment.write_bytes(b"no record\n" + b"".join(kept) + b'{"v":')
    done = ask("why", "fees.py:1")
    assert f"exact        call {lost}, whose record is gone" in done.out


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("session", 1),
        ("call", []),
        ("decision", None),
        ("entries", "x"),
        ("entries", [1, {"at": 2}]),
    ],
)
def test_a_faulty_record_is_told_as_far_as_it_goes(
    member: str, value: Any, world: World, recorded: Recorded, ask: Command
) -> None:
    (segment,) = (world.folder / ".git" / "tool-intent").glob("*.jsonl")
    stored = [json.loads(line) for line in segment.read_bytes().splitlines()]
    for record in stored:
        if record["type"] == "decision":
            record[member] = value
    lines = [json.dumps(record, separators=(",", ":")) for record in stored]
    segment.write_text("".join(f"{line}\n" for line in lines))
    assert "1         exact" in ask("why", "fees.py:1").out
    assert _lines(ask("why", "fees.py:1", "--format", "json"), recorded)[0][3] == "c1"


# --- seals ---------------------------------------------------------------------------------------


@pytest.fixture
def clone(world: World, recorded: Recorded, ask: Command, tmp_path: Path) -> Command:
    """A clone, without a ledger, of a repository whose last commit was sealed."""
    world.commit("all")
    done = ask("seal")
    assert done.code == 0, done.err
    assert "Sealed 1 file of" in done.out
    assert "by 2 calls" in done.out
    world.repository.git(
        "clone", "--quiet", "--no-local", str(world.folder), str(tmp_path / "clone")
    )
    return Inside(tmp_path, tmp_path / "clone")


FETCH = ("fetch", "--quiet", "origin", "refs/notes/tool-intent:refs/notes/tool-intent")


def _git(command: Command, *arguments: str) -> str:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
    done = subprocess.run(git, cwd=command.cwd, capture_output=True, check=True, timeout=60)
    return done.stdout.decode().strip()


def test_a_clone_without_the_ledger_answers_by_the_notes(
    clone: Command, recorded: Recorded
) -> None:
    assert clone("why", "fees.py").code == 2
    _git(clone, *FETCH)
    expected = [(1, 1, "exact", "c1", []), (2, 2, "exact", "c2", ["c1"]),
                (3, 3, "untracked", None, [])]  # fmt: skip
    assert _lines(clone("why", "fees.py", "--format", "json"), recorded) == expected
    told = clone("why", "fees.py:2").out
    assert "intent: Do c2." in told
    assert "(sealed)" in told


def test_a_clone_answers_for_what_came_after_the_seal(clone: Command, recorded: Recorded) -> None:
    _git(clone, *FETCH)
    _git(clone, "mv", "fees.py", "rates.py")
    _git(clone, "commit", "--quiet", "--message=renamed")
    text = (clone.cwd / "rates.py").read_text()
    (clone.cwd / "rates.py").write_text("import math\n" + text.replace("// 100", "// 99"))
    assert _lines(clone("why", "rates.py", "--format", "json"), recorded) == [
        (1, 1, "untracked", None, []),
        (2, 2, "exact", "c1", []),
        (3, 3, "edited-after", None, ["c2", "c1"]),
        (4, 4, "untracked", None, []),
    ]


def test_a_seal_survives_the_commit_it_was_made_for(clone: Command, recorded: Recorded) -> None:
    _git(clone, *FETCH)
    _git(clone, "checkout", "--quiet", "--orphan", "squashed")
    _git(clone, "commit", "--quiet", "--message=one commit of all")
    _git(clone, "branch", "--quiet", "-D", "main")
    found = _lines(clone("why", "fees.py", "--format", "json"), recorded)
    assert [run[3] for run in found] == ["c1", "c2", None]
    assert clone("seal").code == 0
    assert _git(clone, "notes", "--ref=tool-intent", "list", "HEAD")


def _note(file: str) -> str:
    return f'{{"v":"tool-intent.seal/1","files":[{file}],"calls":{{}}}}'


@pytest.mark.parametrize(
    "note",
    [
        "", "[]", "{", '{"v":"tool-intent.seal/1"}',
        '{"v":"tool-intent.seal/2","files":[],"calls":{}}',
        _note('{"path":"fees.py","blob":BLOB,"lines":[[1,9,"exact",5]]}'),
        _note('{"path":"fees.py","blob":BLOB,"lines":[["a",2,"exact",[]]]}'),
        _note('{"path":"fees.py","blob":BLOB,"lines":[[1,2,"exact",[[{},[]]]]]}'),
        _note('{"path":"fees.py","blob":"../../x","lines":[]}'),
    ],
)  # fmt: skip
def test_a_note_that_is_none_of_ours_tells_nothing(
    note: str, world: World, ask: Command, tmp_path: Path
) -> None:
    world.commit("all")
    blob = json.dumps(world.repository.git("rev-parse", "HEAD:fees.py"))
    (tmp_path / "note").write_text(note.replace("BLOB", blob) or "\n")
    world.repository.git(
        "notes", "--ref=tool-intent", "add", "--allow-empty", "-F", str(tmp_path / "note")
    )
    done = ask("why", "fees.py")
    assert done.code == 2, done.out
    assert "nothing is known here" in done.err


def test_a_note_can_credit_lines_to_no_more_than_there_are(
    world: World, ask: Command, tmp_path: Path
) -> None:
    world.commit("all")
    blob = world.repository.git("rev-parse", "HEAD:fees.py")
    lines = [[1, 10**12, "exact", [["x\x1b[0m", []]]]]
    file = {"path": "fees.py", "blob": blob, "lines": lines}
    note = {"v": "tool-intent.seal/1", "files": [file], "calls": {"x\x1b[0m": {"tool": ["\x1b"]}}}
    (tmp_path / "note").write_text(json.dumps(note))
    world.repository.git("notes", "--ref=tool-intent", "add", "-F", str(tmp_path / "note"))
    done = ask("why", "fees.py")
    assert done.code == 0, done.err
    assert "1-3       exact" in done.out
    assert "\x1b" not in done.out


def test_a_commit_in_which_no_line_is_a_calls_is_not_sealed(world: World, ask: Command) -> None:
    world.commit("all")
    done = ask("seal", "HEAD", "--format", "json")
    assert json.loads(done.out)["files"] == []
    assert not world.repository.git("for-each-ref", "refs/notes")


def test_a_seal_is_marked_in_the_ledger(clone: Command, world: World) -> None:
    (segment,) = (world.folder / ".git" / "tool-intent").glob("*.jsonl")
    last = json.loads(segment.read_bytes().splitlines()[-1])
    assert (last["type"], last["kind"]) == ("marker", "sealed")
    assert last["detail"]["commit"] == world.repository.git("rev-parse", "HEAD")
    assert (last["detail"]["files"], last["detail"]["calls"]) == (1, 2)


def test_the_demo_ends_with_why_each_line_of_a_changed_file_is_there(tmp_path: Path) -> None:
    demo = ROOT / "tests" / "assets" / "demo" / "demo.sh"
    env = Command(tmp_path, ROOT).environment({"BIN": str(COMMAND.parent), "TMPDIR": str(tmp_path)})
    done = subprocess.run(
        ["sh", demo], cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.rpartition("/fees.py\n")[2].splitlines()
    assert [line.split()[:3] for line in told if line[:1].isdigit()] == [
        ["1", "exact", "write"], ["2", "exact", "edit"], ["3", "exact", "edit"],
    ]  # fmt: skip
    assert "          rationale: Finance asks for 1 % of the amount, in cents." in told
    [report] = tmp_path.glob("tmp.*")
    assert list(report.iterdir()) == [report / "report.html"]
