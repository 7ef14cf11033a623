"""`make bench`: what the engine costs, as ratios to a floor measured in the same run.

JSON lines on standard output, a table on standard error. The exit code is 0 whatever the figures:
a slow machine fails nobody's tests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import bridge_subjects
import fluff_subjects
import ledger_subjects
import log_subjects
import mcp_subjects
import peers
import rank_subjects
import rule_subjects
import why_subjects
import workloads
import yaml
from measure import Subject, Timings, interleaved, over, percentile, ratio

from tool_intent import Call, Guard
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import load
from tool_intent.policy.schema_errors import validator

ROUNDS = 41
_NO_CACHE = {"TOOL_INTENT_CACHE": "off"}
_FIELDS = {"intent": "Guard the hash chain", "rationale": "Issue 12 shows it torn."}
_LINE = json.dumps({"tool": "tool_00500", "args": _FIELDS}).encode() + b"\n"


class Row(NamedTuple):
    """A ratio of one subject to a floor (several count together, a number is seconds), and the
    budget it is to keep; None where the figure is only watched. Without a floor, only the time
    counts."""

    name: str
    subject: str
    floor: tuple[str, ...] | float | None
    budget: float | None = None


ROWS = (
    Row("compiled W1", "w1 compiled", ("w1 floor",), 1.25),
    Row("compiled W2", "w2 compiled", ("w2 floor",), 1.0),
    Row("Guard.check W1", "w1 guard", ("w1 floor",), 3.0),
    Row("Guard.check W2", "w2 guard", ("w2 floor",)),
    Row("floor tuned by hand W1", "w1 tuned", ("w1 floor",)),
    Row("floor tuned by hand W2", "w2 tuned", ("w2 floor",)),
    Row("jsonschema iter_errors W1", "w1 jsonschema", ("w1 floor",)),
    Row("jsonschema iter_errors W2", "w2 jsonschema", ("w2 floor",)),
    Row("pydantic model W1", "w1 pydantic", ("w1 floor",)),
    Row("pydantic model W2", "w2 pydantic", ("w2 floor",)),
    Row("agentbelay 0.1.0 W1", "w1 agentbelay", ("w1 floor",)),
    Row("cold load of 1,000 tools", "cold 1,000", ("compose 1,000", "validate 1,000"), 2.0),
    Row("cached first decision of 1,000 tools in 3 ms", "cached 1,000", 0.003, 1.0),
    Row("cached first decision of 10,000 tools in 1,000", "cached 10,000", ("cached 1,000",), 1.5),
    Row("decide as a process", "process decide", ("process bare",), 6.0),
    Row("unread 2 MiB argument in 2 KiB", "unread 2 MiB", ("unread 2 KiB",), 1.1),
    Row("import tool_intent as a process", "process import", ("process bare",)),
    Row("compiled W3", "w3 compiled", ("w3 floor",), 0.7),
    Row("compiled W3 in jsonschema iter_errors", "w3 compiled", ("w3 jsonschema",), 0.15),
    Row("compiled W3 in agentbelay 0.1.0", "w3 compiled", ("w3 agentbelay",), 0.3),
    Row("Guard.check W3", "w3 guard", ("w3 floor",)),
    Row("jsonschema iter_errors W3", "w3 jsonschema", ("w3 floor",)),
    Row("agentbelay 0.1.0 W3", "w3 agentbelay", ("w3 floor",)),
    Row("50 rules over 5 edits in W1", "fifty compiled", ("fifty floor",), 60.0),
    Row(
        "cold load of 1,000 tools and 1,000 rules",
        "rules cold 1,000",
        ("rules compose 1,000", "rules parse 1,000", "rules validate 1,000"),
        3.0,
    ),
    Row(
        "cold load of 10,000 tools and rules in 1,000",
        "rules cold 10,000",
        ("rules cold 1,000",),
        12.0,
    ),
    Row(
        "six ranks of 2,000 rules resolved in parsed",
        "ranks resolved",
        ("ranks composed", "ranks parsed", "ranks validated"),
        1.6,
    ),
    Row(
        "cached first decision of six ranks in one file", "ranks cached", ("one file cached",), 1.2
    ),
    Row(
        "looking back after 100,000 calls in after 10",
        "after 100,000 calls",
        ("after 10 calls",),
        1.3,
    ),
    Row("std/anti-fluff on a write of 8 KB in floor of W3", "fluff 8 KB", ("fluff floor",), 40.0),
    Row("std/anti-fluff on 100 KB in on 4 KB", "fluff 100 KB", ("fluff 4 KB",), 1.1),
    Row("small write over the bridge", "bridge small", ("bridge ping",), 4.0),
    Row("write of 100 KB that a rule reads, over it", "bridge 100 KB", ("bridge ping",), 40.0),
    Row("bridge ready from the cache", "bridge ready", ("bridge pass",), 8.0),
    Row("chained append in a plain one", "append chained", ("append plain",), 1.5),
    Row("recording a command that names no file in a write", "record ls", ("record write",), 1.5),
    Row("recording a command that writes one in it", "record sed", ("record write",), 2.5),
    Row("twenty of 100,000 records in of 2,000", "log of 100,000", ("log of 2,000",), 2.0),
    Row(
        "every two filters, of 100,000 records in 10,000",
        "filters 100,000",
        ("filters 10,000",),
        2.5,
    ),
    Row("decide by std/strict as a process", "process strict", ("process bare",)),
    Row(
        "why of 10,000 lines after 5,000 calls in 500", "why 5,000 calls", ("why 500 calls",), 12.0
    ),
    Row("the same why once more in the first", "why again", ("why 5,000 calls",), 0.2),
    Row("deciding a command of 100,000 pipes", "100,000 pipes", None),
    Row("deciding a command of 100,000 parentheses", "100,000 parentheses", None),
    Row("deciding a command of one word of 10 MB", "a word of 10 MB", None),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subjects, absent = _subjects(Path(folder))
        timings = interleaved(subjects, ROUNDS)
        differ = dict(_differences(subjects))
        answers = [_answer(row, timings, differ, absent) for row in ROWS]
        answers += mcp_subjects.answers(Path(folder))
        answers += why_subjects.answers()
    for answer in answers:
        print(json.dumps(answer))
    print(_table(answers), file=sys.stderr)


# --- what is timed -------------------------------------------------------------------------------


def _subjects(folder: Path) -> tuple[dict[str, Subject], dict[str, str]]:
    """Everything to time, by name; and what cannot be timed, with the reason."""
    policy = folder / "policy.yaml"
    policy.write_text(workloads.POLICY, encoding="utf-8")
    artifact = load([str(policy)], found=False, environ=_NO_CACHE)
    subjects: dict[str, Subject] = {}
    absent: dict[str, str] = {}
    for name, make in (_judging(artifact) | rule_subjects.judging(folder)).items():
        try:
            subjects[name] = make()
        except ImportError as error:
            absent[name] = f"not installed ({error.name})"
    subjects |= fluff_subjects.subjects(folder)
    subjects |= _unread(artifact)
    subjects |= _loading(folder)
    subjects |= _processes(folder)
    subjects |= rule_subjects.loading(folder)
    subjects |= rank_subjects.loading(folder)
    subjects |= rule_subjects.looking_back(folder)
    subjects |= rule_subjects.hostile(folder)
    subjects |= bridge_subjects.subjects(folder)
    subjects |= ledger_subjects.subjects(folder / "ledgers")
    subjects |= log_subjects.subjects(folder / "logs")
    subjects |= why_subjects.subjects(folder)
    return subjects, absent


def _judging(artifact: Artifact) -> dict[str, Callable[[], Subject]]:
    w1, w2 = workloads.inputs_w1(), workloads.inputs_w2()
    check = Guard(artifact).check
    return {
        "w1 floor": lambda: over(workloads.floor_w1, w1, 5),
        "w2 floor": lambda: over(workloads.floor_w2, w2, 2),
        "w1 tuned": lambda: over(workloads.tuned_w1, w1, 5),
        "w2 tuned": lambda: over(workloads.tuned_w2, w2, 2),
        "w1 compiled": lambda: over(artifact.program("write").judge, w1, 5),
        "w2 compiled": lambda: over(artifact.program("edit").judge, w2, 2),
        "w1 guard": lambda: _checks(check, "write", w1, 5),
        "w2 guard": lambda: _checks(check, "edit", w2, 2),
        "w1 jsonschema": lambda: over(peers.jsonschema("write"), w1),
        "w2 jsonschema": lambda: over(peers.jsonschema("edit"), w2),
        "w1 pydantic": lambda: over(peers.pydantic("write"), w1),
        "w2 pydantic": lambda: over(peers.pydantic("edit"), w2),
        "w1 agentbelay": lambda: over(peers.agentbelay("write"), w1),
    }


def _checks(
    check: Callable[..., Any], tool: str, inputs: Sequence[dict[str, Any]], times: int
) -> Subject:
    def run() -> None:
        for args in inputs:
            check(tool, args)

    return Subject(run, times, (lambda args: check(tool, args), inputs))


def _unread(artifact: Artifact) -> dict[str, Subject]:
    """Calls that differ in the size of an argument of which no policy speaks."""
    check = Guard(artifact).check
    small, large = (
        [{"path": "a.txt", "content": "x" * size, **_FIELDS}] * 1000 for size in (1 << 11, 1 << 21)
    )
    return {
        "unread 2 KiB": _checks(check, "write", small, 5),
        "unread 2 MiB": _checks(check, "write", large, 5),
    }


def _loading(folder: Path) -> dict[str, Subject]:
    """From a policy's text, and from the cache, to a first decision; and the least that reading
    the text takes."""
    texts = {count: _many_tools(count) for count in (1_000, 10_000)}
    files = {count: folder / f"tools-{count}.yaml" for count in texts}
    for count, file in files.items():
        file.write_text(texts[count], encoding="utf-8")
    cached = {"TOOL_INTENT_CACHE": str(folder / "cache")}
    workspace = _workspace(folder)
    text = texts[1_000]
    data = yaml.load(text, Loader=yaml.CSafeLoader)
    published = validator("policy")

    def first(count: int, environ: dict[str, str]) -> None:
        artifact = load([str(files[count])], cwd=workspace, found=False, environ=environ)
        decision = artifact.decide(Call(1, "tool_00500", dict(_FIELDS)))
        assert decision.allowed

    return {
        "cold 1,000": Subject(lambda: first(1_000, _NO_CACHE)),
        "compose 1,000": Subject(lambda: yaml.compose(text, Loader=yaml.CSafeLoader)),
        "validate 1,000": Subject(lambda: list(published.iter_errors(data))),
        "cached 1,000": Subject(lambda: first(1_000, cached), 5),
        "cached 10,000": Subject(lambda: first(10_000, cached), 5),
    }


def _many_tools(count: int) -> str:
    """A policy of about 45 bytes a tool."""
    entries = "".join(f"  tool_{n:05}: {{require: [intent, rationale]}}\n" for n in range(count))
    return f"version: 1\npolicy: bench/many\ntools:\n{entries}"


def _workspace(folder: Path) -> str:
    """Where calls are judged: not above the cache, or the cache would not be trusted."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    return str(workspace)


def _processes(folder: Path) -> dict[str, Subject]:
    """Whole processes of this interpreter; `decide` finds its policy in the cache."""
    environ = {n: v for n, v in os.environ.items() if not n.startswith("TOOL_INTENT_")}
    environ["TOOL_INTENT_CACHE"] = str(folder / "cache")
    command = Path(sys.executable).with_name("tool-intent")
    policy = folder / "tools-1000.yaml"
    workspace = _workspace(folder)

    def process(*arguments: str | Path) -> Subject:
        def run() -> None:
            subprocess.run(
                arguments, input=_LINE, stdout=subprocess.DEVNULL, env=environ, cwd=workspace,
                check=True,
            )  # fmt: skip

        return Subject(run)

    return {
        "process bare": process(sys.executable, "-c", "pass"),
        "process import": process(sys.executable, "-c", "import tool_intent"),
        "process decide": process(command, "decide", "--policy", policy),
        "process strict": process(command, "decide", "--policy", "std/strict"),
    }


# --- what is told --------------------------------------------------------------------------------


def _differences(subjects: dict[str, Subject]) -> Iterator[tuple[str, int]]:
    """Of how many calls a subject's verdict is not the floor's."""
    for name, subject in subjects.items():
        floor = _FLOORS.get(name[:2])
        if subject.calls is not None and floor is not None:
            function, inputs = subject.calls
            yield name, sum(_faulty(function(i)) is not _faulty(floor(i)) for i in inputs)


_FLOORS = {"w1": workloads.floor_w1, "w2": workloads.floor_w2, "w3": workloads.floor_w3}


def _faulty(answer: Any) -> bool:
    return not answer.allowed if hasattr(answer, "allowed") else bool(answer)


def _answer(
    row: Row, timings: dict[str, Timings], differ: dict[str, int], absent: dict[str, str]
) -> dict[str, Any]:
    answer: dict[str, Any] = {"name": row.name, "ratio": None, "budget": row.budget}
    needed = [row.subject, *(row.floor if isinstance(row.floor, tuple) else ())]
    missing = [absent[name] for name in needed if name in absent]
    if missing:
        return answer | {"absent": missing[0]}
    subject = timings[row.subject]
    if row.floor is None:
        return answer | {"value": _milliseconds(subject), "unit": "ms"}
    if isinstance(row.floor, float):
        floor = [Timings(dict.fromkeys(subject.rounds, row.floor), [])]
    else:
        floor = [timings[name] for name in row.floor]
    answer["ratio"] = round(ratio(subject, floor), 3)
    if row.budget is not None:
        answer["over"] = answer["ratio"] > row.budget
    if subject.calls:
        p50, p99 = (percentile(subject.calls, share) for share in (0.5, 0.99))
        answer |= {
            "p50_us": p50 / 1000,
            "p99_us": p99 / 1000,
            "p99_ratio": round(p99 / percentile(floor[0].calls, 0.99), 3),
        }
    else:
        answer["median_ms"] = _milliseconds(subject)
    if differ.get(row.subject):
        answer["verdicts_that_differ"] = differ[row.subject]
    return answer


def _milliseconds(subject: Timings) -> float:
    return round(median(subject.rounds.values()) * 1000, 3)


def _table(answers: Sequence[dict[str, Any]]) -> str:
    lines = [f"{'':46} {'ratio':>8} {'budget':>7}  {'p50':>10} {'p99':>10}"]
    for answer in answers:
        if answer["ratio"] is None:
            time = f"{'':19}{answer['value']:7.2f} ms" if "value" in answer else answer["absent"]
            lines.append(f"{answer['name']:46} {time}")
            continue
        budget = "" if answer["budget"] is None else f"{answer['budget']:g}"
        line = f"{answer['name']:46} {answer['ratio']:8.2f} {budget:>7}  "
        if "p50_us" in answer:
            line += f"{answer['p50_us']:7.2f} µs {answer['p99_us']:7.2f} µs"
        else:
            line += f"{answer['median_ms']:7.2f} ms"
        if answer.get("over"):
            line += "  OVER BUDGET"
        if "verdicts_that_differ" in answer:
            line += f"  {answer['verdicts_that_differ']} verdicts differ"
        lines.append(line)
    over_budget = [answer["name"] for answer in answers if answer.get("over")]
    verdict = f"over budget: {', '.join(over_budget)}" if over_budget else "every budget is kept"
    lines += ["", f"{verdict} (medians of {ROUNDS} interleaved rounds)"]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
