"""read, write and edit stay inside the workspace, whatever the path and whoever moves links."""

from __future__ import annotations

import ctypes
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.tools import Builtin, Workspace

_CASES = yaml.safe_load(Path(__file__).with_name("paths.yaml").read_text())
_EDITS = [{"oldText": "e", "newText": "owned"}]
_CALLS: dict[str, dict[str, Any]] = {
    "read": {},
    "write": {"content": "x"},
    "edit": {"edits": _EDITS},
}


@pytest.fixture
def linked(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace that paths.yaml describes."""
    outside = root.parent / "outside"
    (root / "src").mkdir()
    (root / "src" / "main.py").write_text("e\n")
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    for name, target in {
        "out": "../outside",
        "abs": str(outside),
        "leak.txt": "../outside/secret.txt",
        "new.txt": "../outside/new.txt",
        "loop": "loop",
        "src/up": "../..",
        "chain": "src/up/outside",
        "root": "/",
    }.items():
        (root / name).symlink_to(target)
    return root


def _tree(folder: Path) -> dict[str, str | None]:
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("tool", _CALLS)
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["path"] or "empty")
def test_a_path_that_is_no_file_of_the_workspace_is_refused_and_nothing_is_made(
    linked: Path, tool: str, case: dict[str, str]
) -> None:
    words = {"OUT": str(linked.parent / "outside"), "WS": str(linked)}
    path = {"LONG": "x" * 300, "DEEP": "x/" * 3_000}.get(case["path"], case["path"])
    for word, value in words.items():
        path = value + path[len(word) :] if path.startswith(word) else path
    before = _tree(linked.parent)
    text, ok = Builtin(Workspace(linked)).run(tool, {"path": path, **_CALLS[tool]})
    assert not ok
    assert any(says in text for says in (case["says"], case.get("or", case["says"]))), text
    if "leaves the workspace" in text:
        assert "Paths are relative to the workspace and stay inside it" in text
    assert _tree(linked.parent) == before


def test_what_stays_inside_is_reached_by_any_spelling(root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "f.txt").write_text("here\n")
    (root / "dir").symlink_to("a/b")
    (root / "absolute").symlink_to(root / "a")
    (root / "a" / "b" / "top").symlink_to(root / "a")
    (root / "file").symlink_to("absolute/b/../../dir/f.txt")
    (root.parent / "alias").symlink_to(root)
    builtin = Builtin(Workspace(root.parent / "alias"))
    for path in (
        "a/b/f.txt", "./a//b/./f.txt", "a/../a/b/f.txt", "dir/f.txt", "absolute/b/f.txt", "file",
        "a/b/top/b/f.txt",
        # As the kernel has it: the parent of where the link leads, not of the link.
        "dir/../b/f.txt",
        f"{root}/a/b/f.txt", f"{root.parent}/alias/a/b/f.txt",
    ):  # fmt: skip
        assert builtin.run("read", {"path": path}) == ("here\n", True), path


def test_writing_through_a_link_inside_changes_its_target_and_keeps_the_link(root: Path) -> None:
    (root / "real.txt").write_text("old")
    (root / "link").symlink_to("real.txt")
    (root / "dangling").symlink_to("made/new.txt")
    builtin = Builtin(Workspace(root))
    assert builtin.run("write", {"path": "link", "content": "new"}).ok
    assert builtin.run("write", {"path": "dangling", "content": "new"}).ok
    assert (root / "link").is_symlink()
    assert (root / "dangling").is_symlink()
    assert (root / "real.txt").read_text() == (root / "made" / "new.txt").read_text() == "new"


def test_a_name_that_starts_with_a_tilde_is_reached_as_the_message_says(builtin: Builtin) -> None:
    assert builtin.run("write", {"path": "./~x", "content": "tilde"}).ok
    assert builtin.run("read", {"path": "./~x"}) == ("tilde", True)


def test_a_device_is_refused_unopened() -> None:
    text, ok = Builtin(Workspace("/")).run("read", {"path": "/dev/zero"})
    assert (text, ok) == (
        "/dev/zero is a device, not a regular file; name a regular file.",
        False,
    )


def test_a_lost_workspace_is_said_and_nothing_is_made_in_its_place(root: Path) -> None:
    builtin = Builtin(Workspace(root))
    root.rmdir()
    for tool, args in {**_CALLS, "bash": {"command": "true"}}.items():
        text, ok = builtin.run(tool, args if tool == "bash" else {"path": "a/b", **args})
        assert not ok
        assert "the workspace folder" in text
        assert "cannot be entered" in text
    assert not root.exists()


@pytest.mark.parametrize("tool", _CALLS)
@pytest.mark.parametrize(("name", "look"), [("d", 1), ("f", 1), ("f", 2)])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_swapped_in_right_after_a_look_at_it_is_neither_followed_nor_waited_for(
    root: Path, monkeypatch: pytest.MonkeyPatch, tool: str, name: str, look: int, kind: str
) -> None:
    outside = root.parent / "outside"
    (outside / "f").write_text("secret e")
    (root / "d").mkdir()
    (root / "d" / "f").write_text("e")
    looks = 0
    lstat = os.lstat

    def swapping(path: str, *, dir_fd: int | None = None) -> os.stat_result:
        nonlocal looks
        status = lstat(path, dir_fd=dir_fd)
        looks += path == name
        if path == name and looks == look:
            place = root / "d" if name == "d" else root / "d" / "f"
            place.rename(root / "away")
            if kind == "pipe":
                os.mkfifo(place)
            else:
                place.symlink_to(outside if name == "d" else outside / "f")
        return status

    monkeypatch.setattr(os, "lstat", swapping)
    text, ok = Builtin(Workspace(root)).run(tool, {"path": "d/f", **_CALLS[tool]})
    monkeypatch.undo()
    assert looks >= look
    # A write that has looked replaces what it finds, link or pipe, and what it led to stays.
    assert not ok or (tool, name, look) == ("write", "f", 2), text
    assert "secret" not in text
    assert _tree(outside) == {"f": "secret e", "secret.txt": "secret\n"}


def _moving(step: Callable[[], None]) -> tuple[threading.Event, threading.Thread]:
    """A thread that does `step` over and over until the event is set."""
    done = threading.Event()

    def loop() -> None:
        while not done.is_set():
            step()

    thread = threading.Thread(target=loop)
    thread.start()
    return done, thread


def _hammer(builtin: Builtin, path: str, step: Callable[[], None]) -> set[str]:
    """All that read says in 0.7 seconds of reading, writing and editing while `step` goes on."""
    done, thread = _moving(step)
    heard = set()
    end = time.monotonic() + 0.7
    try:
        while time.monotonic() < end:
            heard.add(builtin.run("read", {"path": path}).text)
            for tool in ("write", "edit"):
                builtin.run(tool, {"path": path, **_CALLS[tool]})
    finally:
        done.set()
        thread.join()
    return heard


def test_a_folder_swapped_for_a_link_outside_is_never_followed(root: Path) -> None:
    (root / "d").mkdir()
    (root / "link").symlink_to("../outside")
    outside = root.parent / "outside"
    (outside / "file").write_text("secret e")

    rename = ctypes.CDLL(None, use_errno=True).renameat2

    def swap() -> None:
        here, exchange = -100, 2
        assert rename(here, bytes(root / "d"), here, bytes(root / "link"), exchange) == 0

    heard = _hammer(Builtin(Workspace(root)), "d/file", swap)
    assert "x" in heard
    assert not any("secret" in text for text in heard)
    assert _tree(outside) == {"file": "secret e", "secret.txt": "secret\n"}


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_file_swapped_for_a_link_or_a_pipe_is_never_followed_nor_waited_for(
    root: Path, kind: str
) -> None:
    outside = root.parent / "outside" / "secret.txt"

    def swap() -> None:
        if kind == "link":
            os.symlink(outside, root / "bait")
        else:
            os.mkfifo(root / "bait")
        os.replace(root / "bait", root / "f")
        (root / "good").write_text("e")
        os.replace(root / "good", root / "f")

    (root / "f").write_text("e")
    heard = _hammer(Builtin(Workspace(root)), "f", swap)
    assert heard & {"e", "x", "owned"}
    assert not any("secret" in text for text in heard)
    assert outside.read_text() == "secret\n"


def test_no_descriptor_is_left_open(linked: Path) -> None:
    builtin = Builtin(Workspace(linked))
    before = len(os.listdir("/proc/self/fd"))
    for case in _CASES:
        for tool, args in _CALLS.items():
            builtin.run(tool, {"path": case["path"], **args})
    builtin.run("bash", {"command": "echo hi; exit 3"})
    assert len(os.listdir("/proc/self/fd")) == before
