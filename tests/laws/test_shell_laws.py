"""The shell reader against bash: what words become, and which commands run."""

from __future__ import annotations

import subprocess
import tempfile

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tool_intent.runtime.shell import analyse
from tool_intent.runtime.shell.braces import MAX_WORDS
from tool_intent.runtime.shell.scanner import scan
from tool_intent.runtime.shell.scope import Scope
from tool_intent.runtime.shell.words import expand

STRETCHES = [
    *["a", "b", ",", "{a,b}", "{1..3}", "{a..c}", "{b{c,d}e}", "{x}", "{}", "}", "{", "{{", "{,}"],
    *[r'"\$x"', r'"\a"', r"\,", "\\\\", r"\'", r"$'\x41\n'", r"$'\u00e9'", r"$'\101'", r"$'\''"],
    *[r"$'a\0b'", "{01..03}", "{3..1}", "{a,}", "-f", "=", "#", "~x", "%", '"\'"', "'\"'", "é"],
    *["..", "'q r'", '"d e"', "\\\n", '"x\\\ny"', "'\n'"],
]
WORD = st.lists(st.sampled_from(STRETCHES), min_size=1, max_size=6).map("".join)


@settings(max_examples=150, deadline=None)
@example(["{b{c,d}e}..a}"])
@given(st.lists(WORD, min_size=1, max_size=4))
def test_words_are_those_that_bash_makes_of_them(words: list[str]) -> None:
    text = " ".join(f"w{word}" for word in words)
    ran = subprocess.run(
        ["bash", "--norc", "-c", f'printf "%s\\0" {text}'],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
    )
    tokens = scan(text).tokens
    ours = [word for token in tokens for word in expand(token.pieces, Scope().lookup)]
    made, told = ran.stdout.decode().split("\0")[:-1], [word.text for word in ours]
    if None in told:  # a word that makes more words than are made is unknown
        assert len(made) > MAX_WORDS
    else:
        assert told == made


STUBS = """
FUNCNEST=6
exec 9>&1 >/dev/null 2>&1 </dev/null
say() { local IFS='|'; printf '%s\\n' "$*" >&9; }
rm() { say rm "$@"; }; git() { say git "$@"; false; }; run() { say run "$@"; }
PATH=/nonexistent
"""
ARGUMENTS = [
    *["a", "-f", "$X", '"$X"', "'b c'", "{p,q}", "${X:-rm}", "$(rm s)", '"$(git s)"', "`rm t`"],
    *["#c", "<(rm u)", "if", "done", "2>&1", "> o", "< o", "<<< $X", "X=1", "$((X))", "$((X=2))"],
]
PROGRAMS = [
    *["rm", "git", "run", "r\\m", "'rm'", "$X", '"$X"', "{rm,k}", "X=git run", "X=rm", "X='rm z'"],
    *["X+=m", "eval rm", "eval 'X=git;' run", "! rm", "export X=run;rm", "read X;rm"],
    *[
        "unset X; git",
        "f",
        "g",
        "command rm",
        "builtin eval git",
        "declare X=rm; $X",
        "((X=1));git",
    ],
    *["[[ a && $X ]] && rm"],
]
ARGUMENT, PROGRAM = st.sampled_from(ARGUMENTS), st.sampled_from(PROGRAMS)
SIMPLE = st.tuples(PROGRAM, st.lists(ARGUMENT, max_size=3)).map(lambda c: " ".join([c[0], *c[1]]))
JOINTS = st.sampled_from(
    [" ; ", " && ", " || ", " | ", "\n", " & ", " |& ", " \\\n ; ", " # x ; rm y\n"]
)
SHAPES = [
    "({})", "{{ {}\n}}",
    "if {}\nthen rm i; fi", "if git; then {}\nfi", "for X in rm run; do {}\ndone",
    "run $( {}\n)", "run \"$( {}\n)\"", "f() {{ {}\n}}", "case $X in rm|a) {}\n;; *) git;; esac",
    "run <<E\n$( {}\n)\nE\n", "run <<'E'\n{}\nE\n", "while git; do {}\ndone",
    "until rm; do {}\ndone",
    "run $(case a in a) {}\n;; esac)", "{{ {}\n}} > o 2>&1", "g() ( {}\n)", "! {{ {}\n}}",
]  # fmt: skip


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    joined = st.lists(st.tuples(inner, JOINTS), min_size=1, max_size=3).map(
        lambda items: "".join(a + b for a, b in items[:-1]) + items[-1][0]
    )
    return joined | st.tuples(st.sampled_from(SHAPES), joined).map(lambda s: s[0].format(s[1]))


@settings(max_examples=200, deadline=None)
@given(st.recursive(SIMPLE, _compound, max_leaves=8))
def test_what_bash_runs_is_among_the_parts(text: str) -> None:
    command = analyse(text)
    if not command.parsed or "parts" in command.unknown:
        return
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            ["bash", "--norc", "-c", f"{STUBS}\n{text}"],
            capture_output=True,
            cwd=folder,
            timeout=20,
            check=False,
            env={"LC_ALL": "C.UTF-8"},
        )
    for line in ran.stdout.decode().splitlines():
        program, *words = line.split("|")
        assert any(
            part.program == program and (None in part.words or list(part.words) == words)
            for part in command.parts
        ), (line, command.parts)
