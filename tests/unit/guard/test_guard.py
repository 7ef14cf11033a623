"""The Python surface: a refused call never reaches its tool, an allowed one arrives stripped."""

from __future__ import annotations

import asyncio
import copy
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import tool_intent
from tool_intent import Call, Denied, Guard, PolicyError
from tool_intent.ledger.place import LedgerError
from tool_intent.ledger.recorder import NullRecorder, Ticket, Told

GOOD = {"path": "a", "content": "b", "intent": "i", "rationale": "because"}
BAD = {"path": "a", "content": "b", "intent": "i", "rationale": "No"}


class Tool:
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, args: dict[str, Any]) -> str:
        self.calls.append(args)
        return "done"


def test_an_allowed_call_reaches_the_tool_without_fields(guard: Guard) -> None:
    tool = Tool()
    assert guard.call("write", GOOD, tool) == "done"
    assert tool.calls == [{"path": "a", "content": "b"}]


def test_a_refused_call_raises_denied_and_the_tool_is_not_called(guard: Guard) -> None:
    tool = Tool()
    with pytest.raises(Denied) as denied:
        guard.call("write", BAD, tool)
    assert tool.calls == []
    assert denied.value.retryable is False
    assert {f.rule for f in denied.value.decision.findings} == {
        "fields/minLength", "fields/pattern",
    }  # fmt: skip
    assert str(denied.value) == denied.value.decision.message


def test_ask_is_not_allowed_without_a_person(guard: Guard) -> None:
    tool = Tool()
    with pytest.raises(Denied):
        guard.call("ask", {}, tool)
    assert tool.calls == []


def test_what_the_tool_raises_passes_through(guard: Guard) -> None:
    def broken(_: dict[str, Any]) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        guard.call("write", GOOD, broken)


def test_acall_awaits_the_tool_and_refuses_alike(guard: Guard) -> None:
    calls: list[Any] = []

    async def execute(args: dict[str, Any]) -> str:
        calls.append(args)
        return "done"

    assert asyncio.run(guard.acall("write", GOOD, execute)) == "done"
    with pytest.raises(Denied):
        asyncio.run(guard.acall("write", BAD, execute))
    assert calls == [{"path": "a", "content": "b"}]


def test_check_gives_the_decision_in_the_published_shape(guard: Guard) -> None:
    decision = guard.check("edit", {"edits": [{"intent": "i"}, {}]}, id="c7").to_dict()
    assert list(decision) == [
        "id", "tool", "decision", "findings", "message", "args", "provenance", "policy",
    ]  # fmt: skip
    assert decision["id"] == "c7"
    assert decision["args"] == {"edits": [{}, {}]}
    assert decision["provenance"] == [{"at": "/edits/0", "intent": "i"}]
    assert [f["at"] for f in decision["findings"]] == [
        "/edits/0/rationale", "/edits/1/intent", "/edits/1/rationale",
    ]  # fmt: skip
    assert decision["policy"].startswith("sha256:")


def test_given_arguments_are_never_changed_and_later_changes_do_not_count(guard: Guard) -> None:
    args = {"edits": [{"intent": "i", "rationale": "because", "n": [1]}]}
    before = copy.deepcopy(args)
    decision = guard.check("edit", args)
    assert args == before
    args["edits"][0]["n"].append(2)
    args["edits"].append({"rm": "-rf"})
    assert decision.args == {"edits": [{"n": [1]}]}
    decision.args["edits"].clear()
    assert decision.args == {"edits": [{"n": [1]}]}


@pytest.mark.parametrize("name", ["decision", "allowed", "findings", "args", "message", "new"])
def test_a_decision_is_immutable(guard: Guard, name: str) -> None:
    decision = guard.check("write", BAD)
    with pytest.raises(AttributeError):
        setattr(decision, name, "allow")
    with pytest.raises(AttributeError):
        decision.findings[0].effect = "note"


def test_check_many_answers_calls_and_mappings_in_order(guard: Guard) -> None:
    calls = [Call(1, "write", GOOD), {"id": 2, "tool": "write", "args": BAD}, {"tool": "write"}]
    decisions = list(guard.check_many(calls))
    assert [(d.id, d.decision) for d in decisions] == [(1, "allow"), (2, "deny"), (None, "deny")]


def test_strip_takes_the_fields_out_unjudged(guard: Guard) -> None:
    assert guard.strip("edit", {"edits": [{"intent": 7}], "intent": "kept"}) == {
        "edits": [{}], "intent": "kept",
    }  # fmt: skip


def test_extend_puts_the_fields_first_and_leaves_the_input_alone(guard: Guard) -> None:
    own = {
        "name": "write",
        "description": "Write a file.",
        "inputSchema": {
            "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"],
        },
    }  # fmt: skip
    before = copy.deepcopy(own)
    extended = guard.extend(own)
    assert own == before
    assert list(extended["inputSchema"]["properties"]) == ["intent", "rationale", "path"]
    assert extended["inputSchema"]["required"] == ["intent", "rationale", "path"]
    assert extended["inputSchema"]["properties"]["rationale"]["minLength"] == 4
    assert extended["inputSchema"]["properties"]["rationale"]["pattern"] == "^[a-z ]+$"
    assert "`intent` and `rationale` are required with each call." in extended["description"]
    assert guard.not_advertised == {}


def test_a_field_that_the_tool_defines_itself_is_a_collision_and_is_not_stripped(
    guard: Guard,
) -> None:
    own = {
        "name": "write",
        "description": "",
        "inputSchema": {"type": "object", "properties": {"intent": {"type": "string"}}},
    }
    assert guard.extend(own) == own
    assert dict(guard.not_advertised["write"])[""] == "the tool defines `intent` itself"
    decision = guard.check("write", GOOD)
    assert [f.rule for f in decision.findings] == ["fields/collision"]
    assert decision.args == {"path": "a", "content": "b", "intent": "i"}
    assert guard.check("write", GOOD, schema={"type": "object"}).allowed


def test_a_call_that_was_approved_after_all_counts_by_what_came_of_it(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        'version: 1\nrules: |\n  rule a/ask on deploy\n    ask "Sure?"\n'
        "  rule a/after on announce\n    require earlier deploy passed within 9 calls\n"
    )
    guard = Guard.load(str(policy), cwd=str(tmp_path))
    admission = guard.admit("deploy", {})
    assert admission.decision.decision == "ask"
    assert not guard.check("announce", {}).allowed
    admission.settle(True)
    assert guard.check("announce", {}).allowed


@pytest.mark.parametrize(
    ("how", "said", "key"), [("prefix", {"ti_intent": "why"}, "ti_intent"), ("reuse", {}, "intent")]
)
def test_what_a_policy_says_of_a_collision_holds_from_the_schema_to_the_tool(
    how: str, said: dict[str, Any], key: str, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"version: 1\ncollision: {how}\ntools: {{write: {{require: [intent]}}}}\n")
    guard = Guard.load(str(policy), cwd=str(tmp_path))
    own = {"type": "object", "properties": {"intent": {"const": "own"}, "path": {}}}
    extended = guard.extend({"name": "write", "description": "", "inputSchema": own})
    assert extended["inputSchema"]["required"] == [key]
    assert extended["inputSchema"]["properties"]["intent"] == {"const": "own"}
    assert f"`{key}` is required with each call." in extended["description"]
    assert guard.not_advertised == {}
    args = {"intent": "own", "path": "a"}
    assert guard.call("write", args | said, lambda given: given) == args
    assert guard.strip("write", args | said) == args
    assert [f.at for f in guard.check("write", {"path": "a"}).findings] == [f"/{key}"]


def test_what_cannot_be_extended_is_reported_and_judged_all_the_same(guard: Guard) -> None:
    own = {"name": "edit", "inputSchema": {"type": "object", "properties": {"edits": True}}}
    assert guard.extend(own) == own
    assert "edits[]" in dict(guard.not_advertised["edit"])
    assert not guard.check("edit", {"edits": [{}]}).allowed


@pytest.mark.parametrize("args", [None, [], "x", 3, True, object()])
def test_arguments_that_are_no_object_are_denied(guard: Guard, args: object) -> None:
    decision = guard.check("write", args)
    assert [f.rule for f in decision.findings] == ["args/not-an-object"]
    assert decision.args is None


def test_values_that_are_no_json_pass_untouched_and_carry_no_field(guard: Guard) -> None:
    handle = object()
    decision = guard.check("write", {**GOOD, "handle": handle, "pair": ({"intent": "kept"},)})
    assert decision.allowed
    assert decision.args["handle"] is handle
    assert decision.args["pair"] == ({"intent": "kept"},)


def test_a_dictionary_that_lies_about_its_content_is_judged_as_it_runs(guard: Guard) -> None:
    class Liar(dict):
        def get(self, key: str, default: Any = None) -> Any:
            return "because"

        def items(self) -> Any:
            return iter([("path", "evil")])

    tool = Tool()
    with pytest.raises(Denied):
        guard.call("write", Liar(path="a"), tool)
    assert tool.calls == []


def test_the_guard_keeps_the_policy_it_began_with(policy: str, guard: Guard) -> None:
    Path(policy).write_text("version: 1\ntools: {write: {optional: [intent]}}\n")
    assert not guard.check("write", {}).allowed


def test_no_policy_an_empty_one_and_a_broken_one_are_errors_not_guards(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="no policy found"):
        Guard.load(cwd=str(tmp_path))
    empty = tmp_path / "empty.yaml"
    empty.write_text("version: 1\n")
    with pytest.raises(PolicyError, match="asks for nothing"):
        Guard.load(str(empty), cwd=str(tmp_path))
    broken = tmp_path / "broken.yaml"
    broken.write_text("version: 1\ntools: {write: {require: [intnt]}}\n")
    with pytest.raises(PolicyError) as error:
        Guard.load(str(broken), cwd=str(tmp_path))
    assert "intent" in error.value.diagnostics[0].help
    with pytest.raises(PolicyError, match="std/baselin"):
        Guard.load("std/baselin", cwd=str(tmp_path))


def test_a_broken_policy_that_was_found_denies_every_call(tmp_path: Path) -> None:
    folder = tmp_path / ".tool-intent"
    folder.mkdir()
    (folder / "policy.yaml").write_text("version: 1\ntools: [\n")
    guard = Guard.load(cwd=str(tmp_path))
    decision = guard.check("anything", {"x": 1})
    assert [f.rule for f in decision.findings] == ["policy/broken"]
    assert "stop" in decision.message


def test_given_sources_add_to_those_found(tmp_path: Path, policy: str) -> None:
    folder = tmp_path / ".tool-intent"
    folder.mkdir()
    (folder / "policy.yaml").write_text("version: 1\ntools: {read: {require: [intent]}}\n")
    guard = Guard.load(policy, cwd=str(tmp_path))
    assert not guard.check("read", {}).allowed
    assert not guard.check("write", {}).allowed


def test_a_decorated_function_is_judged_stripped_and_run(guard: Guard) -> None:
    seen = []

    @guard.tool
    def add(first: int, second: int = 2) -> int:
        """Add two numbers."""
        seen.append((first, second))
        return first + second

    assert add(1, intent="sum up") == 3
    assert add(first=1, second=5, intent="sum up") == 6
    with pytest.raises(Denied):
        add(1, 2)
    assert seen == [(1, 2), (1, 5)]
    assert list(add.spec["inputSchema"]["properties"]) == ["intent", "first", "second"]
    assert add.spec["inputSchema"]["required"] == ["intent", "first"]
    assert add.spec["name"] == "add"
    assert not hasattr(add, "__wrapped__")
    with pytest.raises(TypeError, match="positional"):
        add(1, 2, 3, intent="too many")
    with pytest.raises(TypeError, match="first"):
        add(1, first=1, intent="twice")


def test_a_decorated_coroutine_function_is_awaited(guard: Guard) -> None:
    @guard.tool
    async def later(x: int) -> int:
        await asyncio.sleep(0)
        return x

    assert asyncio.run(later(3, intent="wait")) == 3
    with pytest.raises(Denied):
        asyncio.run(later(3))


def test_a_function_whose_arguments_have_no_names_cannot_be_a_tool(guard: Guard) -> None:
    with pytest.raises(TypeError, match="by name"):

        @guard.tool
        def add(*numbers: int) -> int:
            return sum(numbers)


class _Fails:
    """A recorder whose disk is full, or that has a fault."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def decision(self, told: Told) -> None:
        raise self.error

    def outcome(self, ticket: Ticket, ok: bool) -> None:
        raise AssertionError("there is no record that this would be the outcome of")


@pytest.mark.parametrize(
    ("error", "required", "runs"),
    [
        (OSError("no space left"), False, True),
        (OSError("no space left"), True, False),
        (LedgerError("no space left"), False, True),
        (LedgerError("no space left"), True, False),
        (ValueError("no space left"), False, False),
    ],
)
def test_no_record_is_no_call_where_one_is_required_or_the_recorder_is_at_fault(
    error: Exception, required: bool, runs: bool, tmp_path: Path
) -> None:
    text = "version: 1\nextends: std/baseline\n" + "audit: {required: true}\n" * required
    (tmp_path / "p.yaml").write_text(text)
    tool = Tool()
    guard = Guard.load("p.yaml", cwd=str(tmp_path), recorder=_Fails(error))
    if runs:
        guard.call("write", GOOD, tool)
    else:
        with pytest.raises(Denied) as denied:
            guard.call("write", GOOD, tool)
        (finding,) = denied.value.decision.findings
        assert (finding.rule, finding.effect) == ("audit/unrecorded", "deny")
        assert "no space" not in str(denied.value), "what is wrong with the disk is for a person"
        assert str(denied.value).endswith("tell the user what is said above, and stop.")
    assert len(tool.calls) == runs
    assert guard.notes[-1] == "a decision was not recorded: no space left"


def test_the_decision_is_recorded_before_the_tool_runs_and_the_outcome_after(
    policy: str, tmp_path: Path
) -> None:
    events: list[str] = []

    class Keeps:
        def decision(self, told: Told) -> Ticket:
            events.append(f"{told.decision.decision} in {told.call.session}")
            return Ticket("7")

        def outcome(self, ticket: Ticket, ok: bool) -> None:
            events.append(f"outcome of {ticket.id}: {ok}")

    def fails(_: Any) -> None:
        raise KeyError

    guard = Guard.load(policy, cwd=str(tmp_path), recorder=Keeps())
    guard.call("write", GOOD, lambda _: events.append("runs"), session="s")
    with pytest.raises(KeyError):
        guard.call("write", GOOD, fails)
    with pytest.raises(Denied):
        guard.call("write", BAD, lambda _: events.append("runs"))
    guard.check("write", GOOD)
    assert events == [
        "allow in s", "runs", "outcome of 7: True", "allow in None", "outcome of 7: False",
        "deny in None",
    ]  # fmt: skip


def test_eight_threads_get_the_answers_that_one_gets(policy: str, tmp_path: Path) -> None:
    guard = Guard.load(policy, cwd=str(tmp_path))
    calls = [("write", GOOD), ("write", BAD), ("edit", {"edits": [{}]}), ("other", {})] * 50
    alone = [guard.check(t, a, id=n).to_dict() for n, (t, a) in enumerate(calls)]
    fresh = Guard.load(policy, cwd=str(tmp_path))
    barrier = threading.Barrier(8)

    def work(_: int) -> list[dict[str, Any]]:
        barrier.wait()
        return [fresh.check(t, a, id=n).to_dict() for n, (t, a) in enumerate(calls)]

    with ThreadPoolExecutor(8) as pool:
        assert all(answers == alone for answers in pool.map(work, range(8)))


PACKAGE = str(Path(tool_intent.__file__).parent)


class _Injected(Exception):
    pass


def _lines_until_the_tool(guard: Guard, args: dict[str, Any], fail_at: int | None) -> int:
    """Run one call, raising at the package's line number `fail_at`; how many lines were run."""
    lines = 0
    injected = False

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines, injected
        if not frame.f_code.co_filename.startswith((PACKAGE, "<tool-intent")):
            return None
        if frame.f_code.co_name == "__del__":
            return None  # of a guard that was let go of before: no part of judging this call
        if event == "line":
            lines += 1
            if lines - 1 == fail_at:
                injected = True
                raise _Injected
        return trace

    def tool(_: dict[str, Any]) -> None:
        sys.settrace(None)
        ran.append(lines)

    ran: list[int] = []
    sys.settrace(trace)
    try:
        guard.call("edit", args, tool)
    except (Denied, _Injected):
        pass
    finally:
        sys.settrace(None)
    assert not injected or ran == [], f"the tool ran although line {fail_at} failed"
    return lines


# An exception between opening a file and wrapping it leaves that file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "known_before",
    [
        pytest.param(True, id="known tool"),
        pytest.param(False, id="first call", marks=pytest.mark.slow),
    ],
)
def test_an_exception_at_any_line_of_judging_leaves_the_tool_uncalled(
    policy: str, tmp_path: Path, known_before: bool
) -> None:
    args = {"edits": [{"intent": "é", "rationale": "because it is"}], "ünder": [1, {"a": 2.5}]}

    def prepared() -> Guard:
        # Recording is the same for both, and costs each line a write.
        recorder = None if known_before else NullRecorder()
        guard = Guard.load(policy, cwd=str(tmp_path), recorder=recorder)
        if known_before:
            guard.check("edit", args)
        return guard

    total = _lines_until_the_tool(prepared(), args, None)
    assert total > 100
    for line in range(total):
        _lines_until_the_tool(prepared(), args, line)


class _Other(dict[str, Any]):
    """A dictionary that nothing is taken for granted of."""


@pytest.mark.parametrize("value", ["x", 1, "é", 1e999, None, [1]])
@pytest.mark.parametrize(
    "key",
    [
        "path",
        "note",
        "__proto__",
        "prototype",
        "Intent",
        "ıntent",
        "intent ",
        "in/tent",
        "",
        "\udc00",
    ],
)
def test_arguments_are_judged_alike_whether_or_not_they_look_simple(
    guard: Guard, key: str, value: Any
) -> None:
    args = {"intent": "Go.", "rationale": "because", key: value}
    assert guard.check("write", args) == guard.check("write", _Other(args))
