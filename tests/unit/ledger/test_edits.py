"""What each replacement of a call made of a file, or that this cannot be told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.ledger.edits import Version, edits, versions
from tool_intent.ledger.recorder import Edit, Told
from tool_intent.runtime.decision import decided
from tool_intent.runtime.model import Call

ROLES = {"path": (("path",),), "content": (("edits", "[]", "newText"),)}


def _edits(*pairs: tuple[str, str], everywhere: bool = False) -> list[Edit]:
    return [
        Edit(f"/edits/{n}", old.encode(), new.encode(), everywhere)
        for n, (old, new) in enumerate(pairs)
    ]


@pytest.mark.parametrize(
    ("pairs", "before", "between"),
    [
        ([("a", "b")], "a\n", [("b\n", (0,))]),
        ([("c\n", "C\n"), ("a\n", "A\n")], "a\nc\n", [("a\nC\n", (0,)), ("A\nC\n", (1,))]),
        ([("a", "A"), ("c", "C")], "a c\n", [("A C\n", (0, 1))]),
        (
            [("a", "A"), ("d", "D"), ("b", "B")], "a b\nd\n",
            [("A B\nd\n", (0, 2)), ("A B\nD\n", (1,))],
        ),
        ([("a\n", ""), ("b", "a")], "a\nb\n", [("b\n", (0,)), ("a\n", (1,))]),
        (
            [("a\nb", "x"), ("c", "y")], "a\r\nb\r\nc\r\n",
            [("x\r\nc\r\n", (0,)), ("x\r\ny\r\n", (1,))],
        ),
    ],
)  # fmt: skip
def test_each_replacement_is_a_version_and_those_of_one_line_are_one(
    pairs: list[tuple[str, str]], before: str, between: list[tuple[str, tuple[int, ...]]]
) -> None:
    found = versions(_edits(*pairs), before.encode(), between[-1][0].encode())
    expected = [Version(text.encode(), numbers) for text, numbers in between]
    assert found == [Version(before.encode()), *expected]


def test_an_edit_of_all_places_is_one_version() -> None:
    found = versions(_edits(("a", "b"), everywhere=True), b"a\na\n", b"b\nb\n")
    assert found == [Version(b"a\na\n"), Version(b"b\nb\n", (0,))]


def test_what_others_did_meanwhile_is_what_the_edits_found() -> None:
    found = versions(_edits(("a", "A"), ("b", "B")), b"a\nb\n", b"A\nB\nc\n")
    assert found == [
        Version(b"a\nb\nc\n"), Version(b"A\nb\nc\n", (0,)), Version(b"A\nB\nc\n", (1,)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "before", "after"),
    [
        ([("a", "b")], "x\n", "y\n"),  # it is not there
        ([("a", "b")], "a\na\n", "b\na\n"),  # it is there twice
        ([("ab", "x"), ("bc", "y")], "abc\n", "x\n"),  # they overlap
        ([("a", "")], "a\n", "\nmore\n"),  # where nothing was put in, nobody can see where
        ([("a", "b")], "a" + "x" * (5 << 20), "b" + "x" * (5 << 20)),  # too much to keep
    ],
)
def test_what_the_replacements_did_not_make_is_not_told(
    pairs: list[tuple[str, str]], before: str, after: str
) -> None:
    assert versions(_edits(*pairs), before.encode(), after.encode()) is None


@given(
    lines=st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6),
    data=st.data(),
)
def test_the_last_version_is_the_file_and_none_is_made_up(lines: list[str], data: Any) -> None:
    before = "\n".join(lines).encode()
    pairs = data.draw(
        st.lists(st.tuples(st.sampled_from(lines), st.text("abc\n", max_size=3)), max_size=3)
    )
    after = data.draw(st.sampled_from([before, *(line.encode() for line in lines)]))
    for old, new in pairs:
        after = after.replace(old.encode(), new.encode(), 1)
    asked = _edits(*pairs)
    found = versions(asked, before, after)
    if found is not None:
        assert found[-1].content == after
        told = [number for version in found for number in version.edits]
        assert sorted(told) == list(range(len(asked)))


@pytest.mark.parametrize(
    ("args", "roles", "expected"),
    [
        ({"edits": [{"oldText": "a", "newText": "b"}]}, ROLES, _edits(("a", "b"))),
        (
            {"old_string": "a", "new_string": "b", "replace_all": True},
            {"content": (("new_string",),)},
            [Edit("", b"a", b"b", True)],
        ),
        ({"edits": [{"oldText": "", "newText": "b"}]}, ROLES, []),
        ({"edits": [{"oldText": "a\ud800", "newText": "b"}]}, ROLES, []),
        ({"edits": [{"oldText": "a"}, "text"]}, ROLES, []),
        ({"edits": "text"}, ROLES, []),
        ({"content": "text"}, {"content": (("content",),)}, []),
    ],
)
def test_replacements_are_read_from_the_arguments_of_tools_that_are_known(
    args: dict[str, Any], roles: Any, expected: list[Edit]
) -> None:
    told = Told(Call(None, "edit", args), decided(None, "edit", (), None, (), ""), (), roles)
    assert list(edits(told)) == expected
