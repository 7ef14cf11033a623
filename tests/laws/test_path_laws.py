"""Paths and globs: git agrees on what a glob matches, nothing raises, nothing takes long."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.runtime import paths
from tool_intent.runtime.casing import probe_case
from tool_intent.runtime.globs import GlobError, compile_glob, matches_text
from tool_intent.runtime.paths import Place

from .conftest import examples

law = settings(deadline=None, max_examples=examples(dev=50, ci=150))

GLOBS = """
a;b;*.b;a*;*;**;a/b;/a;/a/b;a/*;a/**;**/a;**/a/**;a/**/b;**/b/a;*/b;?;a?b;[ab];[!a];[^a-b]c;[a-c]/b;
*a*b;*b*a*;a*b*c;a/**/b/**/c;**/**/b;a/**/**;\\*;\\a;b.b/;a/;/a/;c/*/;**/c/;[]]*;a.b/c;*/*/c;.a;.*;
**a;a**;a**b/c;[[:alpha:]];[[:punct:]]b;x[a-]b;/*;/**;/*/b;/**/b;a/b/;*.*
""".replace("\n", "").split(";")
NAMES = ["a", "b", "c", "ab", "axb", ".a", "b.b", "a.b", "]", "*"]
PATHS = ["/".join(p) for n in (1, 2, 3) for p in itertools.product(NAMES[: 11 - 2 * n], repeat=n)]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")
@pytest.mark.parametrize("glob", GLOBS)
def test_git_agrees_on_what_a_glob_matches(glob: str, tmp_path: Path) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    git = ["git", "-c", "core.excludesFile=", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True, env=env)
    (tmp_path / ".gitignore").write_text(f"{glob}\n", encoding="utf-8")
    told = subprocess.run(
        [*git, "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(PATHS), capture_output=True, text=True, env=env, check=False,
    )  # fmt: skip
    ignored = set(told.stdout.split("\0"))
    place = Place(str(tmp_path), str(tmp_path), None, case_insensitive=False)
    for path in PATHS:
        ours = paths.like(paths.resolve(path, place, literal=True), [glob], place)
        # None: no such file is there, and the glob asks for a directory.
        assert ours is None or ours is (path in ignored), path


@law
@given(st.text(max_size=40), st.text(max_size=10), st.booleans(), st.sampled_from([None, "/w"]))
def test_no_text_makes_paths_raise(text: str, other: str, windows: bool, cwd: str | None) -> None:
    place = Place("C:\\w" if windows else "/w", cwd, cwd, windows=windows)
    assert paths.under(text, [other, "."], place) in (True, False, None)
    assert paths.same(text, other, place) in (True, False, None)
    assert paths.like(text, ["*.env", "/a/**"], place) in (True, False, None)
    assert "/" not in paths.basename(text)


@law
@given(st.text("ab*?[]!^-\\/{},.~:", max_size=16), st.text("ab/.]!-", max_size=12))
def test_a_glob_compiles_or_says_where_it_is_wrong(glob: str, text: str) -> None:
    try:
        compile_glob(glob)
    except GlobError as error:
        bad = error
    else:
        assert matches_text(text, [glob]) in (True, False)
        return
    assert 0 <= bad.offset <= len(glob)
    assert bad.message
    assert bad.help


@law
@given(st.lists(st.sampled_from(["a", "b", "..", ".", ""]), min_size=1, max_size=8))
def test_spelling_a_path_otherwise_changes_no_answer(names: list[str]) -> None:
    place = Place("/nowhere-here/w", "/nowhere-here/w", None, case_insensitive=False)
    text = "/".join(names)
    tidy = os.path.normpath("/nowhere-here/w/" + text)
    if text.startswith("/"):
        tidy = os.path.normpath("/" + text.lstrip("/"))
    if text:
        assert paths.same(text, tidy, place) is True
        assert paths.under(text, ["a"], place) is paths.under(tidy, ["a"], place)


@law
@given(st.text("ab/", min_size=1, max_size=12))
def test_an_unknown_cwd_never_turns_a_true_or_unknown_into_false(text: str) -> None:
    known = Place("/nowhere-here", "/nowhere-here", None, case_insensitive=False)
    unknown = known._replace(cwd=None)
    for test, other in ((paths.under, "a"), (paths.like, "b*"), (paths.like, "a/b")):
        if test(text, [other], known) is not False:
            assert test(text, [other], unknown) is not False


@pytest.mark.parametrize(
    "glob",
    [
        "**/**/**/a*a*a*b", "*a" * 60 + "*b", "**/*a*/" * 30 + "b", "*" * 500 + "b",
        "**/a/" * 60 + "b",
        "**/" + "a/" * 60 + "b", "?" * 200 + "*a*b", "**/" + "[ab]*" * 40 + "c",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ["a" * 4000, "a/" * 2000 + "c", "aaa/" * 1000, "ab" * 2000 + "d"])
def test_hostile_globs_take_no_time(glob: str, text: str) -> None:
    compiled = compile_glob(glob)
    start = time.perf_counter()
    assert compiled.exact.match(text) is None
    assert compiled.fold.match(text) is None
    assert time.perf_counter() - start < 30


def test_a_folder_that_may_not_be_entered_makes_its_paths_unknown(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to root")
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0)
    place = Place(str(tmp_path), str(tmp_path), None, case_insensitive=False)
    try:
        assert paths.under("closed/x/y", ["src"], place) is None
        assert paths.under("closed/x/y", ["closed"], place) is True
    finally:
        closed.chmod(0o700)


def test_a_root_behind_a_link_is_the_same_root(tmp_path: Path) -> None:
    (tmp_path / "real" / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    place = Place(str(tmp_path / "link"), str(tmp_path / "real"), None, case_insensitive=False)
    assert paths.under("src/x", ["src"], place) is True
    assert paths.like("src/x.py", ["src/*.py"], place) is True
    assert paths.like(str(tmp_path / "real/src/x.py"), ["/src/*"], place) is True


def test_the_probe_tells_what_the_file_system_does(tmp_path: Path) -> None:
    folder = tmp_path / "Probe"
    folder.mkdir()
    assert probe_case(str(folder)) is (tmp_path / "pROBE").exists()
    assert probe_case(str(folder / "none")) is None


@pytest.mark.parametrize(
    ("text", "windows", "name"),
    [
        ("a/b.py", False, "b.py"), ("a/b/", False, "b"), ("/", False, ""), ("", False, ""),
        ("b", False, "b"), ("a\\b", False, "a\\b"), ("a\\b", True, "b"), ("C:\\", True, ""),
    ],
)  # fmt: skip
def test_basename_is_the_last_name(text: str, windows: bool, name: str) -> None:
    assert paths.basename(text, windows=windows) == name


def test_host_names_match_globs_whatever_their_case() -> None:
    assert matches_text("API.acme.example", ["*.acme.example"])
    assert not matches_text("acme.example.evil.test", ["*.acme.example", "acme.example"])
    assert not matches_text("", ["*"])
