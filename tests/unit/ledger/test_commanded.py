"""The files that a shell command writes or deletes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tool_intent.ledger.commanded import is_plain, places


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    for folder in ("sub", ".git/tool-intent"):
        (tree / folder).mkdir(parents=True)
    for name in ("a", "b.py", "c.py", ".hidden.py", "sub/d", ".git/config", "[x].py"):
        (tree / name).write_text(name)
    (tmp_path / "outside").write_text("x")
    (tree / "link").symlink_to("sub/d")
    (tree / "out").symlink_to("../outside")
    (tree / "away").symlink_to("..")
    os.mkfifo(tree / "pipe")
    return tree


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("echo x > a", ["a"]),
        ("echo x >> new", ["new"]),
        ("echo x | tee a sub/new", ["a", "sub/new"]),
        ("sed -i s/a/b/ a b.py", ["a", "b.py"]),
        ("sed -i s/a/b/ *.py", ["[x].py", "b.py", "c.py"]),
        ("rm .*.py", [".hidden.py"]),
        ("rm '[x].py'", ["[x].py"]),
        ("cp a new", ["new", "new/a"]),
        ("mv a new", ["new", "new/a", "a"]),
        ("git mv a new", ["new", "new/a", "a"]),
        ("rm a sub/d", ["a", "sub/d"]),
        ("cd sub && echo x > d", ["sub/d"]),
        ("cd sub && rm ../a", ["a"]),
        ("echo x > link", ["sub/d"]),
        ("cat > a <<'end'\ntext\nend", ["a"]),
        ("echo x > a; $(unknown)", ["a"]),
        ("echo x > a; `", []),
        ("cat a; grep x b.py; ls", []),
        ("echo x > ../outside; rm ../outside /etc/passwd", []),
        ("echo x > out; rm away/outside", []),
        ("echo x > .git/config; echo x > .git/tool-intent/new", []),
        ("echo x > pipe; echo x > /dev/null; rm -r sub", []),
        ("rm */d nowhere/*.py", []),
        ("python make.py", []),
    ],
)
def test_a_command_names_the_files_that_it_writes_below_the_work_tree(
    command: str, expected: list[str], tree: Path
) -> None:
    found = [os.path.relpath(p, tree) for p in places([command], str(tree), str(tree))]
    assert found == expected


def test_a_command_starts_where_its_call_does(tree: Path) -> None:
    assert list(places(["rm d"], str(tree / "sub"), str(tree))) == [str(tree / "sub" / "d")]


def test_of_many_files_the_first_are_looked_at(tree: Path) -> None:
    names = " ".join(f"f{n}" for n in range(1_000))
    assert len(list(places([f"touch {names}"], str(tree), str(tree)))) == 256
    assert list(places(["touch a #" + "x" * (300 << 10)], str(tree), str(tree))) == []


def test_a_place_that_has_become_a_link_is_not_looked_at(tree: Path) -> None:
    assert is_plain(str(tree / "a"))
    assert is_plain(str(tree / "new"))
    assert not is_plain(str(tree / "link"))
    assert not is_plain(str(tree / "pipe"))
    with open(tree / "large", "wb") as file:
        file.truncate(65 << 20)
    assert not is_plain(str(tree / "large"))
