"""read shows text a page at a time, exactly, and says what it cannot show."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_intent.tools import Builtin, Workspace


@pytest.mark.parametrize("text", ["a\n", "a", "a\n\nb\n\n", "a\r\nb\r\n", "\n", "é€😀\n", "\ta \n"])
def test_a_short_file_reads_as_its_exact_text(builtin: Builtin, root: Path, text: str) -> None:
    (root / "f").write_bytes(text.encode())
    assert builtin.run("read", {"path": "f"}) == (text, True)


def test_an_empty_file_is_said_to_be_empty(builtin: Builtin, root: Path) -> None:
    (root / "f").touch()
    assert builtin.run("read", {"path": "f"}) == ("[f is empty.]", True)


def test_a_page_ends_at_2000_lines_and_says_how_to_read_on(builtin: Builtin, root: Path) -> None:
    (root / "f").write_text("".join(f"{n}\n" for n in range(1, 3235)))
    text, ok = builtin.run("read", {"path": "f"})
    assert ok
    assert text.endswith("2000\n\n[… 1,234 more lines; read on with offset 2001.]")
    rest = builtin.run("read", {"path": "f", "offset": 2001}).text
    assert rest == "".join(f"{n}\n" for n in range(2001, 3235))


def test_a_page_ends_before_the_line_that_would_pass_50_kb(builtin: Builtin, root: Path) -> None:
    (root / "f").write_text(("x" * 999 + "\n") * 60)
    text = builtin.run("read", {"path": "f"}).text
    assert text == ("x" * 999 + "\n") * 51 + "\n[… 9 more lines; read on with offset 52.]"


def test_offset_and_limit_choose_lines_and_may_be_whole_floats(
    builtin: Builtin, root: Path
) -> None:
    (root / "f").write_text("1\n2\n3\n4")
    for args, text in [
        ({"offset": 2, "limit": 2}, "2\n3\n\n[… 1 more line; read on with offset 4.]"),
        ({"offset": 4.0}, "4"),
        ({"offset": 3, "limit": 10**30}, "3\n4"),
    ]:
        assert builtin.run("read", {"path": "f", **args}) == (text, True)


@pytest.mark.parametrize("offset", [1, 2, 13_000, 65_536, 99_998, 100_000])
def test_any_line_of_a_long_file_is_found(builtin: Builtin, root: Path, offset: int) -> None:
    (root / "f").write_text("".join(f"{n}\n" for n in range(1, 100_001)))
    text = builtin.run("read", {"path": "f", "offset": offset, "limit": 1}).text
    assert text.startswith(f"{offset}\n")


@pytest.mark.parametrize(
    ("text", "lines"), [("", "0 lines"), ("a\n", "1 line"), ("a\nb", "2 lines")]
)
def test_an_offset_past_the_end_says_how_long_the_file_is(
    builtin: Builtin, root: Path, text: str, lines: str
) -> None:
    (root / "f").write_text(text)
    for offset in (3, 10**5000):
        says = builtin.run("read", {"path": "f", "offset": offset})
        assert says == (f"offset is past the end: f has {lines}.", False)


def test_a_line_longer_than_a_page_is_cut_between_characters_and_says_so(
    builtin: Builtin, root: Path
) -> None:
    (root / "f").write_text("a" + "€" * 20_000 + "\nnext\n")
    text = builtin.run("read", {"path": "f"}).text
    shown, notes = text.split("\n\n")
    assert shown == "a" + "€" * 17_066
    assert notes == (
        "[Line 1 is cut after 51,199 of its 60,001 bytes; see the rest with bash: "
        "sed -n 1p FILE | tail -c +51200.]\n[… 1 more line; read on with offset 2.]"
    )
    (root / "g").write_text("x" * 51_200 + "\n")
    assert builtin.run("read", {"path": "g"}).text == "x" * 51_200 + "\n"


def test_invalid_bytes_are_shown_replaced_and_their_lines_named(
    builtin: Builtin, root: Path
) -> None:
    (root / "f").write_bytes(b"ok\ncaf\xe9\n" + "\ufffd fine\n".encode() + b"\xff\n")
    assert builtin.run("read", {"path": "f"}).text == (
        "ok\ncaf\ufffd\n\ufffd fine\n\ufffd\n\n"
        "[Bytes that are not UTF-8 are shown as \ufffd, in lines 2, 4.]"
    )


def test_a_byte_order_mark_is_left_out_and_said(builtin: Builtin, root: Path) -> None:
    (root / "f").write_bytes(b"\xef\xbb\xbfa\n")
    text = builtin.run("read", {"path": "f"}).text
    assert text == "a\n\n[The file starts with a byte order mark, not shown.]"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x7fELF\x02\0\0", "f is a binary file of 7 bytes"),
        ("text".encode("utf-16"), "f is UTF-16 text; convert it to UTF-8"),
    ],
)
def test_what_is_no_utf8_text_is_refused(
    builtin: Builtin, root: Path, data: bytes, says: str
) -> None:
    (root / "f").write_bytes(data)
    text, ok = builtin.run("read", {"path": "f"})
    assert not ok
    assert says in text


def test_a_missing_file_names_the_nearest_one(builtin: Builtin, root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "main.py").touch()
    near = "does not exist; the nearest name in that folder is"
    for path, says in [
        ("src/mian.py", f"src/mian.py {near} main.py."),
        ("src/Main.PY", f"src/Main.PY {near} main.py."),
        ("scr/main.py", f"scr/main.py {near} src.".replace("exist;", "exist: there is no scr;")),
        ("zzz", "zzz does not exist; check the path."),
        ("zz\nz\u202e", "zz\\nz\\u202e does not exist; check the path."),
    ]:
        assert builtin.run("read", {"path": path}) == (says, False)


def test_a_folder_is_refused_with_what_it_holds(builtin: Builtin, root: Path) -> None:
    for n in range(12):
        (root / f"f{n:02}").touch()
    text = builtin.run("read", {"path": "."}).text
    assert text == (
        ". is a folder; name a file in it (f00, f01, f02, f03, f04, f05, f06, f07, f08, f09 and 2 "
        "more), or list it with bash (ls)."
    )


def test_a_huge_file_is_refused_without_being_read(child: Callable[..., Any], root: Path) -> None:
    with open(root / "f", "wb") as file:
        file.truncate(1 << 40)
    done = child("metered", root=str(root), tool="read", args={"path": "f"})
    assert done["text"] == "f is larger than 64 MiB; use bash for it (sed, head, tail, grep)."
    assert done["grown"] < 8 << 20


_lines = st.lists(st.sampled_from(["", "a", "é", "x" * 30_000, "€" * 17_000, "\r"]), max_size=6)


@given(_lines, st.booleans(), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_reading_on_as_told_shows_every_line_once(
    lines: list[str], ended: bool, limit: int
) -> None:
    text = "\n".join(lines) + ("\n" if ended else "")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f").write_bytes(text.encode())
        builtin = Builtin(Workspace(folder))
        pages, offset = [], 1
        while offset:
            page, ok = builtin.run("read", {"path": "f", "offset": offset, "limit": limit})
            assert ok
            more = re.search(r"\n\[… \d more lines?; read on with offset (\d+)\.\]$", page)
            pages.append(page[: more.start()] if more else page)
            offset = int(more[1]) if more else 0
    assert "".join(pages) == (text or "[f is empty.]")
