"""Policies that can be used, and those that cannot: nothing is ever judged by half of one."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from .command import Command, Done, call, lines, reasoned, rules, tree

CASES: Final = yaml.safe_load(Path(__file__).with_name("policies.yaml").read_text("utf-8"))
NAMES: Final = [case["name"] for case in CASES]
_TIMES: Final = 300_000
#: Two calls and a line that is none.
SESSION: Final = lines(reasoned("read", path="a"), call("bash", command="ls")) + "nonsense\n"


def write(path: Path, text: str) -> Path:
    """A policy file with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def _written(case: dict[str, Any], command: Command) -> Path:
    path = write(command.cwd / ".tool-intent" / "policy.yaml", "")
    if "hex" in case:
        path.write_bytes(bytes.fromhex(case["hex"]))
    else:
        path.write_text(case["text"] + case.get("repeat", "") * _TIMES)
    return path


def _refused(done: Done, *said: str) -> None:
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    for text in said:
        assert text in done.err


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_broken_policy_given_judges_nothing_and_says_where_it_is_broken(
    case: dict[str, Any], bare: Command
) -> None:
    path = _written(case, bare)
    shown = str(path.relative_to(bare.cwd))
    done = bare("decide", "--policy", shown, stdin=SESSION)
    said = [f"{shown}{text}" if text[0] == ":" else text for text in case["says"]]
    _refused(done, *said, "tool-intent: the policy is broken")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_broken_policy_found_denies_every_call(case: dict[str, Any], bare: Command) -> None:
    _written(case, bare)
    done = bare("decide", stdin=SESSION)
    assert done.code == 2, "for the line that is no call"
    *judged, nonsense = done.answers
    assert nonsense["error"]["code"] == "input/not-json"
    for answer, tool in zip(judged, ("read", "bash"), strict=True):
        assert answer["id"] == tool
        assert answer["decision"] == "deny"
        assert ("policy/broken", "", "deny") in rules(answer)
        assert "a person" in answer["message"] or "the user" in answer["message"]


def test_check_reports_all_that_is_broken_in_one_go(bare: Command) -> None:
    home = bare.cwd
    for number, case in enumerate(CASES):
        bare.cwd = home / str(number)
        _written(case, bare)
    paths = [f"{number}/.tool-intent/policy.yaml" for number in range(len(CASES))]
    bare.cwd = home
    done = bare("check", *paths)
    assert done.code == 2, "some of them cannot be read"
    for path, case in zip(paths, CASES, strict=True):
        for said in case["says"]:
            if said != "and 2 more":
                assert (f"{path}{said}" if said[0] == ":" else said) in done.out, case["name"]


def test_run_carries_out_nothing_under_a_broken_policy(bare: Command, tmp_path: Path) -> None:
    write(bare.cwd / ".tool-intent" / "policy.yaml", "version: 1\ntool: {}\n")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    written = json.dumps(reasoned("write", path="a", content="x")["args"])
    done = bare("run", "write", written, "--workspace", workspace, "--yes")
    assert done.code == 1
    assert "policy/broken" in done.out
    assert tree(workspace) == {}


@pytest.mark.parametrize("endings", ["\r\n", "\n"])
def test_line_endings_make_no_difference(endings: str, bare: Command) -> None:
    lines_ = ["version: 1", "fields:", "  ticket: {pattern: '^T-1$'}", "tools:", "  x:",
              "    require: [ticket]", ""]  # fmt: skip
    write(bare.cwd / ".tool-intent" / "policy.yaml", endings.join(lines_))
    right, wrong = bare.decide(call("x", ticket="T-1"), call("x", ticket="T-1\r"))
    assert right["decision"] == "allow"
    assert [r for r, *_ in rules(wrong)] == ["fields/pattern"]
    assert wrong["findings"][0]["origin"] == ".tool-intent/policy.yaml:3"


def test_a_byte_order_mark_makes_no_difference(bare: Command) -> None:
    write(bare.cwd / ".tool-intent" / "policy.yaml", "\ufeffversion: 1\nextends: std/baseline\n")
    (answer,) = bare.decide(call("bash", command="ls"))
    assert answer["decision"] == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\n",
        "version: 1\npolicy: acme/nothing\nextends: []\n",
        "version: 1\nfields: {ticket: {}}\n",
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_a_policy_that_asks_for_nothing_judges_only_where_that_is_meant(
    given: bool, text: str, bare: Command
) -> None:
    path = write(bare.cwd / ".tool-intent" / "policy.yaml", text)
    options = ("--policy", str(path)) if given else ()
    _refused(bare("decide", *options, stdin=SESSION), "asks for nothing", "policy.yaml")
    done = bare("decide", *options, "--allow-empty", stdin=lines(call("bash", command="ls")))
    assert (done.code, done.answers[0]["decision"]) == (0, "allow")


def test_a_folder_in_place_of_a_policy_is_never_passed_over(bare: Command) -> None:
    (bare.cwd / ".tool-intent" / "policy.yaml").mkdir(parents=True)
    (answer,) = bare.decide(reasoned("read", path="a"))
    assert rules(answer)[0] == ("policy/broken", "", "deny")
    assert bare("check").code == 2
    _refused(bare("decide", "--policy", ".tool-intent/policy.yaml", stdin=SESSION), "folder")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fifo", "dangling link", "circular link", "device"])
def test_what_is_no_file_is_refused_without_waiting_for_it(kind: str, bare: Command) -> None:
    path = bare.cwd / ".tool-intent" / "policy.yaml"
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    else:
        target = {"dangling link": "nowhere", "circular link": path, "device": "/dev/zero"}[kind]
        path.symlink_to(target)
    (answer,) = bare.decide(reasoned("read", path="a"))
    assert rules(answer)[0] == ("policy/broken", "", "deny")
    assert bare("check").code == 2
    assert bare("decide", "--policy", path, stdin=SESSION).code == 2


@pytest.mark.parametrize("what", ["file", "folder"])
def test_an_unreadable_policy_denies_and_is_never_skipped(what: str, plain: Command) -> None:
    folder = plain.cwd / ".tool-intent"
    target = folder / "policy.yaml" if what == "file" else folder
    target.chmod(0)
    try:
        done = plain("decide", stdin=lines(reasoned("read", path="a")), restricted="no-override")
        given = plain(
            "decide", "--policy", ".tool-intent/policy.yaml", stdin=SESSION,
            restricted="no-override",
        )  # fmt: skip
        checked = plain("check", restricted="no-override")
    finally:
        target.chmod(0o700)
    assert done.code == 0
    assert rules(done.answers[0])[0] == ("policy/broken", "", "deny")
    assert "permission denied" in done.answers[0]["message"].lower()
    assert (given.code, given.out) == (2, "")
    assert checked.code == 2


def test_an_unreadable_extended_file_denies_and_is_never_skipped(payments: Command) -> None:
    hidden = payments.cwd / ".tool-intent" / "ticket.yaml"
    hidden.chmod(0)
    done = payments("decide", stdin=lines(reasoned("read", path="a")), restricted="no-override")
    assert rules(done.answers[0])[0] == ("policy/broken", "", "deny")


def test_a_name_that_is_none_is_answered_with_the_nearest_pack(plain: Command) -> None:
    done = plain("decide", "--policy", "std/baselin", stdin=SESSION)
    _refused(done, "no file, folder or pack called `std/baselin`", "did you mean `std/baseline`?")
    _refused(plain("decide", "--policy", "zzz", stdin=SESSION), "packs: ", "std/baseline")
    assert plain("check", "std/baselin").code == 2


def test_policies_given_judge_alone(payments: Command) -> None:
    (found,) = payments.decide(reasoned("write", path="a", content="x"))
    (given,) = payments.decide(
        reasoned("write", path="a", content="x"), options=("--policy", "std/baseline")
    )
    assert rules(found) == [("fields/missing", "/ticket", "deny")]
    assert rules(given) == []


def test_several_policies_add_up(bare: Command) -> None:
    for name in ("ticket", "risk"):
        needs = f"fields: {{{name}: {{}}}}\ntools: {{bash: {{require: [{name}]}}}}\n"
        write(bare.cwd / f"{name}.yaml", f"version: 1\n{needs}")
    options = ("--policy", "ticket.yaml", "--policy=risk.yaml", "--policy", "std/baseline")
    (answer,) = bare.decide(call("bash", command="ls", intent="List"), options=options)
    missing = {at for _, at, _ in rules(answer)}
    assert missing == {"/ticket", "/risk", "/rationale"}
    one = bare.decide(call("bash", command="ls"), options=options[:2])
    assert {at for _, at, _ in rules(one[0])} == {"/ticket"}


def test_one_broken_policy_of_several_judges_nothing(bare: Command) -> None:
    write(bare.cwd / "broken.yaml", "version: 1\ntool: {}\n")
    done = bare("decide", "--policy", "std/baseline", "--policy", "broken.yaml", stdin=SESSION)
    _refused(done, "broken.yaml:2:1: error:")


def test_a_folder_may_be_given_and_one_without_policy_is_refused(payments: Command) -> None:
    options = ("--policy", ".tool-intent")
    (answer,) = payments.decide(reasoned("write", path="a", content="x"), options=options)
    assert rules(answer) == [("fields/missing", "/ticket", "deny")]
    (payments.cwd / "empty").mkdir()
    _refused(payments("decide", "--policy", "empty", stdin=SESSION), "holds no policy")
    _refused(payments("decide", "--policy", ".", stdin=SESSION), "did you mean `./.tool-intent`?")


@pytest.mark.parametrize(
    ("unlisted", "decision", "finding"),
    [
        ("allow", "allow", []),
        ("note", "allow", [("tools/unlisted", "", "note")]),
        ("warn", "allow", [("tools/unlisted", "", "warn")]),
        ("ask", "ask", [("tools/unlisted", "", "ask")]),
        ("deny", "deny", [("tools/unlisted", "", "deny")]),
    ],
)
def test_an_unlisted_tool_gets_the_effect_that_the_policy_says(
    unlisted: str, decision: str, finding: list[tuple[str, str, str]], bare: Command
) -> None:
    text = f"version: 1\nextends: std/baseline\nunlisted: {unlisted}\n"
    write(bare.cwd / ".tool-intent" / "policy.yaml", text)
    unknown, listed = bare.decide(call("surf", url="x"), reasoned("read", path="a"))
    assert unknown["decision"] == decision
    assert rules(unknown) == finding
    assert unknown["args"] == {"url": "x"}
    assert listed["decision"] == "allow", "a tool that a key matches is listed"
    if finding:
        assert unknown["findings"][0]["origin"] == ".tool-intent/policy.yaml:3"
