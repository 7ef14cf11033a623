"""Whether the user of a process could change what a file says, asked by a user without rights."""

from __future__ import annotations

import os
import pwd
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.policy.trust import why_writable

from .asking import AS_ROOT, ENGINE, GROUPS, HERE, YOU, ask, build

CASES: list[dict[str, Any]] = yaml.safe_load((HERE / "trust.yaml").read_text())
only_root = pytest.mark.skipif(not AS_ROOT, reason="only root can give files to other users")


@pytest.fixture(scope="module")
def top() -> Iterator[Path]:
    """A folder of root that everyone can look into, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def answers(top: Path) -> list[str | None]:
    """What is said of each case, all asked in one process."""
    calls = []
    for number, case in enumerate(CASES):
        folder = top / str(number)
        folder.mkdir(mode=0o755)
        build(folder, case["tree"])
        calls.append(("why_writable", f"{folder}/{case.get('ask', 'f')}"))
    return ask(*calls)


@only_root
@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: CASES[n]["case"])
def test_the_reason_is_the_first_entry_on_the_way_that_you_could_change(
    number: int, top: Path, answers: list[str | None]
) -> None:
    says = CASES[number].get("says")
    assert answers[number] == (says and says.format(top=top / str(number)))


@only_root
@pytest.mark.parametrize(
    "uids", [(0, YOU, YOU), (YOU, 0, YOU), (YOU, YOU, 0), (0, 0, 0)],
    ids=["real", "effective", "saved", "all"],
)  # fmt: skip
def test_who_is_or_can_become_root_can_write_everything(uids: tuple[int, int, int]) -> None:
    assert ask(("why_writable", "/etc/passwd"), uids=uids) == [
        "you are root, who can write everything"
    ]


@only_root
def test_a_user_one_was_or_can_become_again_is_you(top: Path) -> None:
    build(top, {"mine": "other 644"})
    for uids in [(1234, YOU, YOU), (YOU, YOU, 1234)]:
        assert ask(("why_writable", f"{top}/mine"), uids=uids) == ["it belongs to you"]


@only_root
def test_a_group_one_may_take_on_is_yours_though_the_process_lacks_it(top: Path) -> None:
    entry = pwd.getpwuid(1)
    assert entry.pw_gid not in (YOU, GROUPS["yours"])
    (top / "shared").write_text("")
    os.chown(top / "shared", 0, entry.pw_gid)
    (top / "shared").chmod(0o664)
    call = ("why_writable", f"{top}/shared")
    assert ask(call, uids=(1, 1, 1), gid=GROUPS["yours"], groups=[]) == [
        f"it is writable by the group {entry.pw_gid}, which is yours"
    ]
    assert ask(call) == [None]


@only_root
def test_a_right_that_only_an_access_control_list_gives_is_seen(top: Path) -> None:
    named = top / "listed"
    named.write_text("")
    build(top, {"listed-folder/": "root 755", "listed-folder/f": "root 644"})
    before = ask(("why_writable", str(named)), ("why_writable", f"{top}/listed-folder/f"))
    # Version 2 of the list; entries are tag, rights and user: owner, a user, group, mask, others.
    # The mask stands where the mode shows the group's rights, and root's group is not yours.
    entries = [(1, 6, -1), (2, 7, YOU), (4, 4, -1), (0x10, 7, -1), (0x20, 4, -1)]
    value = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        for path in (named, top / "listed-folder"):
            os.setxattr(path, "system.posix_acl_access", value)
    except OSError as error:
        pytest.skip(f"{top} takes no access control list: {error.strerror}")
    assert before == [None, None]
    by = "is writable by you, by an access control list or a capability"
    assert ask(("why_writable", str(named)), ("why_writable", f"{top}/listed-folder/f")) == [
        f"it {by}", f"the folder `{top}/listed-folder` {by}",
    ]  # fmt: skip


@only_root
def test_a_relative_path_is_judged_down_from_the_root(top: Path) -> None:
    build(top, {"yours/": "you 755", "yours/in/": "root 755", "yours/in/f": "root 644"})
    assert ask(("from", f"{top}/yours/in", "f"), ("from", "/etc", "passwd")) == [
        f"the folder `{top}/yours` belongs to you", None,
    ]  # fmt: skip


def test_a_file_of_the_system_is_not_yours() -> None:
    uids = (YOU, YOU, YOU) if AS_ROOT else None
    assert ask(("why_writable", "/etc/passwd"), uids=uids) == [None]


@pytest.mark.skipif(AS_ROOT, reason="root is told of being root first")
def test_what_you_make_is_yours(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    reason = why_writable(str(tmp_path / "f"))
    assert reason is not None
    assert reason.endswith("belongs to you")


def test_a_path_that_no_file_can_have_is_no_crash() -> None:
    uids = (YOU, YOU, YOU) if AS_ROOT else None
    odd, long = ask(("why_writable", "/etc/\0"), ("why_writable", "/" + "x" * 300), uids=uids)
    assert odd == "its path is not one that a file can have"
    assert long.endswith("cannot be looked at: file name too long")


def test_links_by_way_of_the_process_itself_are_yours() -> None:
    uids = (YOU, YOU, YOU) if AS_ROOT else None
    paths = ("/proc/self/root/etc/passwd", "/dev/stdin", "/proc/self/cwd/etc/passwd")
    for reason in ask(*[("why_writable", path) for path in paths], uids=uids):
        assert reason.startswith("the folder `/proc/")
        assert reason.endswith("belongs to you")


def test_asking_imports_next_to_nothing() -> None:
    code = (
        "import __future__, os, stat, typing, sys; before = set(sys.modules)\n"
        "from tool_intent.policy.trust import why_writable; why_writable('/etc/passwd')\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(ENGINE)},
    )  # fmt: skip
    assert [n for n in done.stdout.split() if not n.startswith("tool_intent")] == []
