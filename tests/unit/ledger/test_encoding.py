from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_intent.ledger.encoding import encode

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS.filter(lambda v: v not in (math.inf, -math.inf)),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3),
    max_leaves=15,
)


@given(VALUES)
def test_a_text_is_what_the_standard_library_writes_without_spaces(value: Any) -> None:
    assert encode(value) == json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_json_has_no_digits_for_is_an_error(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"a": [number]})


def test_what_holds_itself_or_is_no_json_is_an_error() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        encode(endless)
    with pytest.raises(TypeError):
        encode({"a": {1, 2}})
