"""Rule text, policy files and calls, mangled: an answer each time, soon, with a position."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from ..fuzz.targets import TARGETS
from . import rule_strategies as generated
from .conftest import examples

ROOT: Final = Path(__file__).parents[2]
CORPUS: Final = sorted((ROOT / "tests/corpus/fuzz").glob("*/*"))
PACKS: Final = ROOT / "policies/packs/std"
FUZZER: Final = ROOT / "tests/fuzz/atheris_rules.py"
#: Seconds that the guided fuzzer is given for a target where everything is run.
GUIDED: Final = 20

RULES: Final = [
    rule
    for path in [*sorted(PACKS.glob("*.rules")), *sorted((ROOT / "tests/assets").rglob("*.rules"))]
    for rule in re.split(r"\n(?=rule |words |define |option )", path.read_text("utf-8"))
]
POLICIES: Final = [
    path.read_text("utf-8")
    for path in [*sorted(PACKS.glob("*.yaml")), *sorted((ROOT / "tests/assets").rglob("*.yaml"))]
]
SCRAPS: Final = [
    "", " ", "\n", "\n  ", "\t", "\0", "\u202e", "\u2028", "é", "\U0001f600", '"', "'", "{", "}",
    "[", "]", "(", ")", "/", "\\", "#", ":", "-", "*", "&a", "*a", "<<", "!!python/object:x", "|",
    ">", "@exec", "@none", "not ", "and ", "any(p in command.parts: ", "earlier ", "within 2h",
    "this.path", "args[]", "args[0]", "9" * 400, "1e999", "-0", "\\u0000", "\ud800".encode(
        "utf-8", "surrogatepass").decode("utf-8", "replace"), "__proto__", "intent", "rationale",
]  # fmt: skip


@st.composite
def mangled(draw: st.DrawFn, seeds: list[str]) -> bytes:
    """A seed with pieces cut, doubled, swapped with others', or scraps put in."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        piece = draw(
            st.one_of(st.sampled_from(SCRAPS), st.just(text[start:end] * 2), st.text(max_size=5))
        )
        text = text[:start] + piece + text[end:]
    return text.encode("utf-8", "replace")


@settings(max_examples=examples(dev=60, ci=5_000))
@given(data=mangled(RULES))
def test_any_rule_text_is_answered_and_what_is_sound_judges(data: bytes) -> None:
    TARGETS["rules"](data)


@settings(max_examples=examples(dev=40, ci=5_000))
@given(text=generated.rules())
def test_any_sound_rule_judges_and_explains_any_call(text: str) -> None:
    TARGETS["rules"](text.encode())


@settings(max_examples=examples(dev=60, ci=5_000))
@given(data=mangled(POLICIES))
def test_any_policy_file_is_answered(data: bytes) -> None:
    TARGETS["policy"](data)


CALLS: Final = st.builds(
    lambda tool, args: json.dumps({"tool": tool, "args": args}),
    st.one_of(st.sampled_from(["bash", "edit", "write", "WebFetch"]), st.text(max_size=8)),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(
                st.one_of(
                    st.sampled_from(["path", "command", "intent", "rationale", "edits", "url"]),
                    st.text(max_size=6),
                ),
                inner,
                max_size=5,
            ),
        ),
        max_leaves=15,
    ),
)


@settings(max_examples=examples(dev=150, ci=5_000))
@given(data=st.one_of(CALLS.map(str.encode), CALLS.flatmap(lambda c: mangled([c]))))
def test_any_line_is_a_call_that_is_judged_or_says_why_not(data: bytes) -> None:
    TARGETS["call"](data)


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_an_input_of_the_corpus_is_answered(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


def test_the_corpus_has_inputs_for_every_target() -> None:
    assert {path.parent.name for path in CORPUS} == set(TARGETS)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_the_guided_fuzzer_finds_nothing_in_its_time(target: str, tmp_path: Path) -> None:
    if find_spec("atheris") is None:
        pytest.skip("atheris is not installed: the guided fuzzer does not run")
    done = subprocess.run(
        [sys.executable, str(FUZZER), target, str(GUIDED)],
        cwd=tmp_path,
        capture_output=True,
        timeout=GUIDED * 10,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-3_000:]
