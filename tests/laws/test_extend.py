"""Extending a schema: the fields first, and every other keyword byte for byte."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import jsonschema
from hypothesis import given, settings

from tool_intent.runtime.extend import Advert, extend
from tool_intent.runtime.strip import Carrier, strip

from .conftest import examples

FIELD = {"type": "string", "description": "Why.", "minLength": 1}
ADVERTS = (
    Advert((), (("intent", FIELD, True), ("ticket", {"type": "string"}, False))),
    Advert(("edits", "[]"), (("intent", FIELD, True), ("rationale", FIELD, True))),
)
CARRIERS = tuple(Carrier(a.at, tuple(n for n, _, _ in a.properties)) for a in ADVERTS)

_names = st.sampled_from(["path", "content", "mode", "limit", "a/b", "x~y", "$ref", "properties"])
_scalar_schemas = st.sampled_from([
    {"type": "string"}, {"type": "integer", "minimum": 1}, {"enum": ["a", "b"]}, {"const": 3},
    {"type": ["string", "null"], "description": "Maybe."}, {"$ref": "#/$defs/mode"}, True, {},
    {"anyOf": [{"type": "string"}, {"type": "number"}]},
    {"type": "array", "items": {"$ref": "#/$defs/mode"}},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
])  # fmt: skip
_extras: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "additionalProperties": st.sampled_from([False, True, {"type": "string"}]),
        "title": st.text(max_size=5),
        "description": st.text(max_size=9),
        "unevaluatedProperties": st.just(False),
        "anyOf": st.just([{"required": ["path"]}, {"required": ["content"]}]),
        "oneOf": st.sampled_from([
            [{"properties": {"path": {"type": "string"}}, "additionalProperties": False}],
            [{"properties": {"mode": {"const": 1}}}, {"properties": {"mode": {"const": 2}}}],
        ]),
        "maxProperties": st.just(2),
        "patternProperties": st.sampled_from([
            {"^x-": {"type": "string"}}, {"t": {"type": "null"}},
        ]),
        "x-vendor": st.just({"keep": [1.0, "ü"]}),
    },
)  # fmt: skip


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    properties = draw(st.dictionaries(_names, _scalar_schemas, max_size=4))
    schema: dict[str, Any] = {"type": "object", "properties": properties} | draw(_extras)
    if draw(st.booleans()):
        schema["required"] = sorted(properties)[:2]
    if draw(st.integers(0, 5)) == 0:
        del schema["type"]
    keys = draw(st.permutations(list(schema)))
    return {k: schema[k] for k in keys}


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    """A tool with `$defs`, references, unions and closed objects in its schema."""
    schema = draw(objects())
    edit = draw(objects())
    how = draw(st.sampled_from(["inline", "ref", "none", "tuple", "own"]))
    schema["$defs"] = {"edit": edit, "mode": {"enum": ["r", "w"]}}
    edits: dict[str, Any] = {"type": "array", "minItems": 1}
    if how == "tuple":
        edits["prefixItems"] = [edit]
    elif how != "none":
        edits["items"] = {"$ref": "#/$defs/edit"} if how == "ref" else edit
    if how == "own":
        edits["items"] = edit | {"properties": {"intent": {"type": "string"}}}
    schema.setdefault("properties", {})["edits"] = edits
    return {"name": "t", "description": draw(st.text(max_size=9)), "inputSchema": schema}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=False)


def _without_fields(schema: Any) -> Any:
    """The schema with the adverts taken out again at the call and at `edits[]`."""
    schema = json.loads(_text(schema))
    for node, advert in _advertised(schema):
        for name, _, needed in advert.properties:
            del node["properties"][name]
            if needed:
                node["required"].remove(name)
        if node.get("required") == []:
            del node["required"]
    return schema


def _advertised(schema: dict[str, Any]) -> list[tuple[dict[str, Any], Advert]]:
    found = []
    edits = schema["properties"]["edits"].get("items")
    if isinstance(edits, dict) and "rationale" in edits.get("properties", {}):
        found.append((edits, ADVERTS[1]))
    if "ticket" in schema["properties"]:
        found.append((schema, ADVERTS[0]))
    return found


def _original(schema: dict[str, Any], extended: dict[str, Any]) -> dict[str, Any]:
    """The input, with the one reference that was opened to be extended opened too."""
    schema = json.loads(_text(schema))
    items = schema["properties"]["edits"].get("items")
    opened = extended["properties"]["edits"].get("items")
    if items == {"$ref": "#/$defs/edit"} and opened != items:
        schema["properties"]["edits"]["items"] = json.loads(_text(schema["$defs"]["edit"]))
    return _without_empty_required(schema, extended)


def _without_empty_required(schema: dict[str, Any], extended: dict[str, Any]) -> dict[str, Any]:
    for node, _ in _advertised(extended):
        same = schema if node is extended else schema["properties"]["edits"]["items"]
        if same.get("required") == []:
            del same["required"]
    return schema


@settings(max_examples=examples(dev=100, ci=1_000))
@given(tools())
def test_every_other_keyword_stays_byte_for_byte(tool: dict[str, Any]) -> None:
    before = _text(tool)
    extended, refused = extend(tool, ADVERTS)
    assert _text(tool) == before
    schema = extended["inputSchema"]
    assert _text(_without_fields(schema)) == _text(_original(tool["inputSchema"], schema))
    advertised = {("edits[]" if a.at else "") for _, a in _advertised(schema)}
    assert advertised | {place for place, _ in refused} == {"", "edits[]"}
    assert not advertised & {place for place, _ in refused}


@settings(max_examples=examples(dev=60, ci=300))
@given(tools())
def test_fields_come_first_and_the_description_names_them(tool: dict[str, Any]) -> None:
    extended, refused = extend(tool, ADVERTS)
    for node, advert in _advertised(extended["inputSchema"]):
        names = [name for name, _, _ in advert.properties]
        needed = [name for name, _, needed in advert.properties if needed]
        assert list(node["properties"])[: len(names)] == names
        assert node["required"][: len(needed)] == needed
        assert all(f"`{name}`" in extended["description"] for name in names)
    assert extended["description"].startswith(tool["description"])
    assert len(refused) < 2 or extended == tool


@settings(max_examples=examples(dev=60, ci=300))
@given(tools(), st.dictionaries(_names, st.sampled_from(["r", 3, None, "x"]), max_size=3))
def test_a_call_that_fits_the_tool_fits_the_extended_tool_and_strips_back(
    tool: dict[str, Any], args: dict[str, Any]
) -> None:
    extended, refused = extend(tool, ADVERTS)
    args = args | {"edits": [{}]}
    said: dict[str, Any] = dict(args)
    if "" not in dict(refused):
        said = {"intent": "i", "ticket": "t"} | said
    if "edits[]" not in dict(refused):
        said["edits"] = [{"intent": "i", "rationale": "r"}]
    if jsonschema.Draft202012Validator(tool["inputSchema"]).is_valid(args):
        jsonschema.Draft202012Validator(extended["inputSchema"]).validate(said)
    assert strip(json.loads(_text(said)), CARRIERS) == strip(json.loads(_text(args)), CARRIERS)
