"""Ways to tell who wrote a line: ours, and two that are in use."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeAlias

from tool_intent.ledger.attribution.carrying import Change, carried

from .fuzz import History
from .truth import PERSON, text_of

#: For each line of the text in the end the id of a call, or None.
Told: TypeAlias = list[str | None]


def why(history: History) -> Told:
    """Ours: each version is carried from the one before it."""
    (found,) = carried([Change(None, history.steps[0].pre.encode(), None)])
    for step in history.steps:
        (found,) = carried([Change(found, step.post.encode(), step.author or None)])
    return [None if owned.touch.by is None else str(owned.touch.by) for owned in found.owners]


def blame(history: History) -> Told:
    """`git blame` over a commit for each version."""
    with tempfile.TemporaryDirectory() as folder:
        stream = b"".join(_commits(history))
        _git(folder, "init", "--quiet", "--bare")
        _git(folder, "fast-import", "--quiet", stdin=stream)
        said = _git(folder, "blame", "--line-porcelain", "main", "--", "file")
    authors = [line[7:] for line in said.splitlines() if line.startswith("author ")]
    return [None if author == "person" else author for author in authors]


def range_hash(history: History) -> Told:
    """As agent-trace 0.1.0 has it: the ranges that each call wrote, by the hash of their text; a
    range counts for where its text still stands."""
    ranges: dict[str, tuple[int, str]] = {}
    for step in history.steps:
        if step.author != PERSON:
            for block in _written(step.pre, step.post):
                ranges[_hashed(block)] = len(block), step.author
    lines = [line.text for line in history.lines]
    found: Told = [None] * len(lines)
    for length in sorted({length for length, _ in ranges.values()}):
        for start in range(len(lines) - length + 1):
            known = ranges.get(_hashed(lines[start : start + length]))
            if known is not None:
                found[start : start + length] = [known[1]] * length
    return found


PEERS: Final[dict[str, Callable[[History], Told]]] = {
    "git blame": blame,
    "range hash": range_hash,
}


def _commits(history: History) -> list[bytes]:
    versions = [(PERSON, history.steps[0].pre)]
    versions += [(step.author, step.post) for step in history.steps]
    assert versions[-1][1] == text_of(history.lines)
    commits = []
    for n, (author, text) in enumerate(versions):
        data = text.encode()
        name = author or "person"
        commits.append(
            f"commit refs/heads/main\nauthor {name} <a@example.org> {n} +0000\n"
            f"committer {name} <a@example.org> {n} +0000\ndata 0\n"
            f"M 644 inline file\ndata {len(data)}\n".encode()
            + data
            + b"\n"
        )
    return commits


def _written(pre: str, post: str) -> list[list[str]]:
    """The blocks of lines that a step wrote, by the shortest difference of both texts."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("pre", pre), ("post", post)):
            (Path(folder) / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["diff", "--new-line-format=+%L", "--old-line-format=", "--unchanged-line-format= \n",
             "pre", "post"],
            cwd=folder, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    blocks: list[list[str]] = [[]]
    for line in done.stdout.splitlines():
        if line.startswith("+"):
            blocks[-1].append(line[1:])
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _hashed(block: list[str]) -> str:
    return sha256("\n".join(block).encode()).hexdigest()


def _git(folder: str, *arguments: str, stdin: bytes = b"") -> str:
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=settings, input=stdin, capture_output=True, check=True,
        timeout=60,
    )  # fmt: skip
    return done.stdout.decode()
