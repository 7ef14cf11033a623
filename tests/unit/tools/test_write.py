"""write puts a whole file in place at one stroke, or leaves what was there."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tool_intent.tools import Builtin, Workspace


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A workspace that a user without rights can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


@pytest.mark.parametrize(
    ("content", "size"),
    [
        ("", "0 bytes in 0 lines"),
        ("a", "1 byte in 1 line"),
        ("a\r\nb\r", "5 bytes in 2 lines"),
        ("\ufeffé\0\n", "7 bytes in 1 line"),
    ],
)
def test_any_text_is_written_exactly_and_counted(
    builtin: Builtin, root: Path, content: str, size: str
) -> None:
    assert builtin.run("write", {"path": "f", "content": content}) == (
        f"Wrote {size} to f, a new file.",
        True,
    )
    assert (root / "f").read_bytes() == content.encode()


def test_an_existing_file_is_replaced_and_its_size_said(builtin: Builtin, root: Path) -> None:
    (root / "f").write_text("12345")
    text = builtin.run("write", {"path": "f", "content": "1\n"}).text
    assert text == "Wrote 2 bytes in 1 line to f, replacing 5 bytes."
    assert os.listdir(root) == ["f"]


def test_missing_folders_are_made(builtin: Builtin, root: Path) -> None:
    assert builtin.run("write", {"path": "a/b/c.txt", "content": "x"}).ok
    assert (root / "a" / "b" / "c.txt").read_text() == "x"


@pytest.fixture(params=["nameless", "named"])
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to put a file in place: the second is for file systems without the first."""
    if request.param == "named":
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY)
    return str(request.param)


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o664, 0o4755])
def test_an_existing_file_keeps_its_mode_and_owner(
    builtin: Builtin, root: Path, road: str, mode: int
) -> None:
    (root / "f").write_text("old")
    if os.getuid() == 0:
        os.chown(root / "f", 1234, 4321)
    os.chmod(root / "f", mode)
    before = (root / "f").stat()
    assert builtin.run("write", {"path": "f", "content": "new"}).ok
    after = (root / "f").stat()
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    # As with any write, a program that ran as its owner no longer does.
    assert stat.S_IMODE(after.st_mode) == mode & 0o777


def test_the_successor_of_a_private_file_is_private_before_its_first_byte(
    builtin: Builtin, root: Path, road: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("old")
    os.chmod(root / "f", 0o600)
    write, modes = os.write, []

    def looking(target: int, data: bytes) -> int:
        modes.append(stat.S_IMODE(os.fstat(target).st_mode))
        return write(target, data)

    monkeypatch.setattr(os, "write", looking)
    assert builtin.run("write", {"path": "f", "content": "new"}).ok
    assert modes == [0o600]


def test_the_text_is_on_disk_before_its_name_and_the_name_before_the_answer(
    builtin: Builtin, root: Path, road: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("old")
    order: list[str] = []

    def note(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **named: Any) -> Any:
            order.append(name)
            return call(*args, **named)

        return noted

    for name in ("write", "fsync", "rename"):
        monkeypatch.setattr(os, name, note(name, getattr(os, name)))
    assert builtin.run("write", {"path": "f", "content": "new"}).ok
    assert order == ["write", "fsync", "rename", "fsync"]


def test_a_name_taken_for_a_leftover_by_another_writer_is_made_up_for(
    builtin: Builtin, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("old")
    rename, renamed = os.rename, []

    def robbed(name: str, to: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        if not renamed:
            os.unlink(name, dir_fd=src_dir_fd)
        renamed.append(name)
        rename(name, to, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", robbed)
    assert builtin.run("write", {"path": "f", "content": "new"}).ok
    assert len(renamed) == 2
    assert (root / "f").read_text() == "new"
    assert os.listdir(root) == ["f"]


def test_a_folder_put_in_the_place_meanwhile_is_kept_and_nothing_left_beside_it(
    builtin: Builtin, root: Path, road: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "f").write_text("old")
    rename = os.rename

    def hindered(name: str, to: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        (root / "f").unlink(missing_ok=True)
        (root / "f").mkdir()
        rename(name, to, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "rename", hindered)
    text, ok = builtin.run("write", {"path": "f", "content": "new"})
    assert not ok
    assert text.startswith("f")
    assert (root / "f").is_dir()
    assert os.listdir(root) == ["f"]


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_and_folder_get_what_the_umask_leaves(
    builtin: Builtin, root: Path, road: str, umask: int
) -> None:
    before = os.umask(umask)
    try:
        assert builtin.run("write", {"path": "d/f", "content": ""}).ok
    finally:
        os.umask(before)
    assert (_mode(root / "d"), _mode(root / "d" / "f")) == (0o777 & ~umask, 0o666 & ~umask)


def test_other_hard_links_keep_the_old_text(builtin: Builtin, root: Path) -> None:
    outside = root.parent / "outside" / "secret.txt"
    os.link(outside, root / "f")
    assert builtin.run("write", {"path": "f", "content": "new"}).ok
    assert outside.read_text() == "secret\n"


@pytest.mark.parametrize("nameless", [True, False])
@pytest.mark.parametrize("old", [None, "old\n"])
def test_a_kill_at_any_line_leaves_the_old_file_or_the_new_one(
    child: Callable[..., Any], root: Path, old: str | None, nameless: bool
) -> None:
    states = child(
        "crashes",
        root=str(root),
        tool="write",
        args={"path": "f", "content": "new\n"},
        old=old,
        nameless=nameless,
    )
    assert {state["text"] for state in states} == {old, "new\n"}
    assert states[-1] == {"text": "new\n", "others": {}, "after": ["f"]}
    strays = [state for state in states if state["others"]]
    if nameless:
        # From link to rename, a replaced file has a second name; the next write clears it.
        assert len(strays) <= (0 if old is None else 3)
        assert all(list(state["others"].values()) == ["new\n"] for state in strays)
        assert all(state["after"] == ["f"] for state in states)
    else:
        assert strays


def test_a_kill_at_any_line_of_an_edit_leaves_the_old_file_or_the_new_one(
    child: Callable[..., Any], root: Path
) -> None:
    edits = [{"oldText": "a", "newText": "x"}, {"oldText": "b", "newText": "y"}]
    states = child(
        "crashes",
        root=str(root),
        tool="edit",
        args={"path": "f", "edits": edits},
        old="a b\n",
        nameless=True,
    )
    assert {state["text"] for state in states} == {"a b\n", "x y\n"}
    assert states[-1]["others"] == {}


_WRITER = """
import sys
from tool_intent.tools import Builtin, Workspace
builtin = Builtin(Workspace(sys.argv[1]))
while True:
    for text in ("a" * 3_000_000, "b" * 3_000_000):
        assert builtin.run("write", {"path": "f", "content": text}).ok
        print(flush=True)
"""


def test_a_kill_at_any_moment_leaves_a_whole_file_and_after_the_next_write_nothing_else(
    root: Path,
) -> None:
    rng = random.Random(7)
    engine = Path(__file__).parents[3] / "engine"
    for _ in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(root)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(engine)},
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(rng.random() / 20)
            writer.send_signal(signal.SIGKILL)
        data = (root / "f").read_bytes()
        assert data in (b"a" * 3_000_000, b"b" * 3_000_000)
    assert Builtin(Workspace(root)).run("write", {"path": "f", "content": "end"}).ok
    assert os.listdir(root) == ["f"]


def test_writers_side_by_side_leave_one_of_their_texts_and_nothing_else(root: Path) -> None:
    texts = [str(n) * 50_000 for n in range(6)]
    results = []

    def write(text: str) -> None:
        # A workspace each: nothing but the file system stands between them.
        builtin = Builtin(Workspace(root))
        results.extend(builtin.run("write", {"path": "f", "content": text}) for _ in range(20))

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 120
    assert any(result.ok for result in results)
    refused = "f was changed by someone else meanwhile; nothing was written. "
    assert all(result.ok or result.text.startswith(refused) for result in results)
    assert (root / "f").read_text() in texts
    assert os.listdir(root) == ["f"]


def test_without_permission_each_tool_says_so_and_changes_nothing(
    child: Callable[..., Any], shared: Path
) -> None:
    (shared / "readonly").write_text("old")
    os.chmod(shared / "readonly", 0o444)
    (shared / "secret").write_text("old")
    os.chmod(shared / "secret", 0o000)
    for name, mode in {"closed": 0o000, "listed": 0o444, "locked": 0o555}.items():
        (shared / name).mkdir()
        (shared / name / "f").write_text("old")
        os.chmod(shared / name / "f", 0o666)
        os.chmod(shared / name, mode)
    new, edits = {"content": "new"}, {"edits": [{"oldText": "old", "newText": "new"}]}
    calls = [
        ("read", {"path": "secret"}),
        ("read", {"path": "closed/f"}),
        ("read", {"path": "listed/f"}),
        ("write", {"path": "readonly", **new}),
        ("edit", {"path": "readonly", **edits}),
        ("edit", {"path": "secret", **edits}),
        ("write", {"path": "locked/f", **new}),
        ("write", {"path": "locked/new", **new}),
        ("write", {"path": "locked/d/new", **new}),
    ]
    results = child("as_nobody", root=str(shared), calls=calls)
    denied = "Permission denied: this user may not do that; choose another path or ask for access."
    guarded = (
        "readonly is write-protected for this user; "
        "choose another file or ask for its permissions to be changed."
    )
    for (tool, args), (text, ok) in zip(calls, results, strict=True):
        expected = guarded if args["path"] == "readonly" else f"{args['path']}: {denied}"
        assert (text, ok) == (expected, False), tool
    for folder in ("closed", "listed", "locked"):
        os.chmod(shared / folder, 0o755)
        assert [(p.name, p.read_text()) for p in (shared / folder).iterdir()] == [("f", "old")]
    assert (shared / "readonly").read_text() == "old"


def test_a_folder_that_may_be_searched_but_not_listed_is_walked(
    child: Callable[..., Any], shared: Path
) -> None:
    (shared / "dark").mkdir()
    (shared / "dark" / "f").write_text("found")
    os.chmod(shared / "dark" / "f", 0o644)
    os.chmod(shared / "dark", 0o711 if os.getuid() == 0 else 0o111)
    calls = [("read", {"path": "dark/f"}), ("read", {"path": "dark/g"})]
    results = child("as_nobody", root=str(shared), calls=calls)
    os.chmod(shared / "dark", 0o755)
    assert results == [["found", True], ["dark/g does not exist; check the path.", False]]


def test_a_file_of_another_user_in_an_open_folder_is_replaced_by_ones_own(
    child: Callable[..., Any], shared: Path
) -> None:
    (shared / "f").write_text("old")
    os.chmod(shared / "f", 0o666)
    calls = [("write", {"path": "f", "content": "new"})]
    [[_, ok]] = child("as_nobody", root=str(shared), calls=calls)
    assert ok
    assert (shared / "f").read_text() == "new"
    assert _mode(shared / "f") == 0o666


def test_a_full_disk_is_said_and_the_old_file_kept(builtin: Builtin, root: Path) -> None:
    resource = pytest.importorskip("resource")
    (root / "f").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))
    try:
        text, ok = builtin.run("write", {"path": "f", "content": "x" * 5_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert not ok
    assert text == "f: File too large: the file would be larger than the system allows; write less."
    assert (root / "f").read_text() == "old"
    assert os.listdir(root) == ["f"]
