"""Cutting members out of JSON text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tool_intent.surfaces.mcp.spans import cut, members, removals

KEYS = st.sampled_from(["intent", "a", "b", 'q"', "é", "{", "["])
LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
VALUES = st.recursive(
    LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(KEYS, v, max_size=4), max_leaves=20
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=5)
SPACING = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:  ")])


def without(value: Any, drop: Any) -> Any:
    """A copy of a value less some members: those that `drop` draws."""
    if isinstance(value, dict):
        return {k: without(v, drop) for k, v in value.items() if not drop()}
    return [without(v, drop) for v in value] if isinstance(value, list) else value


@given(OBJECTS, SPACING, st.booleans(), st.data())
def test_what_is_cut_is_gone_and_the_rest_is_the_same_text(
    given_: dict[str, Any], spacing: tuple[str, str], ascii_: bool, data: st.DataObject
) -> None:
    kept = without(given_, lambda: data.draw(st.booleans()))
    text = json.dumps(given_, separators=spacing, ensure_ascii=ascii_)
    after = cut(text, removals(given_, kept))
    assert json.loads(after) == kept
    assert list(json.loads(after)) == list(kept)
    if kept == given_:
        assert after is text


def test_numbers_and_escapes_keep_their_spelling() -> None:
    text = '{"a": 1.50E+2, "intent": "x", "b": "\\u0041\\/", "c": [-0.0, 12345678901234567890]}'
    assert cut(text, {"intent": None}) == text.replace('"intent": "x", ', "")


def test_the_members_of_a_text_that_breaks_off_are_those_before() -> None:
    assert [m.key for m in members('{"a":1,"b":[2],"c":[3', 0)] == ["a", "b"]
    assert [m.key for m in members('{"a":1,"b', 0)] == ["a"]
    assert [m.key for m in members("{", 0)] == []
