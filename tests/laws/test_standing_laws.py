"""Law 4: whatever is done to the files, no decision of a running session gets weaker."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tool_intent
from tool_intent import Guard
from tool_intent.guard import standing

RESTRICTED = Path(__file__).parents[1] / "functional" / "restricted.py"
STRENGTH = {"allow": 0, "ask": 1, "deny": 2}
TOOLS = ("pay", "read", "edit", "surf")
FILES = ("policy.yaml", "more.yaml", "more.rules", "words.txt")
EDITS = (
    "garbage", "truncate", "empty", "delete", "relax", "tighten", "folder", "fifo", "link out",
    "link", "delete all", "file for folder", "begin",
)  # fmt: skip

effects = st.sampled_from(["note", "warn", "ask", "deny"])
entry = st.builds(
    lambda what, field, effect: f"{{{what}: [{field}], effect: {effect}}}",
    st.sampled_from(["require", "require", "optional"]),
    st.sampled_from(["intent", "ticket"]),
    effects,
)


@st.composite
def policies(draw: st.DrawFn) -> dict[str, str]:
    """The files of a policy, by name: a file that extends another, rules and a word list."""
    tools = "".join(f"  {tool}: {draw(entry)}\n" for tool in TOOLS[:3])
    more = f"  {draw(st.sampled_from(TOOLS))}: {draw(entry)}\n"
    return {
        "policy.yaml": (
            "version: 1\nextends: ./more.yaml\nfields: {ticket: {pattern: '^PAY-'}}\n"
            f"unlisted: {draw(effects)}\ntools:\n{tools}"
            'rules: |\n  words w from "words.txt"\n'
            f'  rule a/b on *\n    forbid intent mentions w else {draw(effects)} "No."\n'
        ),
        "more.yaml": f"version: 1\nfields: {{ticket: {{}}}}\ntools:\n{more}",
        "more.rules": f'rule c/d on @read\n  {draw(effects)} "Not this."\n',
        "words.txt": "whatever\n",
    }


calls = st.lists(
    st.tuples(
        st.sampled_from(TOOLS),
        st.fixed_dictionaries(
            {"path": st.just("a")},
            optional={
                "intent": st.sampled_from(["", "Pay it.", "Whatever."]),
                "ticket": st.sampled_from(["PAY-1", "soon"]),
            },
        ),
    ),
    min_size=1,
    max_size=3,
)
edits = st.lists(
    st.tuples(st.sampled_from(EDITS), st.sampled_from(FILES), policies()), min_size=1, max_size=4
)


def write(repo: Path, files: dict[str, str]) -> None:
    folder = repo / ".tool-intent"
    remove(folder) if not folder.is_dir() or folder.is_symlink() else None
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        remove(folder / name)
        (folder / name).write_text(text)


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def edit(repo: Path, what: str, name: str, begin: dict[str, str], other: dict[str, str]) -> None:
    """Do one thing to the files of a policy."""
    folder = repo / ".tool-intent"
    path = folder / name
    if what == "relax":
        write(repo, {n: "version: 1\ntools: {surf: {optional: [intent]}}\n" if n == "policy.yaml"
                     else "" for n in begin})  # fmt: skip
        remove(folder / "more.yaml")
        remove(folder / "more.rules")
    elif what == "tighten":
        write(repo, other)
    elif what == "begin":
        write(repo, begin)
    elif what == "delete all":
        remove(folder)
    elif what == "file for folder":
        remove(folder)
        folder.write_text("")
    elif folder.is_dir():
        text = path.read_text() if path.is_file() else begin[name]
        remove(path)
        if what == "garbage":
            path.write_text(text + "\n\t{[%")
        elif what == "truncate":
            path.write_text(text[: len(text) // 2])
        elif what == "empty":
            path.write_text("")
        elif what == "folder":
            path.mkdir()
        elif what == "fifo":
            os.mkfifo(path)
        elif what == "link out":
            (repo.parent / "outside").write_text(text)
            path.symlink_to("../../outside")
        elif what == "link":
            (folder / "kept").write_text(text)
            path.symlink_to("kept")


@contextmanager
def session(begin: dict[str, str]) -> Iterator[tuple[Path, Guard, Guard]]:
    """A repository with a policy; a guard that looks before every call; one that never does."""
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        repo = Path(place) / "repo"
        write(repo, begin)
        patch.setenv("HOME", place)
        patch.setattr(standing, "INTERVAL", float("inf"))
        blind = Guard.load(cwd=str(repo))
        patch.setattr(standing, "INTERVAL", 0.0)
        patch.setattr(standing, "RETRY", 0.0)
        yield repo, Guard.load(cwd=str(repo)), blind


@given(policies(), edits, calls)
def test_no_edit_of_any_file_weakens_a_decision_or_leaves_a_field_in(
    begin: dict[str, str],
    changes: list[tuple[str, str, dict[str, str]]],
    asked: list[tuple[str, dict[str, Any]]],
) -> None:
    with session(begin) as (repo, guard, blind):
        for what, name, other in changes:
            edit(repo, what, name, begin, other)
            for tool, args in asked:
                now, then = guard.check(tool, args), blind.check(tool, args)
                assert STRENGTH[now.decision] >= STRENGTH[then.decision], (what, name)
                said = {(f.rule, f.at, f.message) for f in now.findings}
                assert said >= {(f.rule, f.at, f.message) for f in then.findings}
                assert (now.args or {}).keys() <= (then.args or {}).keys()
                assert (now.args or {})["path"] == "a"


@given(policies(), policies(), calls)
def test_after_a_good_change_the_decision_is_the_stronger_of_both(
    begin: dict[str, str], other: dict[str, str], asked: list[tuple[str, dict[str, Any]]]
) -> None:
    with session(begin) as (repo, guard, blind):
        write(repo, other)
        fresh = Guard.load(cwd=str(repo))
        for tool, args in asked:
            both = [blind.check(tool, args), fresh.check(tool, args)]
            decision = guard.check(tool, args)
            assert STRENGTH[decision.decision] == max(STRENGTH[d.decision] for d in both)
            found = [(f.rule, f.at, f.message) for f in decision.findings]
            assert len(found) == len(set(found))
            assert set(found) == {(f.rule, f.at, f.message) for d in both for f in d.findings}


CHANGED_MODE = """
    import os
    from tool_intent import Guard
    from tool_intent.guard import standing
    standing.INTERVAL = standing.RETRY = 0.0
    guard = Guard.load(cwd={repo!r})
    print(guard.check("pay", {{"intent": "Pay it."}}).allowed)
    os.chmod({path!r}, 0)
    print(sorted({{f.rule for f in guard.check("pay", {{}}).findings}}))
    os.chmod({path!r}, 0o700)
    print(guard.check("pay", {{"intent": "Pay it."}}).allowed)
"""


@pytest.mark.parametrize("name", ["policy.yaml", ""])
def test_a_policy_that_may_no_longer_be_read_still_stands(name: str, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    write(repo, {"policy.yaml": "version: 1\ntools: {pay: {require: [intent]}}\n"})
    code = CHANGED_MODE.format(repo=str(repo), path=str(repo / ".tool-intent" / name))
    ran = subprocess.run(
        [sys.executable, RESTRICTED, "no-override", sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, check=False,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(Path(tool_intent.__path__[0]).parent)},
    )  # fmt: skip
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "True", "['fields/missing', 'policy/broken']", "True",
    ]  # fmt: skip
