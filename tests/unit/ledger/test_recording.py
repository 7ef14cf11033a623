"""What is recorded of a call, by whichever surface."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from tool_intent import Denied, Guard
from tool_intent.guard.recording import ledger
from tool_intent.ledger.appending import Appender
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.reading import records
from tool_intent.ledger.recording import LedgerRecorder
from tool_intent.ledger.verifying import verify

ROOT: Final = Path(__file__).parents[3]
SCHEMA: Final = json.loads((ROOT / "policies/schema/record.schema.json").read_text("utf-8"))
WHY: Final = {"intent": "Refuse expired sessions", "rationale": "#412: login() checks too late."}
POLICY: Final = "version: 1\nextends: std/baseline\n"


class World:
    """A repository with a policy, and the calls made in it."""

    def __init__(self, folder: Path, policy: str = POLICY) -> None:
        self.folder = folder
        (folder / ".tool-intent").mkdir(parents=True)
        (folder / ".tool-intent" / "policy.yaml").write_text(policy)
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
        self.ledger = folder / ".git" / "tool-intent"
        self.guard = Guard.load(cwd=str(folder))

    def call(self, tool: str, args: dict[str, Any], execute: Any = None, **more: Any) -> Any:
        try:
            return self.guard.call(tool, args, execute or (lambda _: None), **more)
        except Denied:
            return "denied"

    @property
    def kept(self) -> list[Any]:
        found = list(records(str(self.ledger)))
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        assert verify(str(self.ledger)).whole
        return [r for r in found if r["type"] in ("decision", "outcome")]

    def write(self, name: str, text: str) -> Any:
        return lambda _: (self.folder / name).write_text(text)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.delenv("TOOL_INTENT_LEDGER")
    return World(tmp_path / "payments")


def test_a_decision_says_who_called_what_why_and_by_which_rules(world: World) -> None:
    given = {"path": "login.py", "content": "secret plan", **WHY}
    context = {"agent": "pi", "model": "m-1"}
    world.call("write", given, id=7, session="s", context=context)
    decision, outcome = world.kept
    assert decision["session"] == {"id": "s", "agent": "pi", "model": "m-1"}
    assert decision["actor"].items() >= {
        "repo": "payments", "worktree": str(world.folder), "branch": "main",
    }.items()  # fmt: skip
    assert decision["call"] == {"id": 7, "tool": "write", "surface": "python"}
    assert decision["entries"] == [{"at": "", **WHY}]
    assert decision["actions"] == [{"kind": "write", "path": "login.py"}]
    assert decision["args"]["kept"] == {"path": "login.py"}
    assert decision["args"]["original"] != decision["args"]["executed"]
    assert decision["decision"] == {"verdict": "allow", "policy": world.guard.policy}
    assert (outcome["of"], outcome["ok"]) == (decision["id"], True)
    assert b"secret plan" not in b"".join(p.read_bytes() for p in world.ledger.glob("*.jsonl"))


def test_a_denial_has_its_findings_and_what_is_said_better_names_it(world: World) -> None:
    bad = {"path": "a", "content": "x", "intent": "Refuse"}
    assert world.call("write", bad) == "denied"
    world.call("write", {"path": "b", "content": "x", **WHY})
    world.call("write", {"path": "a", "content": "x", **WHY})
    world.call("write", {"path": "a", "content": "x", **WHY})
    denied, other, _, mended, _, again, _ = world.kept
    (rule,) = denied["decision"]["rules"]
    assert (rule["id"], rule["effect"], rule["at"]) == ("fields/missing", "deny", "/rationale")
    assert rule["origin"].startswith("std/baseline:")
    assert "files" not in denied
    assert mended["decision"]["mended"] == denied["id"]
    assert "mended" not in other["decision"]
    assert "mended" not in again["decision"]


def test_files_are_kept_as_they_were_and_as_they_became(world: World) -> None:
    edits = [{"oldText": "a", "newText": "b", **WHY}, {"oldText": "c", "newText": "d", **WHY}]
    (world.folder / "sub").mkdir()
    (world.folder / "sub" / "login.py").write_text("a c")
    (world.folder / "link.py").symlink_to("sub/login.py")
    args = {"path": "link.py", "edits": edits}
    world.call("edit", args, world.write("sub/login.py", "b d"))
    world.call("write", {"path": "new.py", "content": "", **WHY}, world.write("new.py", "n"))
    decision, outcome, _, created = world.kept
    store = ObjectStore(str(world.ledger))
    (before,), (after,) = decision["files"], outcome["files"]
    assert before["path"] == after["path"] == "sub/login.py"
    assert before["pre"] == after["pre"]
    assert after["entries"] == ["/edits/0", "/edits/1"]
    assert (store.get(after["pre"]), store.get(after["post"])) == (b"a c", b"b d")
    assert [(f["path"], f["pre"]) for f in created["files"]] == [("new.py", None)]
    assert store.get(created["files"][0]["post"]) == b"n"


def _files(record: Any, store: ObjectStore) -> list[Any]:
    return [
        (f["path"], *(f[k] and store.get(f[k]) for k in ("pre", "post")), f.get("entries"))
        for f in record.get("files", ())
    ]


def test_each_entry_of_a_call_is_a_change_of_its_own(world: World) -> None:
    (world.folder / "a.py").write_text("a\nc\n")
    edits = [{"oldText": "c", "newText": "d", **WHY}, {"oldText": "a", "newText": "b", **WHY}]
    world.call("edit", {"path": "a.py", "edits": edits}, world.write("a.py", "b\nd\n"))
    store = ObjectStore(str(world.ledger))
    assert _files(world.kept[1], store) == [
        ("a.py", b"a\nc\n", b"a\nd\n", ["/edits/0"]),
        ("a.py", b"a\nd\n", b"b\nd\n", ["/edits/1"]),
    ]
    # What the edits did not make is of all of them.
    world.call("edit", {"path": "a.py", "edits": edits}, world.write("a.py", "b\nx\n"))
    assert _files(world.kept[3], store) == [
        ("a.py", b"b\nd\n", b"b\nx\n", ["/edits/0", "/edits/1"]),
    ]


def test_the_files_of_a_shell_command_are_kept_as_they_were_and_became(world: World) -> None:
    def run(_: Any) -> None:
        (world.folder / "a").rename(world.folder / "sub" / "b")
        (world.folder / "link").unlink()
        (world.folder / "link").symlink_to("/etc/passwd")

    (world.folder / "sub").mkdir()
    (world.folder / "a").write_text("a")
    (world.folder / "link").write_text("l")
    world.call("bash", {"command": "mv a sub/b; touch new; ln -sf /etc/passwd link", **WHY}, run)
    decision, outcome = world.kept
    paths = [file["path"] for file in decision["files"]]
    assert paths == ["sub/b", "sub/b/a", "new", "link", "a"]
    assert _files(outcome, ObjectStore(str(world.ledger))) == [
        ("sub/b", None, b"a", None),
        ("a", b"a", None, None),
    ]


def test_what_another_call_wrote_before_the_decision_was_kept_is_not_of_this_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = Appender.append

    def late(self: Appender, kind: Any, *more: Any, **named: Any) -> Any:
        if kind == "decision":
            (world.folder / "a").write_text("another's\n")
        return append(self, kind, *more, **named)

    (world.folder / "a").write_text("")
    (world.folder / "b").write_text("")
    monkeypatch.setattr(Appender, "append", late)
    world.call("bash", {"command": "tee a b", **WHY}, world.write("b", "own\n"))
    decision, outcome = world.kept
    assert [file["path"] for file in decision["files"]] == ["a", "b"]
    assert [file["path"] for file in outcome["files"]] == ["b"]


def test_a_command_is_not_taken_apart_for_a_tool_that_has_none(world: World) -> None:
    world.call("write", {"path": "x", "content": "", "command": "echo x > a", **WHY})
    world.call("read", {"path": "x", "command": "echo x > a", **WHY})
    found = [[f["path"] for f in r.get("files", ())] for r in world.kept if r["type"] == "decision"]
    assert found == [["x"], []]


def test_a_tool_that_fails_is_an_outcome_too(world: World) -> None:
    def fails(_: Any) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        world.call("write", {"path": "a", "content": "x", **WHY}, fails)
    assert [r["ok"] for r in world.kept if r["type"] == "outcome"] == [False]


def test_ti_081_credentials_are_left_out_as_the_record_is_written(world: World) -> None:
    token = "ghp_" + "a1" * 18
    said = {"intent": f"Push with {token}", "rationale": "The password is pg-9f3kd02lsm."}
    world.call("bash", {"command": f"git push https://me:{token}@git.test/a.git", **said})
    (decision, _) = world.kept
    raw = b"".join(p.read_bytes() for p in world.ledger.glob("*.jsonl"))
    assert token.encode() not in raw
    assert b"pg-9f3kd02lsm" not in raw
    assert decision["entries"][0]["intent"] == "Push with [redacted:github-token]"
    assert decision["args"]["redacted"] is True
    assert decision["actions"][0]["command"] == decision["args"]["kept"]["command"]
    assert [n["at"] for n in decision["redactions"]] == ["/intent", "/rationale", "/command"]


@pytest.mark.parametrize(
    "args",
    [
        None, [], "text", {"path": None, **WHY}, {"path": "a\0b", "content": "", **WHY},
        {"path": "a\ud800", "content": "", **WHY}, {"path": "~/../../x\ny", "content": "", **WHY},
        {"path": {"a": [float("nan")]}, "content": 1 << 70, **WHY},
        {"intent": ["a", {"b": float("inf")}], "rationale": {"deep": [[[]]]}, "path": "p"},
        {"intent": "\x1b[31m`![](x)`<!-- \u202e", "rationale": "x" * 100_000, "path": "p"},
    ],
)  # fmt: skip
def test_whatever_is_called_is_recorded(args: Any, world: World) -> None:
    world.call("write", args)
    assert world.kept[0]["type"] == "decision"


def test_policies_may_keep_more_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOL_INTENT_LEDGER")
    policy = POLICY + "ledger: {keep: [timeout], durability: full}\n"
    world = World(tmp_path / "w", policy)
    world.call("bash", {"command": "ls", "timeout": 7, "other": 1, **WHY})
    assert world.kept[0]["args"]["kept"] == {"command": "ls", "timeout": 7}


@pytest.mark.parametrize(("given", "said"), [("off", "is off"), ("https://a.test/l", "is a URL")])
def test_no_place_for_records_is_no_call_where_a_policy_requires_them(
    given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOL_INTENT_LEDGER", given)
    strict = World(tmp_path / "strict", POLICY + "audit: {required: true}\n")
    assert strict.call("write", {"path": "a", "content": "x", **WHY}) == "denied"
    assert said in strict.guard.notes[-1]
    easy = World(tmp_path / "easy")
    easy.call("write", {"path": "a", "content": "x", **WHY}, easy.write("a", "x"))
    assert (easy.folder / "a").exists()
    assert not easy.ledger.exists()
    assert any(said in note for note in easy.guard.notes) is (given != "off")


def test_nothing_is_made_before_a_call_is_recorded(tmp_path: Path) -> None:
    LedgerRecorder("run", str(tmp_path), {"TOOL_INTENT_LEDGER": "kept"})
    assert os.listdir(tmp_path) == []
    assert ledger("run", str(tmp_path)) is not None
