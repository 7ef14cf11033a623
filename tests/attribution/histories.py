"""Histories made by real tools, whose lines have known authors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ..agents.installed import installed
from .truth import PERSON, Draft
from .world import World

#: What is written into files, as text: no formatter of ours is to touch it.
SOURCES: Final = Path(__file__).with_name("sources")
RUFF: Final = (Path(sys.executable).with_name("ruff"), "format", "--quiet", "--isolated")


def ruff(world: World) -> None:
    """Calls that care for no layout, and a formatter after each of them, recorded and not."""
    world.write("c1", "ledger.py", _source("ledger.py"))
    world.run(PERSON, "ledger.py", RUFF)
    world.commit()
    world.change("c2", "ledger.py", lambda draft: draft.append(["", *_lines("audit.py")]))
    world.run("c3", "ledger.py", RUFF)
    world.change(PERSON, "ledger.py", lambda draft: draft.swap("total = 0", "total = start"))
    world.change("c4", "ledger.py", lambda draft: draft.append(["", *_lines("digest.py")]))
    world.run(PERSON, "ledger.py", RUFF)


def prettier(world: World) -> None:
    """The same in JavaScript, whose formatter adds semicolons, brackets and commas."""
    program = installed("prettier") / "node_modules" / "prettier" / "bin" / "prettier.cjs"
    command = ("node", program, "--write", "--no-config", "--log-level=error")
    world.write("c1", "fees.js", _source("fees.js"))
    world.run(PERSON, "fees.js", command)
    world.commit()
    world.change("c2", "fees.js", lambda draft: draft.append(_lines("total.js")))
    world.run("c3", "fees.js", command)
    world.change(PERSON, "fees.js", lambda draft: draft.swap("0.005", "0.004"))
    world.change("c4", "fees.js", lambda draft: draft.swap("let sum = 0", "let sum = 0n"))
    world.run(PERSON, "fees.js", (*command, "--tab-width=4", "--single-quote", "--no-semi"))


def rebase(world: World) -> None:
    """A branch of two calls, rebased onto a person's work in the same file."""
    _parser(world)
    world.git("switch", "--quiet", "--create", "feature")
    world.change("c2", "parser.py", lambda draft: draft.append(_lines("checks.py")))
    world.commit("checks")
    world.change("c3", "parser.py", lambda draft: draft.swap("list(tokenized", "deque(tokenized"))
    world.commit("deque")
    world.git("switch", "--quiet", "main")
    world.change(PERSON, "parser.py", lambda draft: draft.insert(0, _lines("imports.py")))
    world.change(PERSON, "parser.py", lambda draft: draft.swap("value = expr", "value = full_expr"))
    world.commit("by hand")
    world.git("rebase", "--quiet", "main", "feature")


def squash(world: World) -> None:
    """A branch of calls and a person's fix, squashed to one commit, that then is amended."""
    _parser(world)
    world.git("switch", "--quiet", "--create", "feature")
    for call, name in (("c2", "printer.py"), ("c3", "checks.py")):
        world.change(call, "parser.py", lambda draft, name=name: draft.append(_lines(name)))
        world.commit(call)
    world.change(PERSON, "parser.py", lambda draft: draft.swap('" ".join', '"".join'))
    world.commit("fix")
    world.git("switch", "--quiet", "main")
    world.git("merge", "--quiet", "--squash", "feature")
    world.git("commit", "--quiet", "--message=all of it")
    world.git("branch", "--quiet", "-D", "feature")
    world.change(PERSON, "parser.py", lambda draft: draft.insert(0, ['"""Parse."""', ""]))
    world.git("add", "--all")
    world.git("commit", "--quiet", "--amend", "--message=amended")
    world.git("gc", "--quiet", "--prune=now")


def rename(world: World) -> None:
    """A file that a person renames and works on, then a call, then git moves its folder."""
    _parser(world)
    world.change("c2", "parser.py", lambda draft: draft.append(_lines("printer.py")))
    world.commit("printer")
    world.git("mv", "parser.py", "reader.py")
    world.commit("renamed")
    world.change(PERSON, "reader.py", lambda draft: draft.swap("parts = [", "pieces = ["))
    world.change("c3", "reader.py", lambda draft: draft.append(_lines("checks.py")))
    world.commit("checks")
    (world.folder / "text").mkdir()
    (world.shadow.folder / "text").mkdir()
    world.git("mv", "reader.py", "text/reader.py")
    world.commit("moved")
    world.change(PERSON, "text/reader.py", lambda draft: draft.delete(0, 2))


def person(world: World) -> None:
    """Somebody who edits, deletes, indents, copies and moves what calls wrote."""
    _parser(world)
    world.change("c2", "parser.py", lambda draft: draft.append(_lines("checks.py")))
    world.change(PERSON, "parser.py", _by_hand)
    world.change(
        "c3", "parser.py", lambda draft: draft.swap("tree = statement", "root = statement")
    )
    world.change(
        PERSON,
        "parser.py",
        lambda draft: draft.move(draft.find("def checked"), len(draft.lines), 0),
    )
    world.change("c4", "parser.py", lambda draft: draft.append(_lines("printer.py")))
    world.move_lines("c5", "parser.py", (6, 12), "more.py")


def merge(world: World) -> None:
    """Calls on two branches of one file, and the merge of both."""
    _parser(world)
    world.git("switch", "--quiet", "--create", "left")
    world.change("c2", "parser.py", lambda draft: draft.append(_lines("printer.py")))
    world.commit("left")
    world.git("switch", "--quiet", "--create", "right", "main")
    world.change("c3", "parser.py", lambda draft: draft.insert(0, _lines("imports.py")))
    world.change(
        "c4", "parser.py", lambda draft: draft.swap("first = tokens[0]", "first = peek(tokens)")
    )
    world.commit("right")
    world.git("switch", "--quiet", "left")
    world.change(PERSON, "parser.py", lambda draft: draft.swap("joined = ", "text = "))
    world.commit("by hand")
    world.git("merge", "--quiet", "--message=both", "right")
    world.change("c5", "parser.py", lambda draft: draft.append(_lines("checks.py")))


def revert(world: World) -> None:
    """A call's work taken back, done again, and picked onto another branch."""
    _parser(world)
    world.change("c2", "parser.py", lambda draft: draft.append(_lines("printer.py")))
    world.commit("printer")
    world.git("revert", "--no-edit", "HEAD")
    world.change("c3", "parser.py", lambda draft: draft.insert(0, _lines("imports.py")))
    world.commit("imports")
    world.git("revert", "--no-edit", "HEAD~1")
    world.git("switch", "--quiet", "--create", "other", "HEAD~4")
    world.change(PERSON, "parser.py", lambda draft: draft.append(["", "# other"]))
    world.commit("other")
    world.git("cherry-pick", "main~1")


HISTORIES: Final[dict[str, Callable[[World], None]]] = {
    one.__name__: one for one in (ruff, prettier, rebase, squash, rename, person, merge, revert)
}


def _parser(world: World) -> None:
    world.write("c1", "parser.py", _source("parser.py"))
    world.commit("parser")


def _source(name: str) -> str:
    return (SOURCES / f"{name}.txt").read_text(encoding="utf-8")


def _lines(name: str) -> list[str]:
    return _source(name).splitlines()


def _by_hand(draft: Draft) -> None:
    start = draft.find("def statement")
    draft.insert(start, ["if True:"])
    draft.indent(start + 1, start + 6)
    draft.swap("if not tokens:", "if tokens is None:")
    at = draft.find("expect(tokens.pop(0)")
    draft.delete(at, at + 1)
    copied = [line.text for line in draft.lines[start + 1 : start + 6]]
    draft.append(["", "", *(line.replace("statement", "sentence") for line in copied)])
