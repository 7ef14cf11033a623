"""What goes wrong in a session of pi: engines that die, policies that change, people who say no.

Nothing fails open, and each refusal says its cause. One session a line for many faults.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tool_intent.ledger.reading import records

from .harness import Pi, Result, Rpc, calls, children_of, reasoned
from .installed import AGENTS

READ_FIRST = """\
version: 1
extends: std/baseline
max_retries: 100
rules: |
  rule history/read-before-edit on edit
    require earlier @read passed where path == this.path within 200 calls
    else deny "Read {path} before editing it."
"""
UNJUDGED = "It could not be judged"


def write(name: str, **more: Any) -> dict[str, Any]:
    return calls(("write", reasoned(path=name, content="x") | more))


def edit(old: str, new: str) -> tuple[str, dict[str, Any]]:
    return ("edit", {"path": "start.txt", "edits": [reasoned(oldText=old, newText=new)]})


def after(do: Callable[[], object], step: dict[str, Any]) -> dict[str, Any]:
    return step | {"do": do}


def meanwhile(do: Callable[[], object]) -> dict[str, Any]:
    """A turn that changes nothing, during which something else happens."""
    return after(do, calls(("read", reasoned(path="start.txt"))))


def engines(python: Path, number: int) -> None:
    for pid in children_of(python):
        os.kill(pid, number)
    time.sleep(0.3)  # for pi to notice that its child ended


def killed_while_asked(python: Path) -> None:
    """Stop the engine, so that it is asked and says nothing, and kill it then."""
    engines(python, signal.SIGSTOP)
    threading.Timer(0.5, engines, (python, signal.SIGKILL)).start()


def refused(result: Result, *words: str) -> None:
    assert result.is_error
    for said in words:
        assert said in result.text
    assert "nothing was executed" in result.text


def test_an_engine_that_dies_is_started_once_more_and_told_what_it_knew(pi: Pi) -> None:
    pi.policy(READ_FIRST)
    (pi.workspace / "start.txt").write_text("one", encoding="utf-8")
    python = pi.python
    first: list[int] = []
    session = pi.run([
        # One of them makes pi carry them out in turn: the read has passed when the edit is judged.
        calls(
            ("read", reasoned(path="start.txt")),
            edit("one", "two"),
            ("bash", reasoned(command="ls")),
        ),
        calls(edit("one", "two")),
        after(
            lambda: (first.extend(children_of(python)), engines(python, signal.SIGKILL)),
            calls(edit("two", "three")),
        ),
        calls(("write", {"path": "bare.txt", "content": "x"})),
        after(lambda: killed_while_asked(python), write("asked.txt")),
        write("after.txt"),
    ], extensions=[AGENTS / "extensions" / "own-bash.ts"])  # fmt: skip
    results = session.results
    assert len(first) == 1, "one engine serves a session"
    assert not results["call_0_0"].is_error
    refused(results["call_0_1"], "Read start.txt before editing it")  # sent with the read
    assert not results["call_1_0"].is_error
    assert not results["call_2_0"].is_error, "the new engine knows of the read"
    refused(results["call_3_0"], "intent is missing")
    refused(results["call_4_0"], UNJUDGED, "the policy engine ended (SIGKILL)", "stop")
    refused(results["call_5_0"], UNJUDGED, "tool-intent doctor")
    assert sorted(p.name for p in pi.workspace.glob("*.txt")) == ["start.txt"]
    assert session.code == 0
    assert children_of(python) == []


CHANGES = {
    "broken": "version: 1\ntools: [\n",
    "weaker": "version: 1\nmax_retries: 100\ntools:\n  write: {optional: [intent]}\n",
    "stronger": (
        "version: 1\nextends: std/baseline\nmax_retries: 100\nfields:\n"
        "  ticket: {pattern: '^T-[0-9]+$'}\ntools:\n  write: {require: [ticket]}\n"
    ),
}


def test_a_session_keeps_its_policy_and_takes_on_what_a_new_one_asks_besides(pi: Pi) -> None:
    first = "version: 1\nextends: std/baseline\nmax_retries: 100\n"
    path = pi.policy(first)
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    probe = AGENTS / "extensions" / "own-bash.ts"
    script = [
        write("first.txt"),
        meanwhile(lambda: pi.policy(CHANGES["broken"])),
        write("broken.txt"),
        meanwhile(lambda: pi.policy(CHANGES["weaker"])),
        bare,
        write("weaker.txt"),
        meanwhile(lambda: pi.policy(CHANGES["stronger"])),
        write("stronger.txt"),
        write("ticket.txt", ticket="T-1"),
        meanwhile(path.unlink),
        write("gone.txt"),
        meanwhile(lambda: pi.policy(first)),
        bare,
        write("back.txt"),
        calls(("bash", {"command": "ls"})),
        calls(("bash", reasoned(command="ls"))),
    ]
    session = pi.run(script, extensions=[probe])
    told = [session.results[f"call_{n}_0"] for n in range(len(script))]
    results = [told[n] for n, step in enumerate(script) if "do" not in step]
    assert not results[0].is_error
    refused(results[1], "policy.yaml cannot be used", "tell the user")
    refused(results[2], "intent is missing")
    assert not results[3].is_error
    refused(results[4], "ticket is missing")
    assert not results[5].is_error
    # "is missing", or "cannot be read" where it went while it was looked for.
    refused(results[6], "policy.yaml` ", "tell the user")
    refused(results[7], "intent is missing")
    assert not results[8].is_error
    refused(results[9], "denied this bash")
    assert results[10].text == 'elsewhere: {"command":"ls"}', (
        "two extensions know bash, and pi starts"
    )
    names = sorted(p.name for p in pi.workspace.glob("*.txt"))
    assert names == ["back.txt", "first.txt", "ticket.txt", "weaker.txt"]
    shown = session.tool("write", request=8)["parameters"]["properties"]
    assert "ticket" in shown, "what the new policy asks is advertised"


STOPS = """\
version: 1
extends: std/baseline
max_retries: 3
rules: |
  rule deploys/ask on @exec
    when command mentions "deploy"
    ask "This goes to customers."
"""


def test_too_many_refusals_of_a_tool_end_the_run(pi: Pi) -> None:
    pi.policy(STOPS)
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    invalid = calls(("write", {"path": "bare.txt"}))
    session = pi.run([
        calls(("bash", reasoned(command="echo deploy > deployed.txt"))),
        bare,
        write("between.txt"),
        bare,
        invalid,
        bare,
        {"text": "never asked for"},
    ])  # fmt: skip
    results = session.results
    refused(results["call_0_0"], "This goes to customers", "Nobody could be asked here")
    assert "in a row" not in results["call_1_0"].text
    assert not results["call_2_0"].is_error, "a call that passes begins the count anew"
    assert "in a row" not in results["call_4_0"].text
    refused(results["call_5_0"], "This is refusal 3 of write in a row", "stop", "ask how to go on")
    assert len(session.requests) == 6, "the model is not asked again"
    assert sorted(p.name for p in pi.workspace.glob("*.txt")) == ["between.txt"]


def test_a_person_is_asked_about_these_very_arguments_and_the_session_outlives_a_reload(
    pi: Pi,
) -> None:
    pi.policy(STOPS)
    deploy = [reasoned(command=f"echo deploy {n} > {n}.txt") for n in ("yes", "no")]
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    script = [
        calls(("bash", deploy[0])),
        calls(("bash", deploy[1])),
        {"text": "first"},
        bare,
        {"text": "second"},
    ]
    shutil.copy(AGENTS / "extensions" / "zz-probe.ts", pi.agent / "extensions")
    with Rpc(pi, script, answers=[True, False]) as session:
        session.prompt("go")
        before = children_of(pi.python)
        pi.policy(CHANGES["weaker"])
        session.command(type="prompt", message="/again")
        session.prompt("go on")
        assert children_of(pi.python) == before, "the engine outlives /reload, and what it knows"
        session.command(type="prompt", message="/tool-intent")
        results = session.results
        asked, told = session.asked, session.told
    assert results["call_0_0"] == Result("(no output)", False)
    refused(results["call_1_0"], "This goes to customers", "The user said no")
    assert "may bash run?" in asked[0]["title"]
    assert "echo deploy yes > yes.txt" in asked[0]["message"]
    assert "intent: Keep the notes of the release" in asked[0]["message"]
    refused(results["call_3_0"], "intent is missing")
    assert sorted(p.name for p in pi.workspace.glob("*.txt")) == ["yes.txt"]
    report = told[-1]
    assert report.startswith("policy sha256:")
    assert "  now  sha256:" in report
    assert "asked  bash, edit, read, write" in report
    assert "free   anything, closed, " in report
    assert "last refusals:" in report
    assert children_of(pi.python) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"python": "/nowhere/python"}, "cannot be started with /nowhere/python"),
        ({"python": "python3"}, "names no interpreter by an absolute path"),
    ],
)
def test_an_interpreter_that_is_not_there_denies(
    change: dict[str, str], words: str, pi: Pi
) -> None:
    path = pi.agent / "extensions" / "tool-intent" / "install.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change), encoding="utf-8")
    session = pi.run([write("a.txt")])
    refused(session.results["call_0_0"], UNJUDGED, words)
    assert words in session.err
    assert not (pi.workspace / "a.txt").exists()
    assert session.code == 0


def test_a_session_that_pi_goes_on_with_knows_what_it_did(pi: Pi) -> None:
    """The history comes from the ledger; without the ledger it was held of, it is unknown."""
    pi.policy(READ_FIRST)
    for name in ("start.txt", "other.txt"):
        (pi.workspace / name).write_text("one", encoding="utf-8")
    done = {"text": "done"}
    read = calls(("read", reasoned(path="start.txt")))
    other = calls(("edit", edit("one", "two")[1] | {"path": "other.txt"}))
    # The model's script goes on with the session.
    script = [read, done, other, calls(edit("one", "two")), done]
    pi.run(script)
    results = pi.run(script, "--continue").results
    refused(results["call_2_0"], "Read other.txt before editing it")
    assert not results["call_3_0"].is_error
    for segment in pi.ledger.glob("ledger-*.jsonl"):
        segment.unlink()
    again = calls(edit("two", "three"))
    results = pi.run([*script, again, read, again, done], "--continue").results
    refused(results["call_5_0"], "It could not be told")
    assert not results["call_7_0"].is_error, "what it does from now on is known"


ONCE = """\
version: 1
extends: std/baseline
rules: |
  rule deploys/once on @exec
    when command mentions "deploy"
    forbid earlier @exec where command mentions "deploy" within 200 calls
    else deny "That was deployed."
  rule history/read-before-edit on edit
    require earlier @read passed where path == this.path within 200 calls
    else deny "Read {path} before editing it."
"""
#: The shell's parent is pi, and so is the engine's; the brackets spare the shell itself.
KILL = "pkill -9 -P $PPID -f 'surfaces[.]bridge'; sleep 0.3"


def test_a_call_whose_engine_died_is_not_forgotten_by_a_session_that_pi_goes_on_with(
    pi: Pi,
) -> None:
    pi.policy(ONCE)
    (pi.workspace / "start.txt").write_text("one", encoding="utf-8")
    done = {"text": "done"}
    script = [
        calls(("bash", reasoned(command=f"echo deploy; {KILL}"))),
        calls(("read", reasoned(path="start.txt"))),
        done,
    ]
    assert not pi.run(script).results["call_0_0"].is_error
    script += [
        calls(("bash", reasoned(command="echo deploy"))),
        calls(("bash", reasoned(command=KILL))),
        calls(edit("one", "two")),
        done,
    ]
    results = pi.run(script, "--continue").results
    refused(results["call_3_0"], "It could not be told")
    assert not results["call_4_0"].is_error
    assert not results["call_5_0"].is_error, "what was held is known to the second engine, too"


@pytest.mark.parametrize("policy", ["version: 1\nextends: std/baseline\n", READ_FIRST])
def test_what_comes_of_a_call_is_recorded_though_its_engine_died_meanwhile(
    pi: Pi, policy: str
) -> None:
    pi.policy(policy)
    kill = f"echo x >made.txt; {KILL}"
    session = pi.run([calls(("bash", reasoned(command=kill))), {"text": "done"}])
    assert not session.results["call_0_0"].is_error
    told = list(records(str(pi.ledger)))
    (decision,) = [record for record in told if record["type"] == "decision"]
    (outcome,) = [record for record in told if record["type"] == "outcome"]
    assert outcome["of"] == decision["id"]
    assert outcome["ok"] is True


@pytest.mark.slow
def test_an_engine_that_says_nothing_is_given_up_after_its_deadline(pi: Pi) -> None:
    pi.policy(READ_FIRST)
    stopped = partial(engines, pi.python, signal.SIGSTOP)
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    session = pi.run([
        write("first.txt"),
        after(stopped, bare),
        write("second.txt"),
        after(stopped, bare),
        write("third.txt"),
    ])  # fmt: skip
    results = session.results
    refused(results["call_1_0"])
    assert not results["call_2_0"].is_error, "one new start"
    refused(results["call_3_0"])
    refused(results["call_4_0"], UNJUDGED, "no answer within 5 s", "failed again")
    assert sorted(p.name for p in pi.workspace.glob("*.txt")) == ["first.txt", "second.txt"]
    assert children_of(pi.python) == [], "a stopped engine does not outlive its session"


@pytest.mark.slow
def test_no_engine_outlives_a_pi_that_is_killed(pi: Pi) -> None:
    with Rpc(pi, [write("a.txt"), {"text": "done"}]) as session:
        session.prompt("go")
        assert len(children_of(pi.python)) == 1
        session.kill()
        end = time.monotonic() + 20
        while children_of(pi.python) and time.monotonic() < end:
            time.sleep(0.1)
        assert children_of(pi.python) == []


@pytest.mark.slow
@pytest.mark.parametrize(("options", "carried_out"), [((), False), (("--shadow",), True)])
def test_a_new_session_may_ask_for_less_once_pi_looks_at_schemas_anew(
    options: tuple[str, ...], carried_out: bool, pi: Pi
) -> None:
    pi.install(*options)
    pi.policy("version: 1\nextends: std/baseline\n")
    shutil.copy(AGENTS / "extensions" / "zz-probe.ts", pi.agent / "extensions")
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    with Rpc(pi, [bare, {"text": "done"}]) as session:
        session.prompt("go")
        assert not (pi.workspace / "bare.txt").exists()
        pi.policy(CHANGES["weaker"])
        session.command(type="prompt", message="/again")
        session.command(type="new_session")
        session.prompt("go")
        assert (pi.workspace / "bare.txt").exists() is carried_out
