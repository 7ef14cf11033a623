"""`decide` as a host talks to it: lines in, lines out, in order and one at a time."""

from __future__ import annotations

import json
import select
import shutil
import signal
from pathlib import Path
from typing import IO, Any, Final

import pytest
import yaml

from .command import ASSETS, DEADLINE, Command, call, lines, reasoned

CASES: Final = yaml.safe_load(Path(__file__).with_name("lines.yaml").read_text(encoding="utf-8"))
_TIMES: Final = 100_000


def _bytes(case: dict[str, Any]) -> bytes:
    if "hex" in case:
        return bytes.fromhex(case["hex"])
    times = case.get("times", _TIMES)
    end = case.get("end", "").replace("$close", "}" * times)
    return f"{case.get('line', '')}{case.get('repeat', '') * times}{end}".encode()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """One project for lines that leave nothing behind."""
    folder = tmp_path_factory.mktemp("lines")
    (folder / "home").mkdir()
    return Command(folder / "home", Path(shutil.copytree(ASSETS / "plain", folder / "plain")))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_line_is_answered_with_a_decision_or_with_what_was_expected(
    case: dict[str, Any], project: Command
) -> None:
    done = project("decide", stdin=_bytes(case) + b"\n")
    assert done.err == ""
    if "code" in case:
        error = json.loads(done.out)
        assert done.code == 2
        assert error["line"] == 1
        assert error["error"]["code"] == case["code"]
        assert case["message"] in error["error"]["message"]
        assert error.keys() == {"line", "error"}
    else:
        assert done.code == 0
        assert done.out.startswith(f'{{"id": {case["id"]}, "tool": ')
        assert done.out.count("\n") == 1


def test_bad_lines_are_answered_in_place_and_all_others_are_judged(plain: Command) -> None:
    session = [
        lines(reasoned("read", path="notes.txt")).encode(),
        b"nonsense\n",
        b"\n",
        b"  \t\n",
        b'{"tool": "bash", "args": {"command": "ls"}}\n',
        b'{"tool": "\xff"}\n',
        b'{"id": 1, "tool": "bash"}',
    ]
    done = plain("decide", stdin=b"".join(session))
    assert done.code == 2
    seen = [a.get("decision") or (a["line"], a["error"]["code"]) for a in done.answers]
    assert seen == ["allow", (2, "input/not-json"), "deny", (6, "input/not-json"), "deny"]
    assert done.answers[2]["id"] == 5, "a missing id is the number of the line, blank ones counted"


def test_denials_do_not_change_the_exit_code(plain: Command) -> None:
    done = plain("decide", stdin=lines(call("bash", command="ls"), call("write", path="a")))
    assert [a["decision"] for a in done.answers] == ["deny", "deny"]
    assert (done.code, done.err) == (0, "")


def test_no_lines_are_no_answers(plain: Command) -> None:
    assert plain("decide", stdin="") == (0, "", "")
    assert plain("decide", stdin="\n\r\n \n") == (0, "", "")


def test_a_repeated_id_is_answered_as_often_as_it_is_sent(plain: Command) -> None:
    once = reasoned("read", path="notes.txt")
    answers = plain.decide(once, once, call("bash", command="ls") | {"id": once["id"]})
    assert [(a["id"], a["decision"]) for a in answers] == [
        ("read", "allow"), ("read", "allow"), ("read", "deny"),
    ]  # fmt: skip


def test_outcome_lines_are_taken_in_silence(plain: Command) -> None:
    session = lines(
        reasoned("read", path="a") | {"session": "s"},
        {"id": "read", "outcome": "error", "session": "s"},
        reasoned("read", path="b") | {"id": 2},
        {"id": 2, "outcome": "ok"},
    )
    done = plain("decide", stdin=session)
    assert (done.code, done.err) == (0, "")
    assert [a["id"] for a in done.answers] == ["read", 2]


def test_keys_of_an_answer_come_in_the_order_of_the_contract(plain: Command) -> None:
    (answer,) = plain.decide(call("write", path="a"))
    assert list(answer) == [
        "id", "tool", "decision", "findings", "message", "args", "provenance", "policy",
    ]  # fmt: skip
    assert list(answer["findings"][0]) == ["rule", "effect", "at", "message", "fix", "origin"]


def _answer(out: IO[bytes]) -> Any:
    ready, _, _ = select.select([out], [], [], DEADLINE)
    assert ready, "no answer while standard input stays open"
    return json.loads(out.readline())


def test_each_line_is_answered_before_the_next_is_written(plain: Command) -> None:
    with plain.start("decide") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(20):
            line = b"nonsense\n" if number % 5 == 4 else lines(call("x") | {"id": number}).encode()
            process.stdin.write(line)
            process.stdin.flush()
            answer = _answer(process.stdout)
            assert answer.get("id", answer.get("line")) == number + (number % 5 == 4)
        process.stdin.close()
        assert process.wait(DEADLINE) == 2


def test_answers_that_nobody_reads_end_it_quietly(plain: Command) -> None:
    process = plain.start("decide")
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(lines(call("x")).encode())
    process.stdin.close()
    assert process.wait(DEADLINE) == 2
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_session_longer_than_a_pipe_holds_is_judged_to_its_end(plain: Command) -> None:
    many = "".join(lines(reasoned("read", path=f"{n}.txt") | {"id": n}) for n in range(5_000))
    done = plain("decide", stdin=many)
    assert [a["id"] for a in done.answers] == list(range(5_000))


@pytest.mark.parametrize(
    "options",
    [
        ("--policy", "no/such"),
        ("--now", "yesterday"),
        ("--cwd", "nowhere"),
    ],
)
def test_input_is_drained_where_nothing_can_be_judged(
    options: tuple[str, str], plain: Command
) -> None:
    with plain.start("decide", *options) as process:
        assert process.stdin is not None
        for _ in range(64):
            process.stdin.write(b"x" * 65_536)  # BrokenPipeError if nobody reads
        process.stdin.close()
        assert process.wait(DEADLINE) == 2


def test_a_host_that_waits_for_an_answer_learns_at_once_that_none_comes(plain: Command) -> None:
    """It holds standard input open and writes nothing: neither side may wait for the other."""
    with plain.start("decide", "--policy", "no/such") as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        assert process.wait(DEADLINE) == 2


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_ends_it(plain: Command) -> None:
    with plain.start("decide") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(call("x")).encode())
        process.stdin.flush()
        _answer(process.stdout)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) != 0


@pytest.mark.parametrize(
    "now", ["yesterday", "2026-11-30", "2026-11-30T12:00:00", "2026-13-30T12:00:00Z", "12:00Z"]
)
def test_a_time_that_is_no_rfc_3339_time_is_refused(now: str, plain: Command) -> None:
    done = plain("decide", "--now", now, stdin=lines(call("x")))
    assert (done.code, done.out) == (2, "")
    assert "RFC 3339" in done.err
    assert now in done.err


@pytest.mark.parametrize("now", ["2026-11-30T12:00:00Z", "2026-11-30T12:00:00.5+01:00"])
def test_a_time_may_be_given(now: str, plain: Command) -> None:
    done = plain("decide", "--now", now, stdin=lines(call("x")))
    assert (done.code, done.err) == (0, "")
    assert plain("decide", f"--now={now}", stdin=lines(call("x"))) == done


def test_text_of_any_locale_is_answered_in_ascii(plain: Command) -> None:
    given = reasoned("write", path="é.txt", content="日本 \U0001f600")
    done = plain("decide", stdin=json.dumps(given, ensure_ascii=False) + "\n")
    assert done.out.isascii()
    assert done.answers[0]["args"] == {"path": "é.txt", "content": "日本 \U0001f600"}
    for locale in ("C", "POSIX"):
        env = {"LC_ALL": locale, "PYTHONIOENCODING": "ascii", "PYTHONCOERCECLOCALE": "0"}
        again = plain("decide", stdin=json.dumps(given, ensure_ascii=False) + "\n", env=env)
        assert again == done
