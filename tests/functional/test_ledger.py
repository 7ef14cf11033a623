"""`log`, `verify`, and what commands record."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tool_intent.ledger.chain import line

from .command import ASSETS, DEADLINE, Command, call, reasoned

WHY = {"intent": "Refuse expired sessions", "rationale": "#412: login() checks too late."}
CALL = reasoned("bash", command="true")


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
        (("--since", "2999-01-01"), []),
        (("--since", "yesterday", "-n", "1"), ["bash allow"]),
        (("--since", "1w", "--tool", "write"), ["write allow"]),
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
    why = used("why", "src/a.py")
    assert (why.code, "exact" in why.out) == (0, True)
    assert "a line of the ledger cannot be read, and may have told more" in why.err
    assert f"{path.name}:2: the line is no JSON" in why.err


def test_a_record_of_a_newer_version_is_passed_over_told_and_gone_on_from(used: Command) -> None:
    (path,) = (used.cwd / ".git" / "tool-intent").glob("*.jsonl")
    newest = json.loads(path.read_bytes().splitlines()[-1])
    body = {"v": "tool-intent.record/2", "type": "decision", "seq": newest["seq"] + 1, "id": "x"}
    text, head = line(body | {"ts": "2999-01-01T00:00:00.000Z", "prev": newest["hash"], "new": []})
    with path.open("ab") as file:
        file.write(text)
    assert len(log(used)) == 3
    assert "another version, tool-intent.record/2" in used("verify").out
    assert "another version, tool-intent.record/2" in used("why", "src/a.py").err
    assert used("run", "--session", "-", "--workspace", ".", stdin=json.dumps(CALL)).code == 0
    assert len(log(used)) == 4
    after = [json.loads(one) for one in path.read_bytes().splitlines()]
    assert head in [one["prev"] for one in after]


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


@pytest.mark.parametrize("command", ["log", "report"])
def test_what_is_no_time_is_said_with_what_is(command: str, used: Command) -> None:
    done = used(command, "--since", "last week")
    assert (done.code, done.out) == (2, "")
    said = "--since last week is no time: write a date (2026-11-30), a time"
    assert said in " ".join(done.err.split())
    assert "today, yesterday, or an age (90m, 2h, 3d, 1w)" in " ".join(done.err.split())


@pytest.mark.parametrize("rows", ["x'ffff'", "x'01'", "7", "NULL"])
def test_a_damaged_index_is_said_and_made_anew_once_it_is_gone(rows: str, used: Command) -> None:
    assert len(log(used)) == 3
    path = used.cwd / ".git" / "tool-intent" / "index.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"UPDATE postings SET rows = {rows}")
    done = used("log", "--tool", "bash")
    assert (done.code, done.out) == (2, "")
    assert "the index of the ledger is damaged" in done.err
    assert f"delete {path}, and ask again" in done.err
    path.unlink()
    assert len(log(used, "--tool", "bash")) == 2


@pytest.mark.parametrize("format_", ["text", "json"])
def test_log_ends_without_a_word_once_nobody_reads_on(format_: str, used: Command) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    process = subprocess.Popen(
        [*used.program(), "log", "--format", format_], stdout=theirs, stderr=subprocess.PIPE,
        cwd=used.cwd, env=used.environment({}),
    )  # fmt: skip
    os.close(theirs)
    _, err = process.communicate(timeout=DEADLINE)
    assert err == b""


INTERRUPTED = """
import os, signal, sys
from tool_intent.cli import main
from tool_intent.ledger import adding, verifying

def interrupted(*_):
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
adding.terms_of = verifying.holds = interrupted
sys.argv[0] = "tool-intent"
main()
"""


@pytest.mark.parametrize("command", ["log", "verify"])
def test_an_interrupt_ends_long_reading_in_a_line(command: str, used: Command) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, command], capture_output=True, cwd=used.cwd,
        env=used.environment({}), timeout=DEADLINE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.startswith(b"tool-intent: interrupted: ")
    assert done.stderr.count(b"\n") == 1
    assert len(log(used)) == 3


SHOWN = """
import sys
from tool_intent.cli import main, progress
progress._SILENT = 0.0
sys.argv[1:] = ["verify"]
main()
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_how_far_verify_is_is_told_on_a_terminal_alone(terminal: bool, used: Command) -> None:
    ours, theirs = os.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", SHOWN], stdout=subprocess.PIPE, stderr=theirs,
        cwd=used.cwd, env=used.environment({"TERM": "xterm"}),
    )  # fmt: skip
    os.close(theirs)
    out, _ = process.communicate(timeout=DEADLINE)
    try:
        told = os.read(ours, 1 << 16)
    except OSError:  # what a terminal without a reader says at its end
        told = b""
    os.close(ours)
    assert process.returncode == 0
    assert out.startswith(b"6 records in 1 segment")
    assert (b"Verifying the ledger" in told) is terminal
    assert terminal or told == b""


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
        process.wait(DEADLINE)
    # Not by communicate(): that leaves out what a readline has read ahead.
    out, err = seen + process.stdout.read(), process.stderr.read()
    process.communicate()
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


def test_a_ledger_that_can_only_be_read_is_asked_all_the_same(used: Command) -> None:
    folder = used.cwd / ".git" / "tool-intent"
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        for command in (("log", "--tool", "bash"), ("verify",), ("why", "src/a.py")):
            done = used(*command, restricted="no-override")
            assert (done.code, done.err) == (0, ""), command
        assert "allow bash exit 3 failed" in used("log", restricted="no-override").out
        assert not (folder / "index.sqlite").exists()
    finally:
        folder.chmod(0o755)


def test_a_full_disk_hides_nothing_from_log(used: Command) -> None:
    done = used("log", "--format", "json", restricted="no-space")
    assert (done.code, done.err, len(done.answers)) == (0, "", 3)
