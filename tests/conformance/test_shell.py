"""The `command` type: conformance rows, laws and limits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.runtime.shell import ATTRIBUTES, Command, analyse, runs

ROWS = yaml.safe_load(Path(__file__).with_name("shell.yaml").read_text("utf-8"))
LISTS = ("deletes", "writes", "reads", "refs", "urls", "paths")


def observed(command: Command, key: str, expected: Any) -> Any:
    if key == "programs":
        return [part.program for part in command.parts]
    if key == "pipes":
        return [f"{pipe.from_} {pipe.to}" for pipe in command.pipes]
    if key == "runs":
        return {spec: runs(command, spec) for spec in expected}
    if key == "unknown":
        return "all" if command.unknown == ATTRIBUTES else sorted(command.unknown)
    value = getattr(command, key)
    return list(value) if key in LISTS else value


@pytest.mark.parametrize("row", ROWS, ids=[row["command"][:60] for row in ROWS])
def test_a_command_is_analysed_as_its_row_says(row: dict[str, Any]) -> None:
    command = analyse(row["command"], row.get("cwd"))
    expected = {key: value for key, value in row.items() if key not in ("command", "cwd")}
    assert {key: observed(command, key, value) for key, value in expected.items()} == expected


FRAGMENTS = [
    *r"""rm git push -f -rf --force x $X "$X" 'a b' ~ * {a,b} ; & && || | |& ( ) { } ! # > < >> <<
    <<< 2>&1 $( ` ${ } $(( )) (( [[ ]] if then else fi for in do done while case esac ;; f()
    A=1 \ ' " sudo env xargs bash -c eval cd find -exec {} EOF $'\x41' <( =""".split(),  # noqa: SIM905
    "\n",
    "\\\n",
    "<<EOF\n",
    "\nEOF\n",
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map(" ".join) | st.text(max_size=40)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_analysis_never_raises_and_is_deterministic(text: str) -> None:
    first = analyse(text)
    assert first == analyse(text)
    assert first.parsed or (first.unknown == ATTRIBUTES and not first.resolved)
    assert runs(first, "rm -f") in (True, False, None)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["-f", "-rf", "x", "$X", '"$X"', "--force", "--", "push", "-C"])))
def test_a_wrapper_hides_nothing_that_runs(words: list[str]) -> None:
    for program in ("rm", "git"):
        bare = analyse(" ".join([program, *words]))
        wrapped = analyse(" ".join(["sudo", "-u", "me", "env", "A=1", program, *words]))
        for spec in ("rm -r -f", "rm", "git push --force", "git push", "git"):
            assert runs(wrapped, spec) == runs(bare, spec)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["rm", "git", "push", "-f", "-rf", "x", "y", "main"]), min_size=1),
    st.data(),
)
def test_hiding_a_word_never_turns_true_into_false(words: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(words) - 1))
    hidden = [*words[:index], "$UNKNOWN", *words[index + 1 :]]
    before, after = analyse(" ".join(words)), analyse(" ".join(hidden))
    for spec in ("rm -r -f", "rm", "git push --force", "git push main"):
        assert not (runs(before, spec) is True and runs(after, spec) is False)
    assert set(before.deletes) <= set(after.deletes) or "deletes" in after.unknown


HOSTILE = {
    "pipes": '"a|" * 100_000',
    "parentheses": '"(" * 100_000 + ")" * 100_000',
    "one word": '"a" * 10_000_000',
    "one quoted word": '"echo \'" + "a b" * 3_000_000 + "\'"',
    "one double-quoted word": '"echo \\"" + "a b" * 3_000_000 + "\\""',
    "substitutions": '"$(" * 10_000',
    "quoted substitutions": '"\\"$(" * 10_000',
    "semicolons": '"a;" * 100_000',
    "here-document": '"cat > f <<E\\n" + "x y (z | \\n" * 8192 + "E\\n"',
    "here-documents": '"cat <<A\\n" * 10_000',
    "backticks": '"`" * 100_001',
    "escapes": '"\\\\a" * 1_000_000',
    "blanks": '" " * 10_000_000',
    "continued lines": '"\\\\\\n" * 1_000_000',
    "braces": '"{a,b}" * 1_000',
    "brackets": '"rm " + "[a" * 100_000',
    "address-like": '"curl " + "a-" * 100_000',
    "options": '"x -" + "a" * 1_000_000',
    "growing variables": '"X=a;" + "X=$X$X;" * 100 + "rm $X"',
    "wide variables": '"X=\'" + "a " * 30_000 + "\';" + "echo $X;" * 500',
    "conditions": '"a && " * 1_900 + "a"',
    "wrappers": '"sudo " * 3_000 + "rm"',
    "compound": '"if " * 10_000',
    "arithmetic": '"((" * 50_000',
    "scripts in scripts": '"eval " * 1_000 + "x"',
}
MEASURE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))
from tool_intent.runtime.shell import analyse, runs
analyse("a")
text = eval(sys.argv[1])
start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
command = analyse(text)
verdict = runs(command, "git push --force")
assert command.parsed or verdict is None
print(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start)
"""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_judged_before_its_deadline_and_within_a_gibibyte(text: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, text], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    # A deadline, not a measurement: what is superlinear takes minutes here.
    assert float(ran.stdout) < 30


def test_a_long_here_document_is_read_to_its_end() -> None:
    command = analyse("cat > f <<'E'\n" + "rm $(x) | (\n" * 8192 + "E\nrm y")
    assert (command.writes, command.deletes, command.parsed) == (("f",), ("y",), True)


def test_the_parser_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, tool_intent.runtime.shell; print('tree_sitter' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("before", "after"), [("( ", " )"), ("{ ", "; }"), ("if a; then ", "; fi"), ("echo $(", ")")]
)
def test_nesting_is_read_to_its_limit_and_refused_beyond(before: str, after: str) -> None:
    assert analyse(before * 30 + "rm x" + after * 30).deletes == ("x",)
    beyond = analyse(before * 60 + "rm x" + after * 60)
    assert (beyond.parsed, beyond.unknown) == (False, ATTRIBUTES)
