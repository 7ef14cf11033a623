"""The rows of paths.yaml on a real tree with real links, one test each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tool_intent.runtime import paths
from tool_intent.runtime.paths import Place

ROWS = yaml.safe_load(Path(__file__).with_name("paths.yaml").read_text(encoding="utf-8"))
CASES = {"sensitive": False, "insensitive": True, "unknown": None}


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The tree that paths.yaml describes, and the words its rows use for places in it."""
    base = Path(os.path.realpath(tmp_path_factory.mktemp("paths")))
    root, out, home = base / "repo", base / "outside", base / "home"
    for folder in (
        root / "db/migrations",
        root / "src/[id]",
        root / "build",
        root / "x",
        out,
        home,
    ):
        folder.mkdir(parents=True)
    for file in ("db/migrations/1.sql", "src/app.py", "src/[id]/page.tsx", ".env", "data"):
        (root / file).write_text("", encoding="utf-8")
    (out / "secret").write_text("", encoding="utf-8")
    links = {
        "m": "db/migrations", "chain": "m", "out": str(out), "dangling": "db/new", "up": "..",
        "loop": "loop", "x/deep": str(root / "src"), "self": ".",
    }  # fmt: skip
    for name, target in links.items():
        (root / name).symlink_to(target)
    return {
        "ROOTNAME": root.name, "OUTNAME": out.name, "ROOT": str(root), "OUT": str(out),
        "HOME": str(home), "NAME300": "x" * 300, "PATH5000": "a/" * 2500,
    }  # fmt: skip


def _filled(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _place(row: dict[str, Any], words: dict[str, str]) -> Place:
    if row.get("windows"):
        case = CASES[row["case"]] if "case" in row else None
        return Place("C:\\repo", "C:\\repo", "C:\\Users\\u", case, windows=True)
    cwd = row.get("cwd", "ROOT")
    home = row.get("home", "HOME")
    return Place(
        words["ROOT"],
        None if cwd == "unknown" else _filled(cwd, words),
        None if home == "unknown" else _filled(home, words),
        CASES[row.get("case", "sensitive")],
    )


def _name(row: dict[str, Any]) -> str:
    test = next(key for key in ("under", "like", "same") if key in row)
    return ascii(f"{row['path']} {test} {row[test]} {row.get('case', '')} {row.get('cwd', '')}")


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_a_path_is_where_its_row_says(row: dict[str, Any], tree: dict[str, str]) -> None:
    place = _place(row, tree)
    literal = row.get("literal", False)
    path = paths.resolve(_filled(row["path"], tree), place, literal=literal)
    expected = None if row["is"] == "unknown" else row["is"]
    if "same" in row:
        assert paths.same(path, _filled(row["same"], tree), place) is expected
        return
    test, texts = (paths.under, row["under"]) if "under" in row else (paths.like, row["like"])
    texts = [texts] if isinstance(texts, str) else texts
    assert test(path, [_filled(text, tree) for text in texts], place) is expected


def test_the_table_holds_at_least_80_rows() -> None:
    assert len(ROWS) >= 80
