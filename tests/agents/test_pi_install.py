"""Installing the extension, looking at it, removing it; and the doctor, with its canary."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .harness import LINES, Pi, calls, engine, reasoned
from .installed import AGENTS, installed, node

FILES = AGENTS.parents[1] / "engine" / "tool_intent" / "surfaces" / "pi" / "extension"


@pytest.fixture
def new(tmp_path: Path, python: Path) -> Pi:
    """A user of pi 1.x who has installed nothing yet."""
    return Pi("pi-1", python, tmp_path)


def folder(pi: Pi) -> Path:
    return pi.agent / "extensions" / "tool-intent"


def problems(pi: Pi) -> list[str]:
    done = pi.tool_intent("pi", "status", "--format", "json")
    (one,) = json.loads(done.stdout)
    assert done.returncode == (1 if one["problems"] else 0)
    found: list[str] = one["problems"]
    return found


def test_install_writes_the_shipped_files_and_starts_the_engine_that_installed(new: Pi) -> None:
    done = new.tool_intent("pi", "install")
    assert done.returncode == 0
    assert str(folder(new)) in done.stdout
    written = {p.name: p.read_bytes() for p in folder(new).glob("*.ts")}
    assert written == {p.name: p.read_bytes() for p in FILES.glob("*.ts")}
    manifest = json.loads((folder(new) / "install.json").read_text(encoding="utf-8"))
    assert manifest["python"] == str(new.python)
    assert manifest["mode"] == "extend"
    assert problems(new) == []


def test_install_again_replaces_what_was_there_and_uninstall_removes_it(new: Pi) -> None:
    new.install()
    (folder(new) / "stale.ts").write_text("nothing", encoding="utf-8")
    new.install("--shadow")
    assert not (folder(new) / "stale.ts").exists()
    assert '"shadow"' in (folder(new) / "install.json").read_text(encoding="utf-8")
    assert new.tool_intent("pi", "uninstall").returncode == 0
    assert not folder(new).exists()
    gone = new.tool_intent("pi", "uninstall")
    assert gone.returncode == 2
    assert "nothing is installed" in gone.stderr
    assert new.tool_intent("pi", "status").returncode == 1
    assert list(folder(new).parent.iterdir()) == [], "no drafts are left"


def test_install_for_a_project_goes_into_its_own_folder(new: Pi) -> None:
    new.install("--project")
    inside = new.workspace / ".pi" / "extensions" / "tool-intent"
    assert (inside / "index.ts").is_file()
    assert not folder(new).exists()
    assert str(inside) in new.tool_intent("pi", "status", "--project").stdout
    assert new.tool_intent("pi", "uninstall").returncode == 2
    assert new.tool_intent("pi", "uninstall", "--project").returncode == 0
    assert not inside.exists()


def test_what_is_no_installation_is_neither_replaced_nor_removed(new: Pi) -> None:
    folder(new).mkdir(parents=True)
    (folder(new) / "index.ts").write_text("mine", encoding="utf-8")
    for command in ("install", "uninstall"):
        done = new.tool_intent("pi", command)
        assert done.returncode == 2
        assert "is not an installation of tool-intent" in done.stderr
    assert (folder(new) / "index.ts").read_text(encoding="utf-8") == "mine"


def test_an_engine_inside_the_project_is_not_installed_for_it(new: Pi) -> None:
    inside = engine(new.workspace / ".venv")
    new.python = inside
    done = new.tool_intent("pi", "install", "--project")
    assert done.returncode == 2
    assert "lies in the project" in done.stderr
    assert not (new.workspace / ".pi").exists()


def test_an_interpreter_without_the_engine_is_not_installed(new: Pi) -> None:
    bare = new.home / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    run = "import sys; sys.path[:0] = sys.argv.pop(1).split(':'); from tool_intent.cli import main"
    paths = ":".join([str(AGENTS.parents[1] / "engine"), *sys.path])
    done = subprocess.run(
        [bare / "bin" / "python", "-c", f"{run}; main()", paths, "pi", "install"],
        cwd=new.workspace, env=new.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "-I has no tool_intent" in done.stderr
    assert not folder(new).exists()


def _changed(pi: Pi) -> None:
    (folder(pi) / "index.ts").write_text("export default () => {};", encoding="utf-8")


def _missing(pi: Pi) -> None:
    (folder(pi) / "bridge.ts").unlink()


def _open(pi: Pi) -> None:
    (folder(pi) / "index.ts").chmod(0o666)


def _linked(pi: Pi) -> None:
    path = folder(pi) / "text.ts"
    shutil.move(path, pi.home / "text.ts")
    path.symlink_to(pi.home / "text.ts")


def _without_interpreter(pi: Pi) -> None:
    path = folder(pi) / "install.json"
    text = json.loads(path.read_text(encoding="utf-8")) | {"python": "/nowhere/python"}
    path.write_text(json.dumps(text), encoding="utf-8")


def _of_another_version(pi: Pi) -> None:
    path = folder(pi) / "install.json"
    text = json.loads(path.read_text(encoding="utf-8")) | {"version": "0.0.1"}
    path.write_text(json.dumps(text), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_changed, "index.ts was changed"),
        (_missing, "bridge.ts is missing"),
        (_open, "can be written by other users"),
        (_linked, "is a link"),
        (_without_interpreter, "the interpreter /nowhere/python is not there"),
        (_of_another_version, "the extension is of 0.0.1"),
    ],
)
def test_status_says_what_is_wrong(damage: Callable[[Pi], None], words: str, new: Pi) -> None:
    new.install()
    damage(new)
    (said,) = problems(new)
    assert words in said


def doctor(pi: Pi, *options: str) -> tuple[int, list[dict[str, object]]]:
    command = shlex.join(pi.command)
    done = pi.tool_intent("doctor", "--pi", command, "--format", "json", *options)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def wrong(checks: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(check["name"], check["text"]) for check in checks if not check["ok"]]


@pytest.mark.slow
def test_the_doctor_finds_nothing_wrong_and_names_what_runs_after_ours(pi: Pi) -> None:
    shutil.copy(AGENTS / "extensions" / "zz-probe.ts", pi.agent / "extensions")
    code, checks = doctor(pi)
    assert wrong(checks) == []
    assert code == 0
    said = {str(check["name"]): str(check["text"]) for check in checks}
    assert said["canary"] == "a call without a reason was refused, and nothing was executed"
    assert said["handlers"].endswith("zz-probe.ts")
    tools = [str(check["text"]) for check in checks if check["name"] == "tool"]
    assert "write: asked for intent, rationale" in tools
    assert "deploy: asked for nothing" in tools
    assert "anything: asked for nothing; not advertised, yet judged" in tools
    assert said["pi"].startswith({"pi-0.73": "0.73.1 ", "pi-1": "1.6.0 "}[pi.line])


@pytest.mark.slow
def test_the_doctor_sees_a_canary_that_runs(new: Pi) -> None:
    code, checks = doctor(new)
    assert code == 1
    assert ("canary", "a call without a reason was carried out") in wrong(checks)
    assert ("extension", "not installed: run tool-intent pi install") in wrong(checks)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "name", "words"),
    [
        ("version: 1\n", "note", "nothing is asked of any call"),
        ("version: 1\ntools: [\n", "policy", ".tool-intent/policy.yaml:"),
    ],
)
def test_the_doctor_fails_where_no_rule_was_loaded_or_a_policy_is_broken(
    policy: str, name: str, words: str, new: Pi
) -> None:
    new.install()
    new.policy(policy)
    code, checks = doctor(new)
    assert code == 1
    assert [str(text)[: len(words)] for said, text in wrong(checks) if said == name] == [words]


def test_the_doctor_says_where_there_is_no_pi(new: Pi) -> None:
    new.install()
    done = new.tool_intent("doctor", "--pi", "no-such-pi")
    assert done.returncode == 1
    assert "there is no 'no-such-pi' on PATH" in done.stdout


@pytest.mark.slow
def test_shadowed_tools_keep_what_pi_gives_them_and_follow_a_policy_that_asks_less(pi: Pi) -> None:
    pi.install("--shadow")
    pi.policy("version: 1\nextends: std/baseline\n")
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    entry = reasoned(oldText="one", newText="two")
    (pi.workspace / "a.txt").write_text("one", encoding="utf-8")
    session = pi.run([
        bare,
        calls(("write", reasoned(path="full.txt", content="x"))),
        calls(("edit", {"path": "a.txt", "edits": json.dumps([entry])})),
        calls(("bash", reasoned(command="sleep 0.2 && echo slept", timeout=1))),
    ])  # fmt: skip
    results = session.results
    assert "intent is missing" in results["call_0_0"].text
    assert not results["call_1_0"].is_error
    assert not results["call_2_0"].is_error, "argument repair is kept"
    assert results["call_3_0"].text.startswith("slept")
    assert session.tool("write").get("strict") is (pi.line == "pi-1"), "strict sampling is kept"
    assert list(session.tool("read")["parameters"]["properties"])[:2] == ["intent", "rationale"]


AGENT = """\
import { execFileSync } from "node:child_process";
export default function (pi: any) {
  pi.registerTool({ name: "agent", label: "agent", description: "Starts a sub-agent",
    parameters: { type: "object", properties: {} },
    async execute() {
      const run = JSON.parse(process.env.SUB_AGENT!);
      const { SUB_AGENT, ...env } = process.env;
      execFileSync(run[0], run.slice(1), { env, stdio: "ignore" });
      return { content: [{ type: "text", text: "the sub-agent ended" }], details: undefined };
    } });
}
"""


@pytest.mark.slow
def test_a_sub_agent_is_judged_by_an_engine_of_its_own(pi: Pi) -> None:
    (pi.agent / "extensions" / "zz-agent.ts").write_text(AGENT, encoding="utf-8")
    bare = calls(("write", {"path": "bare.txt", "content": "x"}))
    full = calls(("write", reasoned(path="full.txt", content="x")))

    def script(body: dict[str, object], number: int) -> dict[str, object]:
        if "sub-agent" in json.dumps(body["messages"]):
            return [bare, full, {"text": "done"}][min(number, 2)]
        return [calls(("agent", {})), {"text": "done"}][min(number, 1)]

    command = [*pi.arguments("json", (), ()), "be the sub-agent"]
    session = pi.run(script, environment={"SUB_AGENT": json.dumps(command)})
    assert session.code == 0
    results = session.results
    assert results["call_0_0"].is_error, "of the sub-agent, whose file is read last or first"
    assert sorted(p.name for p in pi.workspace.glob("*.txt")) == ["full.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("line", ["pi-0.73", "pi-1"])
def test_the_extension_is_typed_as_each_line_of_pi_has_it(line: str) -> None:
    installed(line)
    types = installed("types")
    compiler = types / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        ["node", str(compiler), "-p", f"{line}.json"],
        cwd=types, env=os.environ, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.stdout == ""
    assert done.returncode == 0


def test_the_parts_of_the_extension_that_stand_alone_do_what_they_say() -> None:
    installed("pi-1")
    done = subprocess.run(
        [node("pi-1"), "--test", str(AGENTS / "parts.test.mjs")],
        cwd=AGENTS, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout or "ℹ fail 0" in done.stdout


@pytest.mark.slow
def test_the_demo_shows_a_session_of_each_line() -> None:
    for line in LINES:
        installed(line)
    done = subprocess.run(
        [sys.executable, "-m", "agents.demo"],
        cwd=AGENTS.parent, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("  refused  ") == 6
    assert done.stdout.count("  ran      ") == 4
