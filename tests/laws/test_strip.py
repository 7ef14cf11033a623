"""What is judged is what runs: fields are deleted, and nothing else changes."""

from __future__ import annotations

import json
import re
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from tool_intent.runtime.arguments import snapshot
from tool_intent.runtime.strip import Carrier, strip
from tool_intent.runtime.wire import dump, parse

from .conftest import examples

FIELDS = ("intent", "rationale")
CARRIERS = (Carrier((), FIELDS), Carrier(("edits", "[]"), FIELDS))

_spelt = st.sampled_from(
    ["0", "-0", "1", "-17", "9007199254740993", "1E2", "1e-7", "0.10", "1.0", "-0.0", "2.50e+3",
     "123456789012345678901234567890", "0.1000000000000000055511151231257827"]
)  # fmt: skip
_keys = st.one_of(
    st.sampled_from(["path", "content", "b", "a", "Intent", "x-y", "ünï"]), st.text(max_size=5)
).filter(lambda k: k not in (*FIELDS, "edits", "constructor", "prototype", "__proto__"))


def _object(members: list[tuple[str, str]]) -> str:
    unique = dict(members)
    return "{" + ", ".join(f"{json.dumps(k)}: {v}" for k, v in unique.items()) + "}"


_json_text = st.recursive(
    st.one_of(_spelt, st.text(max_size=8).map(json.dumps), st.sampled_from(["true", "null"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda v: f"[{', '.join(v)}]"),
        st.lists(st.tuples(_keys, inner), max_size=3).map(_object),
    ),
    max_leaves=8,
)
_members = st.lists(st.tuples(_keys, _json_text), max_size=4)
_said = st.lists(st.tuples(st.sampled_from(FIELDS), _json_text), max_size=2)


@st.composite
def with_and_without(draw: st.DrawFn) -> tuple[str, str]:
    """The JSON text of a call's arguments with fields among its members, and without them."""

    def place(members: list[tuple[str, str]]) -> tuple[str, str]:
        fields = list(dict(draw(_said)).items())
        mixed = list(dict(members).items())
        for field in fields:
            mixed.insert(draw(st.integers(0, len(mixed))), field)
        return _object(mixed), _object(members)

    edits = [place(draw(_members)) for _ in range(draw(st.integers(0, 3)))]
    both = [f"[{', '.join(e[n] for e in edits)}]" for n in (0, 1)]
    members = draw(_members)
    at = draw(st.integers(0, len(dict(members))))
    wide = list(dict(members).items())
    said, plain = wide[:], wide[:]
    said.insert(at, ("edits", both[0]))
    plain.insert(at, ("edits", both[1]))
    fields = dict(draw(_said))
    for field in fields.items():
        said.insert(draw(st.integers(0, len(said))), field)
    return _object(said), _object(plain)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def _tokens(text: str) -> list[str]:
    return [json.loads(t) if t.startswith('"') else t for t in _TOKEN.findall(text)]


@settings(max_examples=examples(dev=200, ci=3_000))
@given(with_and_without())
def test_stripping_leaves_every_other_token_of_the_json_text_as_it_was(
    texts: tuple[str, str],
) -> None:
    said, plain = texts
    copy = snapshot(parse(said)).args
    assert _tokens(dump(strip(copy, CARRIERS))) == _tokens(plain)


@settings(max_examples=examples(dev=100, ci=1_000))
@given(with_and_without())
def test_stripping_twice_is_stripping_once_and_the_input_is_not_changed(
    texts: tuple[str, str],
) -> None:
    given_args = parse(texts[0])
    before = dump(given_args)
    once = strip(snapshot(given_args).args, CARRIERS)
    assert dump(given_args) == before
    assert dump(strip(snapshot(once).args, CARRIERS)) == dump(once)


@settings(max_examples=examples(dev=200, ci=3_000))
@given(_json_text)
def test_reading_and_writing_json_keeps_every_token(text: str) -> None:
    assert _tokens(dump(parse(text))) == _tokens(text)


def test_a_field_is_deleted_at_its_places_and_nowhere_else() -> None:
    args: dict[str, Any] = {
        "intent": 1, "meta": {"intent": 2}, "edits": [{"intent": 3, "deep": {"intent": 4}}, 5],
        "list": [{"intent": 6}],
    }  # fmt: skip
    assert strip(args, CARRIERS) == {
        "meta": {"intent": 2}, "edits": [{"deep": {"intent": 4}}, 5], "list": [{"intent": 6}],
    }  # fmt: skip
