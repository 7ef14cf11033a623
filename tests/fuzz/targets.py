"""What is fuzzed, and what it promises whatever it is given: an answer, soon, with a position.

Each target takes bytes and raises AssertionError where a promise is broken; anything else that it
raises is a crash.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from tool_intent.authoring.examples import NOW, PLACE, run_examples, with_places
from tool_intent.authoring.explain import Explainer
from tool_intent.authoring.rendering import explanation_lines
from tool_intent.cli.lines import LineError, OutcomeLine, read_line
from tool_intent.compiler.artifact import Artifact
from tool_intent.compiler.loading import compiled
from tool_intent.policy.load import load
from tool_intent.policy.sources import Root, pack_path
from tool_intent.rules.check import check_text
from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.rules.printer import print_rules
from tool_intent.runtime.model import Call
from tool_intent.runtime.wire import dump

#: Seconds of computing that no input of a few kilobytes may take.
LONGEST: Final = 10.0
ARGS: Final[dict[str, Any]] = {
    "path": "src/a.py", "command": "rm -rf build && git push", "content": "x", "url": "https://a.b",
    "intent": "Build afresh", "rationale": "build is old", "timeout": 3,
    "edits": [{"oldText": "a", "newText": "b", "intent": "i", "rationale": "r"}],
}  # fmt: skip
#: How a result begins that tells of an exception.
_FAULT: Final = re.compile(r"[A-Za-z]+(?:Error|Exception|Iteration|Interrupt): ")


def rules(data: bytes) -> None:
    """Rule text: it is checked; if it is sound, it prints to itself, its examples run, and calls
    are judged and explained by it without a fault inside."""
    text = data.decode("utf-8", "replace")
    with soon():
        tree, found = check_text(text, "f.rules")
        assert_told(found, text)
        assert (tree is None) == any(d.severity == "error" for d in found)
        if tree is None:
            return
        printed = print_rules(tree)
        again, _ = check_text(printed, "f.rules")
        assert again is not None, printed
        assert print_rules(again) == printed
        _judged_by(text)


def policy(data: bytes) -> None:
    """A policy file: every error has its place, and what was loaded judges a call."""
    with soon():
        loaded = _loaded(data, "policy.yaml")
        assert_told(loaded.broken + loaded.warnings, data.decode("utf-8", "replace"))
        artifact = compiled(loaded, PLACE)
        decision = artifact.decide(_call("bash"), artifact.new_history())
        assert decision.decision in ("allow", "ask", "deny")
        assert not loaded.broken or decision.decision == "deny"


def call(data: bytes) -> None:
    """A line of `decide`: no call, or a decision that is JSON."""
    with soon():
        read = _read(data)
        if isinstance(read, LineError):
            assert read.code.startswith("input/")
            assert read.message
        if not isinstance(read, Call):
            return
        artifact = _strict()
        decision = artifact.decide(read._replace(now=NOW), artifact.new_history())
        assert "engine/rule-error" not in {f.rule for f in decision.findings}
        assert dump(decision.to_dict())


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "rules": rules, "policy": policy, "call": call,
}  # fmt: skip


def assert_told(found: Iterable[Diagnostic], text: str) -> None:
    """Every diagnostic says something of a place that is in the text."""
    for d in found:
        assert d.message
        assert d.code
        assert d.line >= 1
        assert d.column >= 1
        assert (d.line, d.column) <= (d.end_line, d.end_column)
        assert d.line <= text.count("\n") + text.count("\r") + 2, d
        assert d.render(text.split("\n"))


@contextmanager
def soon() -> Iterator[None]:
    """The block computes for `LONGEST` seconds at the most."""
    before = time.process_time()
    yield
    assert time.process_time() - before < LONGEST


def _judged_by(text: str) -> None:
    loaded = with_places(_loaded(text.encode("utf-8"), "f.rules"))
    if loaded.broken:
        return  # a word list that is not there
    for result in run_examples(loaded):
        assert not _FAULT.match(result.told), result.told
    artifact = compiled(loaded, PLACE)
    explainer = Explainer(artifact)
    history = artifact.new_history(keep=True)
    for tool in ("bash", "write", "edit", "odd"):
        asked = _call(tool)
        for line in explanation_lines(explainer.explain(asked, history), whole=True):
            assert line.isprintable()
        artifact.decide(asked, history)


def _read(data: bytes) -> Call | OutcomeLine | LineError:
    try:
        return read_line(data, 1)
    except LineError as error:
        return error


def _call(tool: str) -> Call:
    return Call(1, tool, ARGS, {"branch": "main"}, None, NOW)


def _loaded(data: bytes, name: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        return load([Root(path, "repo", name)])


@functools.cache
def _strict() -> Artifact:
    path = pack_path("std/strict")
    assert path is not None
    return compiled(load([Root(path, "repo", "std/strict")]), PLACE)
