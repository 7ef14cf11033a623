"""pi with the extension, both lines: one real session each, many calls of a scripted model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.ledger.going_back import past
from tool_intent.ledger.imports.importing import Importer
from tool_intent.ledger.imports.model import OUR_REFUSAL
from tool_intent.ledger.objects import ObjectStore
from tool_intent.ledger.reading import records
from tool_intent.ledger.recorder import Stretch
from tool_intent.ledger.verifying import verify

from . import pages
from .harness import LINES, Pi, calls, reasoned
from .installed import AGENTS

POLICY = """\
version: 1
extends: std/baseline
max_retries: 100
tools:
  deploy: {require: [intent, rationale]}
  constructor: {require: [intent, rationale]}
  closed: {require: [intent, rationale]}
  steps: {at: "steps[]", require: [intent, rationale]}
  anything: {require: [intent, rationale]}
"""
FILES = {
    "start.txt": "one three",
    "two.txt": "one two",
    "repaired.txt": "one",
    "diffed.txt": "one",
    "lines.txt": "first\nsecond\nthird\n",
    "src/main.ts": "const x = 1;",
    "package.json": '{"scripts": {"test": "echo tested"}}',
}
SCENARIOS: list[dict[str, Any]] = yaml.safe_load(
    (AGENTS / "scenarios.yaml").read_text(encoding="utf-8")
)
TOOLS = (
    "write", "edit", "bash", "read", "deploy", "constructor", "closed", "steps", "anything",
)  # fmt: skip
KINDS = ("seed", "fault", "input", "other")


def step(scenario: dict[str, Any], line: str) -> dict[str, Any]:
    """What the model sends in a scenario; on the line that it is not about, a call that passes."""
    if scenario.get("only", line) != line:
        return calls(("read", reasoned(path="start.txt")))
    if "raw" in scenario:
        name, text = scenario["raw"]
        return {"calls": [{"name": name, "raw": text}]}
    if "large" in scenario:
        return calls(("write", {"path": "large.txt", "content": "x" * scenario["large"]}))
    name = next(t for t in TOOLS if t in scenario)
    return calls((name, scenario[name]))


class Shown:
    """A session of all scenarios on one line."""

    def __init__(self, line: str, folder: Path, python: Path) -> None:
        self.pi = Pi(line, python, folder)
        self.pi.install()
        self.pi.policy(POLICY)
        extensions = self.pi.agent / "extensions"
        shutil.copy(AGENTS / "extensions" / "zz-probe.ts", extensions)
        for name, text in FILES.items():
            path = self.pi.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        log = folder / "probe.jsonl"
        self.files: list[dict[str, str | None]] = []
        environment = {"PROBE_LOG": str(log)}
        if line == "pi-0.73":
            environment["PROBE_CONSTRUCTOR"] = "1"
        self.session = self.pi.run(self._next, environment=environment)
        logged = [json.loads(text) for text in log.read_text(encoding="utf-8").splitlines()]
        self.received = {one["id"]: one for one in logged if "params" in one or "input" in one}

    def _next(self, _: dict[str, Any], number: int) -> dict[str, Any]:
        """The next scenario's call; what the one before left behind is looked at first."""
        if number > len(self.files):
            self.files.append(self._seen(SCENARIOS[number - 1].get("file", {})))
        return (
            step(SCENARIOS[number], self.pi.line) if number < len(SCENARIOS) else {"text": "done"}
        )

    def _seen(self, names: dict[str, Any]) -> dict[str, str | None]:
        paths = {name: self.pi.workspace / name for name in names}
        return {n: p.read_text(encoding="utf-8") if p.exists() else None for n, p in paths.items()}


@pytest.fixture(scope="session", params=LINES)
def shown(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, python: Path
) -> Shown:
    """The session of all scenarios."""
    return Shown(request.param, tmp_path_factory.mktemp(request.param), python)


def named(number: int) -> str:
    scenario = SCENARIOS[number]
    kind = next(k for k in KINDS if k in scenario)
    return f"{kind}: {scenario[kind]}"


@pytest.mark.parametrize("number", range(len(SCENARIOS)), ids=named)
def test_a_call_comes_to_what_it_should(number: int, shown: Shown) -> None:
    scenario = SCENARIOS[number]
    if scenario.get("only", shown.pi.line) != shown.pi.line:
        pytest.skip(f"{shown.pi.line} has no such tool")
    made = f"call_{number}_0"
    result = shown.session.results[made]
    print(result.text)
    if "refused" in scenario:
        assert result.is_error
        for words in scenario["refused"]:
            assert words in result.text
        for words in scenario.get("not_refused", ()):
            assert words not in result.text
        assert "Received arguments" not in result.text
        assert len(result.text) <= scenario.get("longest", 1_500)
        assert made not in shown.received, "what is refused reaches no tool"
        assert shown.session.told[made] == result.text, "the model is told what the session keeps"
    if "says" in scenario:
        assert scenario["says"] in result.text
    if scenario.get("gets"):
        got = shown.received[made]
        assert got.get("input", got.get("params")) == scenario["gets"]
    assert shown.files[number] == scenario.get("file", {})
    for name, value in scenario.get("kept", {}).items():
        assert shown.session.calls[made][name] == value
    if "diff" in scenario:
        messages = shown.session.messages("toolResult")
        (details,) = [m["details"] for m in messages if m["toolCallId"] == made]
        assert scenario["diff"] in details["diff"]


def test_no_call_reaches_a_tool_with_a_field_left_in_it(shown: Shown) -> None:
    assert len(shown.received) > 10
    for received in shown.received.values():
        text = json.dumps(received)
        assert '"intent"' not in text
        assert '"rationale"' not in text


def test_the_session_ends_by_itself_and_nothing_is_said_on_standard_error(shown: Shown) -> None:
    assert shown.session.code == 0
    told = [x for x in shown.session.err.splitlines() if x]
    assert [x for x in told if "fields of anything are not advertised" not in x] == []


SCHEMAS = {
    "write": (["path", "content"], []),
    "edit": (["path", "edits"], []),
    "bash": (["command"], ["timeout"]),
    "read": (["path"], ["offset", "limit"]),
}


@pytest.mark.parametrize("tool", SCHEMAS)
def test_the_model_is_shown_the_fields_first_and_the_tools_own_arguments_unchanged(
    tool: str, shown: Shown
) -> None:
    required, optional = SCHEMAS[tool]
    schema = shown.session.tool(tool)["parameters"]
    assert list(schema["properties"]) == ["intent", "rationale", *required, *optional]
    place = schema["properties"]["edits"]["items"] if tool == "edit" else schema
    assert place["required"][:2] == ["intent", "rationale"]
    described = place["properties"]["intent"]["description"]
    assert described.startswith("The concise goal this action serves")
    justified = place["properties"]["rationale"]["description"]
    assert justified.startswith("The concise justification, grounded in a user requirement")
    assert set(required) <= set(schema["required"])


def test_a_timeout_is_shown_in_seconds_as_pi_takes_it(shown: Shown) -> None:
    bash = shown.session.tool("bash")["parameters"]["properties"]["timeout"]
    assert "in seconds" in json.dumps(bash)


def test_strict_sampling_is_kept_where_pi_has_it(shown: Shown) -> None:
    strict = {name: shown.session.tool(name).get("strict") for name in SCHEMAS}
    expected = shown.pi.line == "pi-1"
    assert strict == dict.fromkeys(SCHEMAS, expected)


def test_the_system_prompt_is_pis_own(shown: Shown) -> None:
    (system,) = [m for m in shown.session.requests[0]["messages"] if m["role"] == "system"]
    assert "tool-intent" not in json.dumps(system)
    assert "Create or overwrite files" in json.dumps(system), "pi's snippets of its tools are there"


def test_the_session_file_says_which_policy_was_in_force(shown: Shown) -> None:
    told = [e["data"] for e in shown.session.entries if e.get("customType") == "tool-intent"]
    (entry,) = [data for data in told if "policies" in data]
    assert entry["policies"][0].startswith("sha256:")


def test_the_session_file_holds_what_the_ledger_has_of_it(shown: Shown) -> None:
    told = [e["data"] for e in shown.session.entries if e.get("customType") == "tool-intent"]
    (stretch,) = [data for data in told if "earlier" in data][-1]["earlier"]
    (found,) = past(str(shown.pi.ledger), stretch["session"], [Stretch(**stretch)])
    assert found.decisions is not None
    judged = [r for r in records(str(shown.pi.ledger)) if r["type"] == "decision"]
    assert len(found.decisions) == len(judged) > 10


def _came_to(number: int, shown: Shown) -> str:
    """What a scenario came to, in the words of a table's cell."""
    scenario = SCENARIOS[number]
    result = shown.session.results[f"call_{number}_0"]
    if result.is_error:
        found = [x.removeprefix("- ") for x in result.text.splitlines() if x.startswith("- ")]
        said = "; ".join(x.partition(". ")[0].rstrip(".") for x in found)
        left = [name for name, text in scenario.get("file", {}).items() if text is None]
        return f"refused: {said}" + ("; nothing written" if left else "")
    made = [f"`{n}` holds `{t}`" for n, t in scenario.get("file", {}).items() if t]
    told = [f"says `{scenario['says']}`"] if "says" in scenario else []
    told += ["the session file keeps both"] if "kept" in scenario else []
    told += ["the diff is there"] if "diff" in scenario else []
    return "; ".join(["carried out", *made, *told])


#: Where what a session shows of the fault is not what a call came to.
FAULTS_SEEN_ELSEWHERE = {
    "Strict sampling was lost": {"pi-0.73": "pi has none", "pi-1": "kept on all four"},
    "pi 0.73 was not served": {"pi-0.73": "this column", "pi-1": "the same extension"},
}


def _rows(shown: Shown) -> list[tuple[str, str]]:
    listed = [n for n, s in enumerate(SCENARIOS) if "seed" in s or "fault" in s]
    rows = [
        (SCENARIOS[n].get("seed") or f"Fault: {SCENARIOS[n]['fault']}", _came_to(n, shown))
        for n in listed
    ]
    seen = FAULTS_SEEN_ELSEWHERE.items()
    return rows + [(f"Fault: {fault}", cells[shown.pi.line]) for fault, cells in seen]


def test_the_page_says_what_each_line_showed(shown: Shown) -> None:
    rows = _rows(shown)
    column = {"pi-0.73": 1, "pi-1": 2}[shown.pi.line]
    lines = [x for x in pages.part("parity").splitlines() if x.startswith("|")][2:]
    cells = [[c.strip() for c in x.strip("|").split(" | ")] for x in lines]
    if [c[0] for c in cells] != [name for name, _ in rows]:
        cells = [[name, "?", "?"] for name, _ in rows]
    for row, (_, text) in zip(cells, rows, strict=True):
        row[column] = text.replace("|", "\\|")
    head = "| what the seed states, or what went wrong | pi 0.73.1 | pi 1.6.0 |\n|---|---|---|"
    body = "\n".join(f"| {' | '.join(row)} |" for row in cells)
    pages.expect("parity", f"{head}\n{body}")


FLUFF = {
    "intent": "Ensure the notes are complete",
    "rationale": "It is important to make sure that everything works as expected.",
}
REASON = {
    "intent": "Name the export where users look first",
    "rationale": "Two customers asked support in May whether 2.0 has it.",
}


@pytest.mark.parametrize("line", LINES)
def test_the_anti_fluff_pack_refuses_a_phrase_and_lets_its_mended_call_through(
    line: str, tmp_path: Path, python: Path
) -> None:
    pi = Pi(line, python, tmp_path)
    pi.install()
    pi.policy("version: 1\npolicy: acme/notes\nextends: [std/baseline, std/anti-fluff]\n")
    write = {"path": "notes.md", "content": "- CSV export\n"}
    session = pi.run(
        [calls(("write", write | FLUFF)), calls(("write", write | REASON)), {"text": "done"}]
    )
    refused, written = session.results["call_0_0"], session.results["call_1_0"]
    assert refused.is_error
    assert "fluff/no-reason" in refused.text
    assert not written.is_error
    assert (pi.workspace / "notes.md").read_text(encoding="utf-8") == "- CSV export\n"


@pytest.mark.parametrize("line", LINES)
def test_what_a_result_said_grounds_what_a_later_call_cites(
    line: str, tmp_path: Path, python: Path
) -> None:
    pi = Pi(line, python, tmp_path)
    pi.install()
    pi.policy(
        'version: 1\ntools: {"*": {optional: [rationale]}}\n'
        'rules: |\n  rule r/seen on bash require seen(rationale) else deny "Not seen."\n'
    )
    (pi.workspace / "log.txt").write_text("see PAY-77\n", encoding="utf-8")
    session = pi.run(
        [
            calls(("bash", {"command": "true", "rationale": "PAY-78 asks for it"})),
            calls(("read", {"path": "log.txt"})),
            calls(("bash", {"command": "true", "rationale": "PAY-77 asks for it"})),
            {"text": "done"},
        ]
    )
    unseen = session.results["call_0_0"]
    assert unseen.is_error
    # The user's message was told, so that it is known.
    assert "Not seen" in unseen.text
    assert "nobody tells" not in unseen.text
    assert not session.results["call_2_0"].is_error


def test_every_call_is_in_the_ledger_with_its_reasons_and_what_came_of_it(shown: Shown) -> None:
    folder = str(shown.pi.ledger)
    assert verify(folder).whole
    kept = list(records(folder))
    decisions = {r["call"]["id"]: r for r in kept if r["type"] == "decision"}
    outcomes = {r["of"]: r for r in kept if r["type"] == "outcome"}
    for made, result in shown.session.results.items():
        if made in shown.received and decisions[made]["decision"]["verdict"] == "allow":
            assert outcomes[decisions[made]["id"]]["ok"] is not result.is_error
    written = [o for o in outcomes.values() if o.get("files")]
    store = ObjectStore(folder)
    assert len(written) > 3
    left = [f["post"] for o in written for f in o["files"] if f["post"] is not None]
    assert all(store.get(post) is not None for post in left)
    assert {d["session"]["agent"] for d in decisions.values()} == {"pi"}
    assert {d["call"]["surface"] for d in decisions.values()} == {"pi"}
    assert any("intent" in entry for d in decisions.values() for entry in d.get("entries", ()))


def test_the_session_file_is_imported_into_a_ledger(shown: Shown, tmp_path: Path) -> None:
    [file] = shown.pi.files()
    done = Importer(str(tmp_path), str(shown.pi.workspace)).take(str(file))
    assert done.faults == ()
    assert done.written >= len(shown.session.calls)
    decisions = {r["call"]["id"]: r for r in records(str(tmp_path)) if r["type"] == "decision"}
    assert set(shown.session.calls) <= set(decisions)
    oks = {r["of"]: r["ok"] for r in records(str(tmp_path)) if r["type"] == "outcome"}
    for made, result in shown.session.results.items():
        record = decisions[made]
        refused = result.is_error and OUR_REFUSAL in result.text
        assert record["decision"]["verdict"] == ("deny" if refused else "allow")
        assert oks.get(record["id"]) == (None if refused else not result.is_error)
    said = [e for r in decisions.values() for e in r.get("entries", ())]
    assert {"intent", "rationale"} <= {key for entry in said for key in entry}
