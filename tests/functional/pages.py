"""Pages whose fenced blocks are run. `test_docs.py` says what each tag means."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from .command import COMMAND, DEADLINE, Command
from .managed import MACHINE, WHY_NOT, Managed

ROOT: Final = Path(__file__).parents[2]
DEFAULT_TITLE: Final = ".tool-intent/policy.yaml"
STATUS: Final = "\x1e"
#: Files that are only written.
_WRITTEN: Final = ("yaml file", "jsonl file", "text file")

_FENCE = re.compile(r"^( *)(`{3,}|~{3,})([^`]*)$")


class Block(NamedTuple):
    """A fenced block: where its fence stands, its tag (`yaml policy`), its title, its text."""

    page: str
    line: int
    tag: str
    title: str | None
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file(self) -> str | None:
        """Where its text is written for the blocks after it."""
        if self.tag == "yaml policy":
            return self.title or DEFAULT_TITLE
        return self.title if self.tag in (*_WRITTEN, "python", "js") else None


def blocks(page: str, text: str) -> list[Block]:
    """The fenced blocks of a page, in order. Raises ValueError for a fence never closed."""
    found: list[Block] = []
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        opened = _FENCE.match(line)
        if opened is None:
            continue
        indent, ticks, info = opened.groups()
        held: list[str] = []
        for _, inner in lines:
            if inner.strip() == ticks:
                break
            held.append(inner.removeprefix(indent))
        else:
            raise ValueError(f"{page}:{number}: this fence is never closed")
        tag, title = _tag(info)
        found.append(Block(page, number, tag, title, "".join(f"{one}\n" for one in held)))
    return found


def _tag(info: str) -> tuple[str, str | None]:
    """The words after the backticks, and the title among them."""
    words = shlex.split(info)
    titles = [word.removeprefix("title=") for word in words if word.startswith("title=")]
    title = titles[0] if titles else None
    tag = " ".join(word for word in words if not word.startswith("title="))
    if tag == "yaml" and title is not None and Path(title).name == "policy.yaml":
        tag = "yaml policy"
    return tag, title


def assert_matches(real: str, expected: str, place: str) -> None:
    """Whether output is as a page shows it, `…` standing for anything."""
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(re.escape(part) for part in line.rstrip().split("…")) + "\n"
    shown = "".join(f"{line.rstrip()}\n" for line in real.splitlines())
    if not re.fullmatch(pattern, shown):
        pytest.fail(f"{place}: the page shows\n{expected}\nand the command printed\n{shown}")


class Runner:
    """Runs one block in a prepared folder."""

    def __init__(self, block: Block, after: Block | None, command: Command) -> None:
        self.block = block
        self.after = after
        self.folder = command.cwd
        self.command = command

    def run(self) -> None:
        KINDS[self.block.tag](self)

    def write(self) -> Path:
        """The block's file; `yaml file` has to be told its name."""
        title = self.block.title or (DEFAULT_TITLE if "policy" in self.block.tag else None)
        assert title is not None, f"{self.block.place}: this block needs a title"
        return written(self.folder, title, self.block.text, self.command)

    def policy(self) -> None:
        code, out = self._checked(self.write())
        assert code == 0, f"{self.block.place}: this policy is not clean\n{out}"

    def faulty_policy(self) -> None:
        kind = self.block.tag.rpartition(" ")[2]
        code, out = self._checked(self.write())
        assert code != 0, f"{self.block.place}: no {kind} here\n{out}"
        assert f"{kind}: " in out, f"{self.block.place}: no {kind} here\n{out}"
        said = out.rstrip("\n").rpartition("\n")[0]
        assert_matches(f"{said}\n", self._following(f"text {kind}"), self.block.place)

    def json(self) -> None:
        json.loads(self.block.text)

    def toml(self) -> None:
        tomllib.loads(self.block.text)

    def python(self) -> None:
        script = [str(self.write())] if self.block.title else ["-"]
        self._program([sys.executable, *script])

    def javascript(self) -> None:
        node = shutil.which("node")
        if node is None:
            pytest.skip("there is no node here")
        script = [str(self.write())] if self.block.title else ["--input-type=module", "-"]
        self._program([node, *script])

    def console(self) -> None:
        said = self._shell([command for command, _ in self._commands()])
        for (command, expected), real in zip(self._commands(), said, strict=True):
            assert_matches(real, expected, f"{self.block.place}: {command}")

    def make(self) -> None:
        lines = self.block.text.splitlines()
        assert all(line.startswith("make ") for line in lines), self.block.place
        for line in lines:
            target = shlex.split(line, comments=True)[1:]
            done = self._process(["make", "--dry-run", "--directory", str(ROOT), *target], "")
            assert done.returncode == 0, f"{self.block.place}: {line}\n{done.stdout}"

    def reply(self) -> None:
        """A block that shows what the one before it leads to, and is checked with that one."""

    def _checked(self, file: Path) -> tuple[int, str]:
        """`check` of a policy where it is found, or by name where no discovery looks."""
        found = file.name == "policy.yaml" and file.parent.name == ".tool-intent"
        where = file.parents[1] if found else self.folder
        managed = isinstance(self.command, Managed)
        named = [] if found or managed else [str(file.relative_to(self.folder))]
        done = self.command("check", "--strict", *named, cwd=where)
        return done.code, done.out + done.err

    def _program(self, arguments: list[str]) -> None:
        done = self._process(arguments, self.block.text)
        assert done.returncode == 0, f"{self.block.place}:\n{done.stdout}"
        if self.after is not None and self.after.tag == "text output":
            assert_matches(done.stdout, self.after.text, self.block.place)

    def _following(self, tag: str) -> str:
        complaint = f"{self.block.place}: a `{tag}` block must follow"
        assert self.after is not None, complaint
        assert self.after.tag == tag, complaint
        return self.after.text

    def _commands(self) -> Iterator[tuple[str, str]]:
        """Each command of the block, with the output that the page shows."""
        command, output = "", ""
        for line in self.block.text.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, output
                command, output = line[2:], ""
            elif line.startswith("> ") and not output:
                command += f"\n{line[2:]}"
            else:
                assert command, f"{self.block.place}: output before any `$ ` command"
                output += f"{line}\n"
        assert command, f"{self.block.place}: no line starts with `$ `"
        yield command, output

    def _shell(self, commands: list[str]) -> list[str]:
        script = "".join(
            f"{command}\n__status=$?\nprintf '{STATUS}'\n(exit $__status)\n" for command in commands
        )
        done = self._process(["sh"], script)
        *said, rest = done.stdout.split(STATUS)
        assert (rest, len(said)) == ("", len(commands)), f"{self.block.place}:\n{done.stdout}"
        return said

    def _process(self, arguments: list[str], stdin: str) -> subprocess.CompletedProcess[str]:
        settings = {
            "PATH": f"{COMMAND.parent}:{self.command.environment({})['PATH']}",
            "TMPDIR": str(self.command.home),
        }
        launcher = self.command.launcher() if isinstance(self.command, Managed) else []
        return subprocess.run(
            [*launcher, *arguments],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            cwd=self.folder,
            env=self.command.environment(settings),
            timeout=DEADLINE,
            check=False,
        )


KINDS: Final[dict[str, Callable[[Runner], object]]] = {
    "yaml policy": Runner.policy,
    "yaml policy error": Runner.faulty_policy,
    "yaml policy warning": Runner.faulty_policy,
    "json": Runner.json,
    "toml": Runner.toml,
    "python": Runner.python,
    "js": Runner.javascript,
    "console": Runner.console,
    "console empty": Runner.console,
    "sh": Runner.make,
    **dict.fromkeys(_WRITTEN, Runner.write),
    **dict.fromkeys(("text error", "text warning", "text output"), Runner.reply),
}
#: What a block that shows a reply may stand behind.
REPLIES: Final = {
    "text error": ("yaml policy error",),
    "text warning": ("yaml policy warning",),
    "text output": ("python", "js"),
}


def _command(page: list[Block], folder: Path, home: Path) -> Command:
    """The command for a page: on a machine that is managed, where the page writes its files."""
    if not any(block.title and block.title.startswith(f"{MACHINE}/") for block in page):
        return Command(home, folder)
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    return Managed(home, folder)


def written(folder: Path, title: str, text: str, command: Command | None = None) -> Path:
    """A file of the page, in its folder, or in the folder of the machine."""
    if isinstance(command, Managed) and title.startswith(f"{MACHINE}/"):
        folder, title = command.machine, title.removeprefix(f"{MACHINE}/")
    path = folder / title
    assert path.resolve().is_relative_to(folder.resolve()), f"{title} lies outside the folder"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def run(page: list[Block], number: int, tmp_path: Path) -> None:
    """Run the block with this number in a folder with the files of those before it."""
    block = page[number]
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    command = _command(page, folder, home)
    for earlier in page[:number]:
        if earlier.file is not None and block.tag != "console empty":
            written(folder, earlier.file, earlier.text, command)
    assert block.tag in KINDS, (
        f"{block.place}: `{block.tag}` is no tag of a block; known are: {', '.join(KINDS)}"
    )
    if block.tag in REPLIES:
        before = page[number - 1].tag if number else "none"
        assert before in REPLIES[block.tag], f"{block.place}: it answers no block before it"
    Runner(block, page[number + 1] if number + 1 < len(page) else None, command).run()
