"""The environment of a call adds to what is asked; it takes nothing away and grants nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from .command import COMMAND, DEADLINE, Command, call, lines, reasoned, rules
from .test_policies import write

RISK = "version: 1\nfields: {risk: {}}\ntools: {bash: {require: [risk]}}\n"
LS = lines(call("bash", command="ls"))


def missing(command: Command, **env: str) -> set[str]:
    done = command("decide", stdin=LS, env=env)
    assert (done.code, done.err) == (0, ""), done
    return {at for rule, at, _ in rules(done.answers[0]) if rule == "fields/missing"}


def run(command: Command, **env: str) -> list[str]:
    """The rules that a bash call with all reasons breaks, where it would be carried out."""
    args = json.dumps(reasoned("bash", command="true")["args"])
    done = command("run", "bash", args, "--format", "json", env=env)
    return [rule for rule, _, _ in rules(done.answers[0])]


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"HOME": "/nowhere"},
        {"XDG_CONFIG_HOME": "/nowhere"},
        {"HOME": "/nowhere", "XDG_CONFIG_HOME": "/nowhere"},
        {"HOME": ""},
    ],
    ids=str,
)
def test_no_setting_hides_the_policies_of_the_account(env: dict[str, str], plain: Command) -> None:
    write(plain.home / ".config" / "tool-intent" / "risk.yaml", RISK)
    plain.account = plain.home
    assert missing(plain, **env) == {"/risk", "/intent", "/rationale"}


MOVED = """
mount --bind {passwd} /etc/passwd && exec {command} decide
"""


def test_the_account_is_that_of_the_password_file(plain: Command, tmp_path: Path) -> None:
    if shutil.which("unshare") is None or os.system("unshare -m true 2>/dev/null"):
        pytest.skip("needs a mount name space of its own (unshare -m)")
    account = tmp_path / "account"
    write(account / ".config" / "tool-intent" / "risk.yaml", RISK)
    passwd = tmp_path / "passwd"
    passwd.write_text(f"me:x:{os.getuid()}:{os.getgid()}:me:{account}:/bin/sh\n")
    script = MOVED.format(passwd=passwd, command=COMMAND)
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        input=LS.encode(), capture_output=True, cwd=plain.cwd, env=plain.environment({}),
        timeout=DEADLINE, check=True,
    )  # fmt: skip
    found = {at for _, at, _ in rules(json.loads(done.stdout))}
    assert found == {"/risk", "/intent", "/rationale"}


def test_a_home_inside_the_workspace_does_not_make_its_cache_trusted(bare: Command) -> None:
    account = bare.account = bare.home
    write(account / ".config" / "tool-intent" / "risk.yaml", RISK)
    inside = bare.cwd / ".home"
    inside.mkdir()
    done = bare("decide", stdin=LS, env={"HOME": str(inside)})
    assert "lies inside the workspace" in done.err
    assert not (inside / ".cache").exists()


def test_a_cache_in_the_workspace_by_a_roundabout_way_is_not_used(plain: Command) -> None:
    roundabout = f"{plain.cwd}/../{plain.cwd.name}/x/../.cache"
    done = plain("decide", stdin=LS, env={"TOOL_INTENT_CACHE": roundabout})
    assert "lies inside the workspace" in done.err
    assert not (plain.cwd / ".cache").exists()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("TOOL_INTENT_POLICY", "gone.yaml", "TOOL_INTENT_POLICY names it"),
        ("TOOL_INTENT_ORG_DIR", "gone", "TOOL_INTENT_ORG_DIR names it"),
        ("TOOL_INTENT_POLICY", "broken.yaml", "broken.yaml cannot be used: line 2"),
        ("TOOL_INTENT_POLICY", "fifo.yaml", "is a FIFO"),
        ("TOOL_INTENT_POLICY", "one.yaml:broken.yaml", "broken.yaml cannot be used: line 2"),
        ("TOOL_INTENT_ORG_DIR", "org", "org/broken.yaml cannot be used: line 2"),
    ],
)
def test_what_the_environment_names_and_cannot_be_used_denies_and_is_named(
    name: str, value: str, reason: str, plain: Command
) -> None:
    write(plain.cwd / "one.yaml", RISK)
    write(plain.cwd / "broken.yaml", "version: 1\ntool: {}\n")
    write(plain.cwd / "org" / "broken.yaml", "version: 1\ntool: {}\n")
    os.mkfifo(plain.cwd / "fifo.yaml")
    allowed = lines(reasoned("bash", command="ls"))
    answer = plain("decide", stdin=allowed, env={name: value}).answers[0]
    assert ("policy/broken", "", "deny") in rules(answer)
    assert reason in answer["message"]


def test_init_and_run_remember_the_root_and_decide_does_not(bare: Command, plain: Command) -> None:
    roots = bare.home / ".local" / "state" / "tool-intent" / "roots"
    plain.decide(reasoned("bash", command="ls"))
    assert not roots.exists()
    assert run(plain) == []
    assert bare("init").code == 0
    assert roots.read_text() == f"{plain.cwd}\n{bare.cwd}\n"


@pytest.mark.slow
def test_a_policy_that_was_there_before_is_missed_by_every_command(plain: Command) -> None:
    assert run(plain) == []
    shutil.rmtree(plain.cwd / ".tool-intent")
    assert run(plain) == ["policy/missing"]
    (answer,) = plain.decide(reasoned("bash", command="ls"))
    assert rules(answer) == [("policy/missing", "", "deny")]
    assert f"remove the line `{plain.cwd}` from ~/.local" in answer["message"]
    shown = plain("show", "--sources").out
    assert "missing  repo" in shown
    checked = plain("check")
    assert (checked.code, "[policy/missing]" in checked.out) == (1, True)
    (plain.home / ".local" / "state" / "tool-intent" / "roots").unlink()
    assert "no policy found" in plain("check").err


SECRET = "s3cr3t-0f-the-person"


@pytest.mark.slow
def test_a_policy_linked_to_a_secret_shows_nothing_of_it(plain: Command, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    path = plain.cwd / ".tool-intent" / "policy.yaml"
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    said = [
        plain("check"), plain("show", "--effective"), plain("show", "--sources"), plain("test"),
        plain("decide", stdin=LS), plain("run", "bash", '{"command": "ls"}'),
        plain("explain", stdin=LS),
    ]  # fmt: skip
    assert not [done for done in said if SECRET in done.out + done.err]
    assert "leads out of" in said[0].out
    assert rules(said[4].answers[0]) == [("policy/broken", "", "deny")]


def test_run_notices_a_policy_that_its_own_call_changes(plain: Command) -> None:
    """A session of which one call edits the policy: the rest is judged as if it had not."""
    policy = ".tool-intent/policy.yaml"
    session = lines(
        reasoned("write", path=policy, content="version: 1\ntools: {x: {require: [intent]}}\n"),
        reasoned("bash", command="sleep 0.2"),
        call("bash", command="true"),
    )
    done = plain(
        "run", "--session", "-", "--workspace", plain.cwd, "--format", "json", stdin=session
    )
    assert [a["decision"] for a in done.answers] == ["allow", "allow", "deny"]
    assert {at for _, at, _ in rules(done.answers[2])} == {"/intent", "/rationale"}
    assert plain.cwd.joinpath(policy).read_text().startswith("version: 1\ntools: {x:")
