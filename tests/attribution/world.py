"""A repository in which calls, people, formatters and git change files, and the truth of each line.

Beside the repository stands its shadow: the same files with the author written behind each line.
What git does it does to both, so that the truth after a merge, a rebase or a squash is git's own,
and a test that the shadow's text is the repository's shows that the names got in nobody's way.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..conftest import GitFolder
from .truth import PERSON, Draft, Line, reflowed, text_of

_TAG = " #=author:"


class Change(NamedTuple):
    """A file before and after; None where there was none."""

    path: str
    pre: bytes | None
    post: bytes | None


class Made(NamedTuple):
    """A call that somebody recorded, with all that it changed."""

    id: str
    changes: tuple[Change, ...]


class World:
    def __init__(self, folder: Path) -> None:
        self.repository = GitFolder(folder / "repository")
        self.shadow = GitFolder(folder / "shadow")
        self.truth: dict[str, list[Line]] = {}
        self.calls: list[Made] = []

    @property
    def folder(self) -> Path:
        return self.repository.folder

    def write(self, author: str, path: str, text: str) -> None:
        """A new file, or another text in the place of all of the old one."""
        lines = [Line(line, author) for line in text.splitlines()]
        self._recorded(author, {path: lines})

    def change(self, author: str, path: str, work: Callable[[Draft], object]) -> None:
        """Changes to one file."""
        draft = Draft(self.truth[path], author)
        work(draft)
        self._recorded(author, {path: draft.lines})

    def move_lines(self, author: str, source: str, span: tuple[int, int], target: str) -> None:
        """Take lines out of one file and append them to another, in one go."""
        moved = self.truth[source][slice(*span)]
        rest = [line for n, line in enumerate(self.truth[source]) if not span[0] <= n < span[1]]
        self._recorded(author, {source: rest, target: [*self.truth.get(target, []), *moved]})

    def run(self, author: str, path: str, command: Sequence[str | Path]) -> None:
        """A formatter that gets the file's name and writes the file."""
        subprocess.run(
            [*command, path], cwd=self.folder, check=True, capture_output=True, timeout=120
        )
        text = (self.folder / path).read_text(encoding="utf-8")
        self._recorded(author, {path: reflowed(self.truth[path], text)})

    def remove(self, author: str, path: str) -> None:
        self._recorded(author, {path: None})

    def git(self, *arguments: str) -> None:
        """Run git in the repository and in its shadow; files are then as both say."""
        self.repository.git(*arguments)
        self.shadow.git(*arguments)
        self._look()

    def names_of(self, path: str) -> list[str]:
        """The path, and those that git says the file had before."""
        said = self.repository.git(
            "log", "--follow", "--name-only", "--format=", "-z", "HEAD", "--", path
        )
        return list(dict.fromkeys([path, *said.split("\0")[:-1]]))

    def commit(self, message: str = "x") -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def _recorded(self, author: str, files: Mapping[str, list[Line] | None]) -> None:
        before = {path: text_of(self.truth[path]) for path in files if path in self.truth}
        for path, lines in files.items():
            self._put(path, lines)
        if author != PERSON:
            changes = [
                Change(
                    path,
                    before[path].encode() if path in before else None,
                    None if lines is None else text_of(lines).encode(),
                )
                for path, lines in files.items()
            ]
            self.calls.append(Made(author, tuple(changes)))

    def _put(self, path: str, lines: list[Line] | None) -> None:
        real, shadow = self.folder / path, self.shadow.folder / path
        if lines is None:
            real.unlink()
            shadow.unlink()
            del self.truth[path]
            return
        for file in (real, shadow):
            file.parent.mkdir(parents=True, exist_ok=True)
        real.write_text(text_of(lines), encoding="utf-8", newline="")
        tagged = [line._replace(text=f"{line.text}{_TAG}{_spelt(line.author)}") for line in lines]
        shadow.write_text(text_of(tagged), encoding="utf-8", newline="")
        self.truth[path] = lines

    def _look(self) -> None:
        self.truth = {}
        for file in sorted(self.shadow.folder.rglob("*")):
            path = file.relative_to(self.shadow.folder)
            if file.is_file() and path.parts[0] != ".git":
                lines = [_read(line) for line in file.read_text(encoding="utf-8").splitlines()]
                assert (self.folder / path).read_text(encoding="utf-8") == text_of(lines)
                self.truth[str(path)] = lines


def _spelt(author: str | None) -> str:
    return "?" if author is None else author


def _read(line: str) -> Line:
    text, _, author = line.rpartition(_TAG)
    return Line(text, None if author == "?" else author)
