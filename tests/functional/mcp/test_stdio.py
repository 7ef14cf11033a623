"""The stdio proxy as a process, in front of servers with bad habits."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tool_intent.ledger.reading import records
from tool_intent.ledger.verifying import verify

from ..command import TRACED
from .raw import COMMAND, DEADLINE, POLICY, REASONS, Raw, lenient, odd, proxied, refused, text

CALL = {"name": "echo", "arguments": {"message": "hi", **REASONS}}


def request(id: Any, method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def test_a_call_reaches_the_server_without_its_reasons(project: Path, user: Path) -> None:
    with Raw(proxied(odd()), project, user) as client:
        client.hello()
        assert text(client.call("echo", message="hi", **REASONS)) == '{"message": "hi"}'
        assert refused(client.call("echo", message="hi"))


def test_calls_are_recorded_with_the_server_and_what_came_of_them(
    project: Path, tmp_path: Path
) -> None:
    with Raw(proxied(odd()), project, tmp_path) as client:
        client.hello()
        client.call("echo", message="hi")
        client.call("echo", message="hi", **REASONS)
        client.close()
        client.process.wait(DEADLINE)
    folder = str(tmp_path / ".local" / "state" / "tool-intent")
    assert verify(folder).whole
    denied, allowed, outcome = (r for r in records(folder) if r["type"] != "header")
    assert (denied["decision"]["verdict"], allowed["decision"]["verdict"]) == ("deny", "allow")
    assert allowed["call"].items() >= {"server": "s", "surface": "mcp"}.items()
    assert allowed["decision"]["mended"] == denied["id"]
    assert allowed["session"]["id"] == denied["session"]["id"]
    assert allowed["entries"] == [{"at": "", **REASONS}]
    assert (outcome["of"], outcome["ok"]) == (allowed["id"], True)


def test_what_came_of_a_call_is_recorded_before_another_is_judged_and_before_a_signal_ends_it(
    project: Path, tmp_path: Path
) -> None:
    with Raw(proxied(odd()), project, tmp_path) as client:
        client.hello()
        for _ in range(3):
            client.call("echo", message="hi", **REASONS)
        client.process.terminate()
        client.process.wait(DEADLINE)
    folder = str(tmp_path / ".local" / "state" / "tool-intent")
    kinds = [r["type"] for r in records(folder) if r["type"] != "header"]
    assert kinds == ["decision", "outcome"] * 3
    assert all(r["ok"] for r in records(folder) if r["type"] == "outcome")


def test_a_rule_has_the_effect_that_it_has_at_the_point_mcp(tmp_path: Path, user: Path) -> None:
    folder = tmp_path / ".tool-intent"
    folder.mkdir()
    policy = folder / "policy.yaml"
    text = 'version: 1\nrules: |\n  rule r/a on mcp__* deny "No."\nadjust: {r/a: {at: {%s: off}}}\n'
    for point, passes in (("mcp", True), ("python", False)):
        policy.write_text(text % point)
        with Raw(proxied(odd()), tmp_path, user) as client:
            assert refused(client.call("echo", message="hi")) is not passes


def test_the_anti_fluff_pack_refuses_a_phrase_and_lets_its_mended_call_through(
    tmp_path: Path, user: Path
) -> None:
    folder = tmp_path / ".tool-intent"
    folder.mkdir()
    (folder / "policy.yaml").write_text("version: 1\nextends: std/anti-fluff\n")
    fluff = {"intent": "Echo the message", "rationale": "This is required to complete the task."}
    mended = {
        "intent": "See whether the server keeps umlauts",
        "rationale": "A customer in Graz got question marks back on Monday.",
    }
    with Raw(proxied(odd()), tmp_path, user) as client:
        client.hello()
        answer = client.call("echo", message="hi", **fluff)
        assert refused(answer)
        assert "fluff/no-reason" in text(answer)
        assert text(client.call("echo", message="hi", **mended)) == '{"message": "hi"}'


def test_a_server_that_dies_leaves_no_request_unanswered(project: Path, user: Path) -> None:
    with Raw(proxied(odd("dies", "never-answers")), project, user) as client:
        client.ask("tools/list")
        client.send(request("a", "tools/call", CALL))
        answer = client.answer("a")
        assert "the server ended (exit code 3)" in answer["error"]["message"]
        assert client.line() is None
        assert client.process.wait(DEADLINE) == 3


def test_calls_that_wait_for_the_list_are_answered_too_when_the_server_dies(
    project: Path, user: Path
) -> None:
    with Raw(proxied([sys.executable, "-c", "input(); print('x')"]), project, user) as client:
        client.send(request("a", "tools/call", CALL))
        assert "the server ended" in client.answer("a")["error"]["message"]


def test_a_server_that_cannot_be_started_is_said(project: Path, user: Path) -> None:
    done = subprocess.run(
        proxied(["no-such-server"]), cwd=project, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(user)}, timeout=DEADLINE,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "tool-intent: the server 'no-such-server' cannot be started: no such file or directory\n"
    )


def test_a_server_that_floods_standard_error_stops_nothing(project: Path, user: Path) -> None:
    with Raw(proxied(odd("floods")), project, user) as client:
        for _ in range(3):
            assert text(client.call("echo", **REASONS)) == "{}"


def test_lines_that_are_no_json_are_the_clients_to_read(project: Path, user: Path) -> None:
    with Raw(proxied(odd("garbage")), project, user) as client:
        assert text(client.call("echo", **REASONS)) == "{}"
        garbage = [b"Listening on port 3000\n", b"\xff\xfe\n", b"{broken\n"]
        assert [m for m in client.passed_over if isinstance(m, bytes)] == garbage


def test_a_second_answer_is_passed_on_and_confuses_nobody(project: Path, user: Path) -> None:
    with Raw(proxied(odd("twice")), project, user) as client:
        for _ in range(3):
            assert text(client.call("echo", **REASONS)) == "{}"
        client.ask("ping")
        assert [m["id"] for m in client.passed_over] == [1, 2, 3]


def test_a_list_that_changes_during_a_call_is_read_anew(project: Path, user: Path) -> None:
    with Raw(proxied(odd("changes")), project, user) as client:
        assert text(client.call("echo", **REASONS)) == "{}"
        answer = client.call("echo", **REASONS)
        assert refused(answer), "the tool has an intent of its own by now"
        assert "intent" in text(answer)


def test_a_server_without_tools_runs_none(project: Path, user: Path) -> None:
    with Raw(proxied(odd("no-tools")), project, user) as client:
        assert "lists no tool" in client.call("echo", **REASONS)["error"]["message"]


@pytest.mark.slow
@pytest.mark.parametrize("habit", ["huge", "huge-and-nameless"])
def test_an_answer_past_the_limit_is_an_error_and_nothing_of_it_is_passed_on(
    habit: str, project: Path, user: Path
) -> None:
    with Raw(proxied(odd(habit)), project, user) as client:
        answer = client.call("echo", **REASONS)
        assert "longer than 64 MiB" in answer["error"]["message"]
        assert client.passed_over == []
        if habit == "huge":
            assert client.ask("ping")["result"] == {"said": "ping"}


@pytest.mark.slow
def test_a_message_past_the_limit_is_an_error_and_nothing_of_it_is_passed_on(
    project: Path, user: Path, tmp_path: Path
) -> None:
    log = tmp_path / "ran"
    log.touch()
    with Raw(proxied(lenient(log)), project, user) as client:
        client.call("run", **REASONS)
        long = json.dumps(request("a", "tools/call", {"name": "run", "arguments": REASONS}))
        client.send(long[:-3].encode() + b',"x":"' + b"a" * (64 << 20) + b'"}}}\n')
        assert "longer than 64 MiB" in client.answer("a")["error"]["message"]
        client.send(b'{"x":"' + b"a" * (64 << 20) + b'"}\n')
        assert "longer than 64 MiB" in client.answer(None)["error"]["message"]
        assert client.ask("ping")["result"] == {"said": "ping"}
    assert len(log.read_text().splitlines()) == 1


def test_two_hundred_calls_in_flight_lose_and_reorder_nothing(project: Path, user: Path) -> None:
    with Raw(proxied(odd()), project, user) as client:
        client.ask("tools/list")
        order = list(range(200))
        random.Random(0).shuffle(order)
        good = {"message": "m" * 2_000, **REASONS}
        lines = [
            request(n if n % 2 else str(n), "tools/call", {
                "name": "echo", "arguments": good | {"n": n} if n % 5 else {"n": n}})
            for n in order
        ]  # fmt: skip
        client.send(b"".join(json.dumps(one).encode() + b"\n" for one in lines))
        answers = [client.until(lambda m: "result" in m) for _ in order]
        ran = [a for a in answers if not refused(a)]
        assert [a["id"] for a in ran] == [n if n % 2 else str(n) for n in order if n % 5]
        assert all(json.loads(text(a)) == {"message": "m" * 2_000, "n": int(a["id"])} for a in ran)
        assert sorted(int(a["id"]) for a in answers) == list(range(200))


def test_a_large_message_passes_whole_in_both_directions(project: Path, user: Path) -> None:
    message = "é\u2028" * 1_000_000
    with Raw(proxied(odd()), project, user) as client:
        answer = client.call("echo", message=message, **REASONS)
        assert json.loads(text(answer)) == {"message": message}


def test_a_client_that_closes_its_end_still_gets_its_answers(project: Path, user: Path) -> None:
    with Raw(proxied(odd()), project, user) as client:
        client.send(request("a", "tools/call", CALL))
        client.close()
        assert text(client.answer("a")) == '{"message": "hi"}'
        assert client.line() is None
        assert client.process.wait(DEADLINE) == 0


def test_the_last_line_needs_no_end(project: Path, user: Path) -> None:
    with Raw(proxied(odd()), project, user) as client:
        client.ask("tools/list")
        client.send(json.dumps(request("a", "tools/call", {"name": "echo"})).encode())
        client.close()
        assert refused(client.answer("a"))


def test_a_server_that_lingers_is_ended(project: Path, user: Path) -> None:
    with Raw(proxied(odd("lingers")), project, user) as client:
        client.hello()
        client.close()
        client.process.wait(DEADLINE)
        assert not _alive("lingers")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_server_too(number: int, project: Path, user: Path) -> None:
    mark = f"signal-{number}"
    with Raw(proxied(odd(mark, "lingers")), project, user) as client:
        client.hello()
        assert _alive(mark)
        client.process.send_signal(number)
        assert client.process.wait(DEADLINE) == 128 + number
        assert not _alive(mark)


def test_a_client_that_reads_no_more_ends_the_server(project: Path, user: Path) -> None:
    process = subprocess.Popen(
        proxied(odd("orphan", "lingers")), cwd=project, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": str(user)},
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(request(1, "ping", {})).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.wait(DEADLINE)
    process.stdin.close()
    assert not _alive("orphan")


def _alive(mark: str) -> bool:
    """Whether the odd server with this habit runs."""
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words and b"mcp" not in words:
            return True
    return False


def test_a_call_before_initialize_is_judged_like_any_other(project: Path, user: Path) -> None:
    with Raw(proxied(odd()), project, user) as client:
        assert refused(client.call("echo", message="hi"))


def own(top: Path) -> tuple[Path, Path]:
    """A project and a home of a test's own."""
    (top / "home").mkdir()
    folder = top / "project" / ".tool-intent"
    folder.mkdir(parents=True)
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return folder.parent, top / "home"


def test_nothing_fails_open_when_the_cache_goes_and_the_policy_breaks(tmp_path: Path) -> None:
    folder, home = own(tmp_path)
    with Raw(proxied(odd()), folder, home) as client:
        pass  # fills the cache
    with Raw(proxied(odd()), folder, home) as client:
        client.ask("tools/list")
        shutil.rmtree(home / ".cache")
        (folder / ".tool-intent" / "policy.yaml").write_text("tools: [", encoding="utf-8")
        for _ in range(2):
            assert refused(client.call("echo", message="hi"))
    with Raw(proxied(odd()), folder, home) as client:
        answer = client.call("echo", message="hi", **REASONS)
        assert refused(answer)
        assert "the policy" in text(answer)


def test_a_killed_proxy_leaves_a_cache_that_serves_the_next(tmp_path: Path) -> None:
    folder, home = own(tmp_path)
    for delay in (0.0, 0.05, 0.1, 0.2):
        with Raw(proxied(odd()), folder, home) as client:
            time.sleep(delay)
            client.process.kill()
    with Raw(proxied(odd()), folder, home) as client:
        assert text(client.call("echo", message="hi", **REASONS)) == '{"message": "hi"}'
        assert refused(client.call("echo", message="hi"))


def test_without_a_policy_it_does_not_start(tmp_path: Path) -> None:
    with Raw(proxied(odd()), tmp_path, tmp_path, stderr=subprocess.PIPE) as client:
        assert client.line() is None
        assert client.process.wait(DEADLINE) == 2
        assert client.process.stderr is not None
        assert b"no policy found" in client.process.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--server", "a__b", "--", "true"], "--server 'a__b'"),
        (["--ask", "maybe", "--", "x"], "--ask takes deny or elicit"),
        (["--listen", "127.0.0.1:1"], "go together"),
        (["--listen", "x", "--upstream", "http://a/b"], "--listen takes HOST:PORT"),
        (["--listen", "127.0.0.1:1", "--upstream", "ftp://a"], "--upstream takes a URL"),
        (["--builtin"], "--workspace DIR"),
        (["--builtin", "--workspace", "/no/such"], "--workspace DIR"),
        (["--builtin", "--", "x"], "mcp takes one of"),
        (["--workspace", ".", "--", "x"], "--workspace goes with --builtin"),
        (["--"], "mcp takes one of"),
        (["--", "sh", "index.js"], "what is the server called?"),
    ],
)
def test_options_that_do_not_go_together_are_said(
    arguments: list[str], said: str, project: Path, user: Path
) -> None:
    done = subprocess.run(
        [COMMAND, "mcp", *arguments], cwd=project, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(user)}, timeout=DEADLINE,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert said in done.stderr


def test_a_start_with_a_cached_policy_imports_nothing_of_authoring_time(
    project: Path, user: Path
) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(user), **TRACED}
    call = json.dumps(request(1, "tools/call", CALL)).encode() + b"\n"
    for _ in range(2):
        done = subprocess.run(
            proxied(odd()), cwd=project, env=env, input=call, capture_output=True, check=True,
            timeout=DEADLINE,
        )  # fmt: skip
    assert b"hi" in done.stdout
    # The server inherits the setting, so its imports are listed among ours.
    ours = {line.rpartition(b"|")[2].strip().decode() for line in done.stderr.splitlines()}
    assert "tool_intent.surfaces.mcp.stdio" in ours
    heavy = {
        "yaml", "lark", "jsonschema", "typer", "rich", "asyncio", "subprocess", "inspect", "mcp",
        "httpx", "starlette", "pathlib", "logging", "dataclasses", "pickle",
    }  # fmt: skip
    assert ours & heavy == set()
