"""`log`, `verify`, and what commands record."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from .command import ASSETS, DEADLINE, Command, call, reasoned

WHY = {"intent": "Refuse expired sessions", "rationale": "#412: login() checks too late."}


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """A repository in which three calls were made, the second of which was refused; its home keeps
    what was compiled."""
    folder = tmp_path_factory.mktemp("once")
    (folder / "home").mkdir()
    plain = Command(folder / "home", Path(shutil.copytree(ASSETS / "plain", folder / "plain")))
    subprocess.run(["git", "init", "-q", "-b", "main", plain.cwd], check=True)
    session = "".join(
        json.dumps(one) + "\n"
        for one in [
            reasoned("write", path="src/a.py", content="a"),
            call("bash", command="ls"),
            call("bash", command="exit 3", intent="\x1b[31mred\u202e", rationale="[x](y) \n is it"),
        ]
    )
    done = plain("run", "--session", "-", "--workspace", ".", stdin=session)
    assert done.code == 1
    return plain


@pytest.fixture
def used(once: Command, tmp_path: Path) -> Command:
    """A copy of that repository."""
    return Command(once.home, Path(shutil.copytree(once.cwd, tmp_path / "plain")))


def log(command: Command, *options: str) -> list[str]:
    done = command("log", "--format", "json", *options)
    assert (done.code, done.err) == (0, ""), done
    return [f"{a['call']['tool']} {a['decision']['verdict']}" for a in done.answers]


@pytest.mark.parametrize(
    ("options", "tools"),
    [
        ((), ["write allow", "bash deny", "bash allow"]),
        (("--tool", "b*"), ["bash deny", "bash allow"]),
        (("--decision", "deny"), ["bash deny"]),
        (("--path", "src"), ["write allow"]),
        (("--path", "src/a.py", "--tool", "bash"), []),
        (("--rule", "fields/*"), ["bash deny"]),
        (("-n", "1"), ["bash allow"]),
        (("--since", "2000-01-01T00:00:00Z", "-n", "2"), ["bash deny", "bash allow"]),
        (("--since", "2999-01-01T00:00:00+02:00"), []),
        (("--session", "0"), ["write allow", "bash deny", "bash allow"]),
        (("--session", "nobody"), []),
    ],
)
def test_log_shows_what_was_asked_for(
    options: tuple[str, ...], tools: list[str], used: Command
) -> None:
    assert log(used, *options) == tools


def test_log_finds_a_file_from_a_folder_below(used: Command) -> None:
    done = used("log", "--path", "a.py", cwd=used.cwd / "src")
    assert "allow write src/a.py passed" in done.out


def test_log_shows_reasons_and_hides_nothing_that_a_terminal_would_obey(used: Command) -> None:
    done = used("log")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert r"intent: \u{1b}[31mred\u{202e}" in done.out
    assert "rationale: [x](y)  ⏎  is it" in done.out
    assert "deny: fields/missing at rationale" in done.out
    assert "allow bash exit 3 failed" in done.out


def test_verify_says_what_it_knows_and_no_more(used: Command) -> None:
    done = used("verify")
    assert done.code == 0
    assert "6 records in 1 segment: consistent, not authenticated" in done.out
    head = done.out.rpartition("head ")[2].strip()
    assert "it has the expected head" in used("verify", "--expect", head).out
    wrong = used("verify", "--expect", head[:-1] + ("0" if head[-1] != "0" else "1"))
    assert (wrong.code, "this is not the ledger that had it" in wrong.out) == (1, True)


def test_ti_075_verify_reports_a_bad_line_and_log_shows_the_others(used: Command) -> None:
    (path,) = (used.cwd / ".git" / "tool-intent").glob("*.jsonl")
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, b"garbage\n", *rest]))
    done = used("verify", "--format", "json")
    assert done.code == 1
    (found,) = done.answers
    assert [(p["place"], p["fault"]) for p in found["problems"]] == [(f"{path.name}:2", "line")]
    assert len(log(used)) == 3


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"TOOL_INTENT_LEDGER": "off"}, "TOOL_INTENT_LEDGER is off"),
        ({"TOOL_INTENT_LEDGER": "https://a.test"}, "TOOL_INTENT_LEDGER is a URL"),
        ({"TOOL_INTENT_LEDGER": "elsewhere"}, "no call was recorded yet"),
    ],
)
def test_no_ledger_is_said(env: dict[str, str], said: str, used: Command) -> None:
    for command in ("log", "verify"):
        done = used(command, env=env)
        assert (done.code, done.out) == (2, "")
        assert said in done.err


def test_log_takes_a_time_with_its_offset_only(used: Command) -> None:
    done = used("log", "--since", "2026-11-30")
    assert done.code == 2
    assert "--since takes an RFC 3339 time with an offset" in done.err


@pytest.mark.usefixtures("interrupts")
def test_follow_shows_calls_as_they_are_made(used: Command) -> None:
    # Without a buffer of ours, in which lines would be left that `communicate` does not look for.
    process = used.start(
        "log", "--follow", "--decision", "allow", "--format", "json", "-n", "0", bufsize=0
    )
    try:
        args = json.dumps({"path": "b.py", "content": "b", **WHY})
        # It may not have begun to look when the first of them is made.
        seen = b""
        while b'"outcome"' not in seen:
            assert used("run", "write", args, "--workspace", ".").code == 0
            assert process.poll() is None
            seen += process.stdout.readline() if _readable(process) else b""
    finally:
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, err) == (0, b"")
    assert all(json.loads(line)["call"]["tool"] == "write" for line in out.splitlines())


def _readable(process: subprocess.Popen[bytes]) -> bool:
    import select

    return bool(select.select([process.stdout], [], [], 1)[0])


def test_run_in_a_folder_of_its_own_is_recorded_where_it_was_asked_for(plain: Command) -> None:
    args = json.dumps({"path": "a", "content": "a", **WHY})
    assert plain("run", "write", args).code == 0
    # Outside of any repository.
    kept = plain.home / ".local" / "state" / "tool-intent"
    assert len(list(kept.glob("ledger-*.jsonl"))) == 1
    assert log(plain) == ["write allow"]


def test_a_required_record_that_cannot_be_kept_stops_the_call(
    used: Command, tmp_path: Path
) -> None:
    policy = used.cwd / ".tool-intent" / "policy.yaml"
    args = json.dumps({"path": "c.py", "content": "c", **WHY})
    folder = used.cwd / ".git" / "tool-intent"
    shutil.rmtree(folder)
    folder.write_text("no folder")
    done = used("run", "write", args, "--workspace", ".")
    assert done.code == 0
    assert "a decision was not recorded" in done.err
    policy.write_text(policy.read_text() + "\naudit: {required: true}\n")
    (used.cwd / "c.py").unlink()
    done = used("run", "write", args, "--workspace", ".")
    assert done.code == 1
    assert "this call cannot be recorded" in done.out
    assert not (used.cwd / "c.py").exists()
