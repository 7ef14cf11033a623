"""`init` and `check`: a first policy, and what is wrong with one."""

from __future__ import annotations

import json
import os

import pytest

from .command import Command, call, rules, tree
from .test_policies import write

WARNED = "version: 1\ntools:\n  bsh: {require: [intent]}\n"
BROKEN = "version: 1\nunlisted: maybe\ntools:\n  bash: {require: [intnt]}\n"


def test_a_first_policy_is_right_and_asks_for_reasons(bare: Command) -> None:
    done = bare("init")
    assert (done.code, done.err) == (0, "")
    assert ".tool-intent/policy.yaml" in done.out
    assert bare("check", "--strict") == (0, "0 errors, 0 warnings in 1 file\n", "")
    (answer,) = bare.decide(call("bash", command="ls"))
    assert {r for r, *_ in rules(answer)} == {"fields/missing"}


def test_the_comments_of_a_first_policy_are_right_too(bare: Command) -> None:
    """Whoever removes the `#` gets what stands there."""
    assert bare("init").code == 0
    path = bare.cwd / ".tool-intent" / "policy.yaml"
    head, *rest = path.read_text().splitlines()
    write(path, "\n".join([head, *(line.removeprefix("# ") for line in rest)]) + "\n")
    assert "\n  ticket:" in path.read_text()
    done = bare("check", "--strict")
    assert done.code == 0, done.out
    (answer,) = bare.decide(call("bash", command="ls"))
    assert ("fields/missing", "/ticket", "deny") in rules(answer)


def test_what_a_first_policy_proposes_works(bare: Command) -> None:
    done = bare("init")
    proposed = [
        line.partition("#")[0].split() for line in done.out.splitlines() if "  tool-" in line
    ]
    assert [words[1] for words in proposed] == ["check", "show", "run"]
    assert bare("check").code == 0
    assert bare("show", "--effective").code == 0


def test_an_existing_policy_is_never_overwritten(bare: Command) -> None:
    write(bare.cwd / ".tool-intent" / "policy.yaml", WARNED)
    before = tree(bare.cwd)
    done = bare("init")
    assert (done.code, done.out) == (2, "")
    assert "already there" in done.err
    assert tree(bare.cwd) == before


def test_a_link_to_nothing_is_not_written_through(bare: Command) -> None:
    (bare.cwd / ".tool-intent").mkdir()
    (bare.cwd / ".tool-intent" / "policy.yaml").symlink_to(bare.cwd / "elsewhere.yaml")
    assert bare("init").code == 2
    assert not (bare.cwd / "elsewhere.yaml").exists()


def test_another_folder_may_be_named(bare: Command) -> None:
    assert bare("init", "new/service").code == 0
    text = (bare.cwd / "new" / "service" / ".tool-intent" / "policy.yaml").read_text()
    assert 'policy: "service"\n' in text


@pytest.mark.slow
def test_a_folder_of_any_name_gets_a_policy_that_loads(bare: Command) -> None:
    names = ["it's: a 'name' #1", "日本", "-", "null", "1.0", 'a "b"', "back\\slash"]
    for name in names:
        assert bare("init", name).code == 0
    done = bare("check", "--strict", *(f"./{name}/.tool-intent" for name in names))
    assert done == (0, f"0 errors, 0 warnings in {len(names)} files\n", "")


def test_a_folder_that_takes_no_file_is_an_error(bare: Command) -> None:
    bare.cwd.chmod(0o500)
    done = bare("init", restricted="no-override")
    bare.cwd.chmod(0o700)
    assert (done.code, done.out) == (2, "")
    assert "cannot be written: Permission denied" in done.err


def test_check_is_clean_where_nothing_is_wrong(payments: Command) -> None:
    assert payments("check") == (0, "0 errors, 0 warnings in 1 file\n", "")
    assert payments("check", "--format", "json") == (0, "[]\n", "")
    assert payments("check", "std/baseline", ".tool-intent", "ledger/.tool-intent").code == 0


def test_check_gives_each_finding_as_data(bare: Command) -> None:
    write(bare.cwd / "broken.yaml", BROKEN)
    done = bare("check", "broken.yaml", "--format", "json")
    assert (done.code, done.err) == (1, "")
    assert json.loads(done.out) == [
        {
            "code": "policy/effect", "severity": "error", "file": "broken.yaml",
            "line": 2, "column": 11, "end_line": 2, "end_column": 16,
            "message": "`maybe` is no effect", "help": "allow, note, warn, ask or deny",
        },
        {
            "code": "policy/unknown-field", "severity": "error", "file": "broken.yaml",
            "line": 4, "column": 20, "end_line": 4, "end_column": 25,
            "message": "no field is called `intnt`", "help": "did you mean `intent`?",
        },
    ]  # fmt: skip


def test_check_shows_the_line_with_a_caret_under_it(bare: Command) -> None:
    write(bare.cwd / "broken.yaml", BROKEN)
    done = bare("check", "broken.yaml")
    assert done.out == (
        "broken.yaml:2:11: error: `maybe` is no effect [policy/effect]\n"
        "  2 | unlisted: maybe\n"
        "    |           ^^^^^\n"
        "  help: allow, note, warn, ask or deny\n"
        "broken.yaml:4:20: error: no field is called `intnt` [policy/unknown-field]\n"
        "  4 |   bash: {require: [intnt]}\n"
        "    |                    ^^^^^\n"
        "  help: did you mean `intent`?\n"
        "2 errors, 0 warnings in 1 file\n"
    )


def test_a_warning_is_an_error_only_where_strictness_is_asked_for(bare: Command) -> None:
    write(bare.cwd / "warned.yaml", WARNED)
    loose, strict = bare("check", "warned.yaml"), bare("check", "--strict", "warned.yaml")
    assert (loose.code, strict.code) == (0, 1)
    assert loose.out == strict.out
    assert "warned.yaml:3:3: warning:" in loose.out
    assert "did you mean `bash`?" in loose.out
    assert "0 errors, 1 warning in 1 file" in loose.out
    found = json.loads(bare("check", "warned.yaml", "--format", "json").out)
    assert [f["severity"] for f in found] == ["warning"]


def test_errors_of_all_files_are_reported_together(bare: Command) -> None:
    for name in "abc":
        write(bare.cwd / f"{name}.yaml", BROKEN)
    found = json.loads(bare("check", "c.yaml", "a.yaml", "b.yaml", "--format", "json").out)
    assert [(f["file"], f["line"]) for f in found] == [
        (f"{name}.yaml", line) for name in "abc" for line in (2, 4)
    ]


@pytest.mark.parametrize("path", ["nowhere.yaml", "std/basline", "", "\u202e"])
def test_a_path_that_is_none_cannot_be_read(path: str, bare: Command) -> None:
    done = bare("check", path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("tool-intent: ")
    assert "\u202e" not in done.err


def test_what_cannot_be_read_outweighs_what_is_wrong(bare: Command) -> None:
    write(bare.cwd / "broken.yaml", BROKEN)
    write(bare.cwd / "large.yaml", "#" * (1 << 21))
    done = bare("check", "broken.yaml", "large.yaml", "--format", "json")
    assert done.code == 2
    assert {f["code"] for f in json.loads(done.out)} >= {"policy/effect", "policy/unreadable"}


def test_text_of_a_policy_reaches_a_terminal_without_its_control_characters(bare: Command) -> None:
    text = 'version: 1\ntools:\n  "ba\\u202Esh\\e[31m": {require: [intnt]}\n'
    write(bare.cwd / "odd.yaml", text)
    done = bare("check", "odd.yaml")
    assert done.code == 1
    assert not {"\u202e", "\x1b"} & set(done.out + done.err)


def test_a_terminal_of_few_characters_shows_the_rest_escaped(bare: Command) -> None:
    write(bare.cwd / "odd.yaml", "version: 1\ntools:\n  naïve: {require: [intnt]}\n")
    done = bare("check", "odd.yaml", env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 1
    assert "na\\xefve" in done.out


def test_check_reads_standard_settings_only_from_the_folder_it_stands_in(bare: Command) -> None:
    inner = bare.cwd / "a" / "b"
    inner.mkdir(parents=True)
    write(bare.cwd / ".tool-intent" / "policy.yaml", BROKEN)
    done = bare("check", cwd=inner)
    assert done.code == 1
    assert f".tool-intent{os.sep}policy.yaml:2:11" in done.out
