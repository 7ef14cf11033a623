"""Generated policies and calls."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import hypothesis.strategies as st

NAMES = ["intent", "rationale", "ticket", "risk"]
TOOLS = ["write", "edit", "bash", "mcp__a__b", "bash\u200b"]
PLACES = ["", "edits[]", "steps[].actions[]", "meta", "a.b[]", "grid[][]"]
WORDS = ["todo", "fix", "PAY-1", "ＰＡＹ-1", "low", "high", "a" * 12, "é", "e\u0301", "\ufdfa"]

texts = st.one_of(
    st.sampled_from(["", " ", "\u200b", "\u0301", "fix ", "\tfix", "a" + "\u0301" * 31, *WORDS]),
    st.text(max_size=12),
)
numbers = st.one_of(
    st.integers(-1, 6), st.sampled_from([1.0, 2.5, -0.0, 1e300, 2**53 + 1, 0.0075, 10**30])
)
scalars = st.one_of(texts, numbers, st.booleans())


def _text_leaves() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.integers(0, 6).map(lambda n: {"minLength": n}),
        st.integers(6, 14).map(lambda n: {"maxLength": n}),
        st.sampled_from(["^PAY-[0-9]+$", "o", r"^\w+$", "[A-Z]", "^.{3,}$"]).map(
            lambda p: {"pattern": p}
        ),
        st.lists(texts, min_size=1, max_size=4, unique=True).map(lambda v: {"enum": v}),
        texts.map(lambda v: {"const": v}),
    )


def _number_leaves() -> st.SearchStrategy[dict[str, Any]]:
    return st.one_of(
        st.sampled_from(["minimum", "exclusiveMinimum"]).flatmap(
            lambda k: st.integers(0, 2).map(lambda n: {k: n})
        ),
        st.sampled_from(["maximum", "exclusiveMaximum"]).flatmap(
            lambda k: st.integers(4, 5).map(lambda n: {k: n})
        ),
        st.sampled_from([1, 2, 0.5, 0.0001, 3]).map(lambda n: {"multipleOf": n}),
        st.lists(st.integers(-1, 6), min_size=1, max_size=4, unique=True).map(
            lambda v: {"enum": v}
        ),
    )


_LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "string": _text_leaves(),
    "number": _number_leaves(),
    "integer": _number_leaves(),
    "boolean": st.booleans().map(lambda v: {"const": v}),
}


@cache
def constraints(kinds: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """Schemas that speak of values of these kinds."""
    return st.recursive(
        st.one_of(*(_LEAVES[k] for k in kinds), *(_LEAVES[k] for k in kinds), st.booleans()),
        _compounds,
        max_leaves=5,
    )


def _compounds(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        several.map(lambda s: {"allOf": s}),
        several.map(lambda s: {"anyOf": s}),
        several.map(lambda s: {"oneOf": s}),
        inner.map(lambda s: {"not": s}),
        st.tuples(inner, inner, inner).map(lambda s: {"if": s[0], "then": s[1], "else": s[2]}),
    )


#: What each field is in every generated policy, so that entries can constrain it further.
FIELD_KINDS: dict[str, tuple[str, ...]] = {
    "intent": ("string",),
    "rationale": ("string",),
    "ticket": ("string", "integer"),
    "risk": ("number", "boolean"),
}


@st.composite
def schemas(draw: st.DrawFn, kinds: tuple[str, ...]) -> Any:
    """A field's schema: constraints that speak of its kinds, and a type unless it is text."""
    rest = draw(constraints(kinds))
    schema: dict[str, Any] = dict(rest) if isinstance(rest, dict) else {"allOf": [rest]}
    if kinds != ("string",):
        schema["type"] = list(kinds)
    return schema


_names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)
_places = st.sampled_from(PLACES)
_effects = st.sampled_from(["note", "warn", "ask", "deny"])
_excepted = st.sampled_from(["bash", "@read", "mcp__*"])


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(_names)
    required = [n for n in names if draw(st.booleans())] or names[:1]
    entry: dict[str, Any] = {"require": {n: {} for n in required}}
    if draw(st.booleans()):
        name = required[0]
        entry["require"][name] = {"allOf": [draw(constraints(FIELD_KINDS[name]))]}
    optional = [n for n in names if n not in required]
    if optional:
        entry["optional"] = optional
        if draw(st.integers(0, 3)) == 0:
            del entry["require"]
    place = draw(_places)
    if place:
        entry["at"] = place
    if draw(st.booleans()):
        entry["effect"] = draw(_effects)
    if draw(st.integers(0, 4)) == 0:
        entry["except"] = [draw(_excepted)]
    return entry


_tools = st.dictionaries(
    st.sampled_from(["write", "edit", "bash", "@write", "@exec", "mcp__*", "*", "?d*"]),
    st.lists(entries(), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)
_levels = st.sampled_from(["allow", "note", "warn", "ask", "deny"])


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    """A policy as data."""
    policy: dict[str, Any] = {
        "version": 1,
        "fields": {n: draw(schemas(FIELD_KINDS[n])) for n in NAMES},
        "tools": draw(_tools),
    }
    if draw(st.booleans()):
        policy["unlisted"] = draw(_levels)
    return policy


def policy_text(policy: dict[str, Any]) -> str:
    """A policy file that says what `policy` does: JSON, with astral escapes as YAML has them."""
    text = json.dumps(policy)
    pair = r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})"
    return re.sub(pair, lambda m: f"\\U{_joined(m[1], m[2]):08x}", text)


def _joined(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00


values: st.SearchStrategy[Any] = st.one_of(
    scalars, st.none(), st.lists(scalars, max_size=2), st.dictionaries(texts, scalars, max_size=2)
)


@st.composite
def places(draw: st.DrawFn) -> dict[str, Any]:
    """An object that may carry fields, some of them as they should be."""
    here: dict[str, Any] = {}
    for name in NAMES:
        how = draw(st.integers(0, 3))
        if how == 1:
            here[name] = draw(values)
        elif how >= 2:
            here[name] = draw(texts)
    if draw(st.integers(0, 5)) == 0:
        here["ｉｎｔｅｎｔ"] = "look-alike"
    if draw(st.integers(0, 5)) == 0:
        here["path"] = draw(values)
    return here


def _listed(element: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(st.one_of(element, element, values), max_size=3), values)


_edits = _listed(places())
_steps = _listed(st.fixed_dictionaries({"actions": st.lists(places(), max_size=2)}))
_meta = st.one_of(places(), values)
_a = st.one_of(st.fixed_dictionaries({"b": st.lists(places())}), values)
_grid = _listed(st.lists(places(), max_size=2))


@st.composite
def arguments(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of a call, with the containers of `PLACES` in every shape."""
    args = draw(places())
    containers = {"edits": _edits, "steps": _steps, "meta": _meta, "a": _a, "grid": _grid}
    for name, container in containers.items():
        if draw(st.booleans()):
            args[name] = draw(container)
    return args
