"""Which policies apply where: folders, ranks and settings of the environment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .command import Command, call, lines, reasoned, rules
from .test_policies import write

RISK = "version: 1\nfields: {risk: {}}\ntools: {bash: {require: [risk]}}\n"
TICKET = "version: 1\nfields: {ticket: {}}\ntools: {bash: {require: [ticket]}}\n"


def missing(command: Command, *options: str, cwd: Path | None = None, **env: str) -> set[str]:
    """The fields that a bash call without any reason lacks."""
    done = command("decide", *options, stdin=lines(call("bash", command="ls")), env=env, cwd=cwd)
    assert (done.code, done.err) == (0, ""), done
    return {at for rule, at, _ in rules(done.answers[0]) if rule == "fields/missing"}


def ranks(command: Command, *options: str, cwd: Path | None = None, **env: str) -> dict[str, str]:
    """The policies that apply, by the name they are shown under, with their ranks."""
    done = command("show", "--sources", "--format", "json", *options, env=env, cwd=cwd)
    assert (done.code, done.err) == (0, ""), done
    rows = json.loads(done.out)
    return {r["source"]: r["rank"] for r in rows if r["state"] == "loaded"
            and r["rank"] != "shipped"}  # fmt: skip


def test_no_policy_is_no_licence_and_the_places_looked_at_are_named(bare: Command) -> None:
    done = bare("decide", stdin=lines(call("bash", command="ls")))
    assert (done.code, done.out) == (2, "")
    assert "no policy found" in done.err
    for place in ("/etc/tool-intent", "~/.config/tool-intent", f"{bare.cwd}/.tool-intent"):
        assert place in done.err
    assert bare("check").code == 2
    assert bare("run", "bash", '{"command": "ls"}').code == 2
    assert bare("show", "--effective").code == 2


def test_the_outermost_folder_is_the_repository_and_inner_ones_add(payments: Command) -> None:
    ledger = payments.cwd / "ledger"
    book = reasoned("write", path="entries.py", content="", ticket="PAY-1")
    (outside,) = payments.decide(book)
    inside = payments("decide", stdin=lines(book), cwd=ledger).answers[0]
    assert outside["decision"] == "allow"
    assert rules(inside) == [("fields/missing", "/reviewer", "deny")]
    assert inside["findings"][0]["origin"] == "ledger/.tool-intent/policy.yaml:6"
    assert ranks(payments) == {
        ".tool-intent/policy.yaml": "repo",
        ".tool-intent/ticket.yaml": "repo",
        "std/baseline": "repo",
    }
    found = ranks(payments, cwd=ledger)
    assert found[".tool-intent/policy.yaml"] == "repo"
    assert found["ledger/.tool-intent/policy.yaml"] == "directory"


def test_the_start_folder_may_be_given(payments: Command) -> None:
    book = lines(reasoned("write", path="a", content="", ticket="PAY-1"))
    done = payments("decide", "--cwd", "ledger", stdin=book)
    assert rules(done.answers[0]) == [("fields/missing", "/reviewer", "deny")]
    assert payments("decide", "--cwd", payments.cwd / "ledger", stdin=book, cwd=Path("/")) == done


def test_a_start_folder_that_does_not_exist_is_refused(payments: Command) -> None:
    done = payments("decide", "--cwd", "legder", stdin=lines(call("bash")))
    assert (done.code, done.out) == (2, "")
    assert "there is no folder 'legder'" in done.err


def test_a_repository_inside_stops_nothing(payments: Command) -> None:
    inner = payments.cwd / "vendor" / "lib"
    (inner / ".git").mkdir(parents=True)
    assert missing(payments, cwd=inner) == {"/intent", "/rationale"}


def test_a_link_to_a_folder_is_the_folder(payments: Command, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").symlink_to(payments.cwd / "ledger")
    found = ranks(payments, cwd=tmp_path / "elsewhere")
    assert found["ledger/.tool-intent/policy.yaml"] == "directory"


def test_an_inner_broken_policy_denies_only_where_it_applies(payments: Command) -> None:
    write(payments.cwd / "ledger" / ".tool-intent" / "policy.yaml", "version: 1\nfield: {}\n")
    allowed = reasoned("bash", command="ls")
    assert payments.decide(allowed)[0]["decision"] == "allow"
    inside = payments("decide", stdin=lines(allowed), cwd=payments.cwd / "ledger").answers[0]
    assert rules(inside) == [("policy/broken", "", "deny")]
    assert "ledger/.tool-intent/policy.yaml" in inside["message"]


def test_the_user_s_own_policies_apply_everywhere(bare: Command, plain: Command) -> None:
    write(bare.home / ".config" / "tool-intent" / "risk.yaml", RISK)
    assert missing(bare) == {"/risk"}
    assert missing(plain) == {"/risk", "/intent", "/rationale"}
    assert ranks(bare) == {"~/.config/tool-intent/risk.yaml": "user"}
    elsewhere = bare.home / "settings"
    write(elsewhere / "tool-intent" / "ticket.yaml", TICKET)
    assert missing(bare, XDG_CONFIG_HOME=str(elsewhere)) == {"/risk", "/ticket"}


def test_the_environment_adds_policies_at_session_rank(plain: Command, tmp_path: Path) -> None:
    risk, ticket = write(tmp_path / "risk.yaml", RISK), write(tmp_path / "t" / "t.yaml", TICKET)
    both = {"TOOL_INTENT_POLICY": f"{risk}:{ticket.parent}"}
    assert missing(plain, **both) == {"/risk", "/ticket", "/intent", "/rationale"}
    found = ranks(plain, **both)
    assert found[str(risk)] == found[str(ticket)] == "session"
    assert missing(plain, TOOL_INTENT_POLICY="") == {"/intent", "/rationale"}


def test_the_environment_replaces_nothing_and_loosens_nothing(
    payments: Command, tmp_path: Path
) -> None:
    loose = write(
        tmp_path / "loose.yaml",
        "version: 1\nfields: {rationale: {minLength: 1}}\n"
        "tools: {'*': {optional: [rationale], effect: note}}\nunlisted: allow\n",
    )
    short = reasoned("bash", command="ls") | {"args": {"intent": "a", "rationale": "short"}}
    for env in ({}, {"TOOL_INTENT_POLICY": str(loose)}):
        answer = payments("decide", stdin=lines(short), env=env).answers[0]
        assert ("fields/minLength", "/rationale", "deny") in rules(answer)


@pytest.mark.parametrize("name", ["nowhere.yaml", "std/baselin"])
def test_the_environment_naming_nothing_denies(name: str, plain: Command) -> None:
    done = plain(
        "decide", stdin=lines(reasoned("bash", command="ls")), env={"TOOL_INTENT_POLICY": name}
    )
    assert rules(done.answers[0]) == [("policy/broken", "", "deny")]
    assert name in done.answers[0]["message"]


def test_an_organisation_s_folder_is_added_and_must_be_there(
    plain: Command, tmp_path: Path
) -> None:
    folder = write(tmp_path / "org" / "risk.yaml", RISK).parent
    assert missing(plain, TOOL_INTENT_ORG_DIR=str(folder)) == {"/risk", "/intent", "/rationale"}
    assert ranks(plain, TOOL_INTENT_ORG_DIR=str(folder))[f"{folder}/risk.yaml"] == "team"
    done = plain(
        "decide",
        stdin=lines(reasoned("bash", command="ls")),
        env={"TOOL_INTENT_ORG_DIR": str(tmp_path / "gone")},
    )
    assert rules(done.answers[0]) == [("policy/broken", "", "deny")]


def test_policies_given_to_decide_set_all_found_ones_aside(plain: Command, tmp_path: Path) -> None:
    risk = str(write(tmp_path / "risk.yaml", RISK))
    assert missing(plain, "--policy", risk) == {"/risk"}
    ticket = str(write(tmp_path / "ticket.yaml", TICKET))
    assert missing(plain, "--policy", risk, TOOL_INTENT_POLICY=ticket) == {"/risk"}


def test_policies_given_to_run_add_to_those_found(plain: Command, tmp_path: Path) -> None:
    risk = write(tmp_path / "risk.yaml", RISK)
    args = json.dumps(reasoned("bash", command="true")["args"])
    options = ("--workspace", tmp_path, "--format", "json")
    alone = plain("run", "bash", args, *options)
    added = plain("run", "bash", args, *options, "--policy", risk)
    assert (alone.code, rules(alone.answers[0])) == (0, [])
    assert (added.code, rules(added.answers[0])) == (1, [("fields/missing", "/risk", "deny")])
    only = plain("run", "bash", "{}", *options, "--policy", risk)
    assert len(rules(only.answers[0])) == 3


def test_a_yml_file_is_not_passed_over_in_silence(bare: Command) -> None:
    write(bare.cwd / ".tool-intent" / "policy.yml", RISK)
    done = bare("decide", stdin=lines(call("bash", command="ls")))
    assert rules(done.answers[0])[0] == ("policy/broken", "", "deny")
    assert ".yaml" in done.answers[0]["message"]


def test_a_layer_is_a_claim_that_is_checked(plain: Command) -> None:
    text = "version: 1\nlayer: {}\nextends: std/baseline\n"
    path = plain.cwd / ".tool-intent" / "policy.yaml"
    write(path, text.format("repo"))
    assert missing(plain) == {"/intent", "/rationale"}
    write(path, text.format("org"))
    answer = plain.decide(reasoned("bash", command="ls"))[0]
    assert rules(answer) == [("policy/broken", "", "deny")]
