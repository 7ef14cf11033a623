"""A tool's argument schema with the fields in it, so that models are told what is asked of them.

Only `properties` and `required` of the places change, and the tool's description; every other
keyword stays as it is. What cannot be extended is reported, and judged all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tool_intent.runtime.pointer import tokens
from tool_intent.runtime.strip import Carrier, Steps

_BRANCHES = ("allOf", "anyOf", "oneOf")
#: Keywords that may stand beside a `$ref` that is replaced by what it names.
_ANNOTATIONS = frozenset({"title", "description", "default", "examples", "deprecated", "$comment"})
_REFERENCES_DEEP = 16


class Advert(NamedTuple):
    """What one kind of place is to advertise: `(key, property schema, required)` each. `own` are
    arguments of the tool itself that are to be required."""

    at: Steps
    properties: tuple[tuple[str, dict[str, Any], bool], ...]
    own: tuple[str, ...] = ()


class Extended(NamedTuple):
    """The extended tool, and `(place, reason)` for what could not be advertised."""

    tool: dict[str, Any]
    not_advertised: tuple[tuple[str, str], ...]


class _Closed(Exception):
    """The schema of a place cannot take fields; the text says why."""


def extend(tool: Mapping[str, Any], adverts: tuple[Advert, ...]) -> Extended:
    """`{"name", "description", "inputSchema"}` with the fields of `adverts`; the input stays as
    it was."""
    extended = dict(tool)
    schema = tool.get("inputSchema")
    refused: list[tuple[str, str]] = []
    said: list[Advert] = []
    for advert in adverts:
        try:
            schema = _extended(_object_schema(schema), schema, advert.at, advert)
            said.append(advert)
        except _Closed as closed:
            refused.append((_place(advert.at), str(closed)))
    if said:
        extended["inputSchema"] = schema
        extended["description"] = _described(str(tool.get("description") or ""), said)
    return Extended(extended, tuple(refused))


def collisions(schema: Any, carriers: tuple[Carrier, ...]) -> list[tuple[Steps, str]]:
    """The fields that the tool's own schema defines at their place: `(place, field)`."""
    found = []
    for carrier in carriers:
        nodes = list(_at(schema, schema, carrier.at))
        found += [
            (carrier.at, name)
            for name in carrier.fields
            if any(_defines(schema, node, name) for node in nodes)
        ]
    return found


def _object_schema(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        raise _Closed("the tool has no object schema")
    return dict(schema)


def _extended(node: dict[str, Any], root: Any, at: Steps, advert: Advert) -> dict[str, Any]:
    """A copy of `node` with the advert worked in at `at`, copying only along the path."""
    node = _followed(node, root)
    if not at:
        return _with_fields(node, root, advert)
    step, rest = at[0], at[1:]
    if step == "[]":
        items = node.get("items")
        if not isinstance(items, Mapping) or "prefixItems" in node:
            raise _Closed("its elements have no schema of their own")
        node["items"] = _extended(dict(items), root, rest, advert)
        return node
    properties = node.get("properties")
    if not isinstance(properties, Mapping) or not isinstance(properties.get(step), Mapping):
        raise _Closed(f"its schema does not define `{step}` as an object or list")
    node["properties"] = {
        k: _extended(dict(v), root, rest, advert) if k == step else v for k, v in properties.items()
    }
    return node


def _with_fields(node: dict[str, Any], root: Any, advert: Advert) -> dict[str, Any]:
    properties = node.get("properties", {})
    required = node.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        raise _Closed("its `properties` or `required` is malformed")
    if node.get("type", "object") != "object":
        raise _Closed("it is no object")
    for name, _, _ in advert.properties:
        if _defines(root, node, name):
            raise _Closed(f"the tool defines `{name}` itself")
        if _forbids(root, node, name):
            raise _Closed(f"another keyword of its schema would refuse `{name}`")
    node["properties"] = {name: dict(p) for name, p, _ in advert.properties} | dict(properties)
    demanded = [name for name, _, needed in advert.properties if needed]
    demanded += [name for name in advert.own if name not in required]
    if demanded:
        node["required"] = demanded + required
    return node


def _defines(root: Any, node: Any, name: str) -> bool:
    return any(
        isinstance(n.get("properties"), Mapping) and name in n["properties"]
        for n in _branches(root, node)
    )


def _forbids(root: Any, node: Mapping[str, Any], name: str) -> bool:
    """Whether some keyword that we leave alone would refuse an added property."""
    for n in _branches(root, node):
        if "maxProperties" in n or "propertyNames" in n:
            return True
        if isinstance(n.get("patternProperties"), Mapping) and any(
            _may_match(pattern, name) for pattern in n["patternProperties"]
        ):
            return True
        closed = n.get("additionalProperties", True) not in (True, {})
        if n is not node and (closed or n.get("unevaluatedProperties", True) not in (True, {})):
            return True
    return False


def _may_match(pattern: str, name: str) -> bool:
    import re

    try:
        return re.search(pattern, name) is not None
    except re.error:
        return True


def _branches(root: Any, node: Any, deep: int = 0) -> Iterator[Mapping[str, Any]]:
    """`node` and every schema that applies to the same value through `$ref` and unions."""
    if not isinstance(node, Mapping) or deep > _REFERENCES_DEEP:
        return
    yield node
    if "$ref" in node:
        yield from _branches(root, _target(node["$ref"], root), deep + 1)
    for keyword in _BRANCHES:
        branches = node.get(keyword)
        if isinstance(branches, list):
            for branch in branches:
                yield from _branches(root, branch, deep + 1)


def _at(root: Any, node: Any, at: Steps) -> Iterator[Mapping[str, Any]]:
    """Every schema that `root` holds for the values at `at`."""
    for n in _branches(root, node):
        if not at:
            yield n
        elif at[0] == "[]":
            yield from _at(root, n.get("items"), at[1:])
        elif isinstance(n.get("properties"), Mapping):
            yield from _at(root, n["properties"].get(at[0]), at[1:])


def _followed(node: dict[str, Any], root: Any) -> dict[str, Any]:
    """`node`, or a copy of what its local `$ref` names, with the annotations beside it."""
    for _ in range(_REFERENCES_DEEP):
        if "$ref" not in node:
            return node
        beside = {k: v for k, v in node.items() if k != "$ref"}
        target = _target(node["$ref"], root)
        if not isinstance(target, Mapping) or not _ANNOTATIONS.issuperset(beside):
            raise _Closed("its `$ref` cannot be followed")
        node = dict(target) | beside
    raise _Closed("its `$ref` goes round in a circle")


def _target(reference: Any, root: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    value = root
    for token in tokens(reference[1:]):
        if isinstance(value, Mapping):
            value = value.get(token)
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            value = value[int(token)]
        else:
            return None
    return value


def _described(description: str, adverts: list[Advert]) -> str:
    lines = [description] if description else []
    for advert in adverts:
        where = f"each element of `{_place(advert.at)}`" if advert.at else "each call"
        for needed, words in ((True, "is required with"), (False, "may be given with")):
            names = [f"`{name}`" for name, _, required in advert.properties if required is needed]
            names += [f"`{name}`" for name in advert.own if needed]
            if names:
                verb = words.replace("is", "are") if len(names) > 1 else words
                lines.append(f"{_joined(names)} {verb} {where}.")
    return "\n".join(lines)


def _joined(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _place(at: Steps) -> str:
    return ".".join(at).replace(".[]", "[]")
