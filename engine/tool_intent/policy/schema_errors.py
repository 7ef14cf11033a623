"""Files held against their published JSON Schema; what fails, in the words of the format.

The `title` in the schema names the kind of thing that failed: it selects the words here.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry, Resource
from yaml import Node

from tool_intent.policy import sources
from tool_intent.policy.expected import WANTED, WRITTEN
from tool_intent.policy.positions import Document, Path, Report, is_plain
from tool_intent.rules.diagnostics import nearest

#: What people write for a key of an entry where no spelling is near.
_MEANT: Final = {
    "fields": "require", "required": "require", "needs": "require", "must": "require",
    "exclude": "except", "unless": "except", "ignore": "except",
    "level": "effect", "severity": "effect", "action": "effect",
    "path": "at", "where": "at", "each": "at",
}  # fmt: skip
#: The key, and the schema, of what does not break a policy.
WAIVERS: Final = "waivers"
#: Schemas that a schema refers to.
_REFERRED_TO: Final = {"policy": (WAIVERS,)}
#: Numbers to people that are no JSON numbers, or whose spelling a number would lose.
_NUMERAL = re.compile(r"[-+]?[0-9_]*\.?[0-9_]+|0[xob][0-9a-fA-F_]+")


class _Fault(NamedTuple):
    code: str
    node: Node
    message: str
    help: str


class _Failure(NamedTuple):
    """A keyword of the schema that a value at `path` does not meet; `demand` is its value."""

    keyword: str
    path: Path
    instance: Any
    schema: dict[str, Any]
    demand: Any

    @property
    def title(self) -> str:
        return str(self.schema.get("title", ""))


_Teller: TypeAlias = Callable[[Document, _Failure], Iterator[_Fault]]


@functools.cache
def validator(name: str) -> Draft202012Validator:
    """The validator of `policies/schema/NAME.schema.json`."""
    others = [_published(other) for other in _REFERRED_TO.get(name, ())]
    registry = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema)) for schema in others
    )
    return Draft202012Validator(_published(name), registry=registry)


def _published(name: str) -> dict[str, Any]:
    path = os.path.join(sources.shipped(), "schema", f"{name}.schema.json")
    with open(path, encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
        return found


def check(document: Document, name: str, report: Report) -> None:
    """Report everything in which a document differs from the schema called `name`, but for what is
    wrong with the waivers of a policy, which does not break it: see `check_waivers`."""
    for error in validator(name).iter_errors(document.data):
        if name != "policy" or list(error.absolute_path)[:1] != [WAIVERS]:
            _tell(document, error, report)


def check_waivers(document: Document, name: str, report: Report) -> frozenset[int | None]:
    """As `check`, of the waivers in a document. Gives the indices of those that are wrong; None
    among them says that none can be made out."""
    unsound: set[int | None] = set()
    for error in validator(name).iter_errors(document.data):
        path = list(error.absolute_path)
        if name == WAIVERS or path[:1] == [WAIVERS]:
            index = path[1] if len(path) > 1 else None
            unsound.add(index if isinstance(index, int) else None)
            _tell(document, error, report)
    return frozenset(unsound)


def _tell(document: Document, error: ValidationError, report: Report) -> None:
    for fault in _faults(document, error):
        span = document.span(fault.node)
        report.error(fault.code, document.file, span, fault.message, fault.help)


def _faults(document: Document, error: ValidationError) -> Iterator[_Fault]:
    if error.instance is None:  # said already, where the null was read
        return
    schema = error.schema if isinstance(error.schema, dict) else {}
    failure = _Failure(
        str(error.validator),
        list(error.absolute_path),
        error.instance,
        schema,
        error.validator_value,
    )
    if "propertyNames" in error.absolute_schema_path:
        yield _bad_name(document, failure)
        return
    yield from _TELLERS.get(failure.keyword, _other)(document, failure)


def _bad_name(document: Document, error: _Failure) -> _Fault:
    name = str(error.instance)
    node = document.key([*error.path, name])
    if error.title == "field name" and name == "at":
        return _Fault("policy/name", node, "`at` says where a field stands", "choose another name")
    if error.title == "field name":
        return _Fault(
            "policy/name", node, f"`{name}` is no field name",
            "small letters, digits and `_`, a letter first",
        )  # fmt: skip
    if error.title == "group name":
        mend = f'"@{name}":' if re.fullmatch(r"[a-z][a-z0-9_-]*", name) else '"@name":'
        return _Fault("policy/name", node, f"`{name}` is no group name", f"write it as {mend}")
    return _Fault(
        "policy/name", node, f"`{name}` is no tool name",
        "a name, a glob such as mcp__*, or a group such as @write, without spaces around it",
    )  # fmt: skip


def _unknown_keys(document: Document, error: _Failure) -> Iterator[_Fault]:
    known = error.schema.get("properties", {})
    for key in error.instance:
        if key not in known:
            node = document.key([*error.path, key])
            yield _unknown_key(node, key, list(known), error.title)


def _unknown_key(node: Node, key: str, known: list[str], title: str) -> _Fault:
    near = nearest(key, known)
    if title == "constraint":
        help_ = f"did you mean `{near}`?" if near else "constraints: " + ", ".join(known)
        return _Fault("policy/unknown-constraint", node, f"no constraint is called `{key}`", help_)
    if near is None and _MEANT.get(key) in known:
        near = _MEANT[key]
    help_ = f"did you mean `{near}`?" if near else "keys: " + ", ".join(known)
    return _Fault("policy/unknown-key", node, f"`{key}` is not a key of {_one(title)}", help_)


def _one(title: str) -> str:
    return f"an {title}" if title[0] in "aeiou" else f"a {title}"


def _missing(document: Document, error: _Failure) -> Iterator[_Fault]:
    path = error.path
    for key in error.demand:
        if key not in error.instance:
            help_ = "start the file with `version: 1`" if key == "version" else f"add `{key}:`"
            yield _Fault("policy/missing-key", document.key(path), f"`{key}` is missing", help_)


def _neither(document: Document, error: _Failure) -> Iterator[_Fault]:
    """An entry without `require` and `optional`, unless a misspelt key says what it meant."""
    known = error.schema["properties"]
    for key in error.instance:
        if key not in known and (nearest(key, known) or _MEANT.get(key)) in ("require", "optional"):
            return
    yield _Fault(
        "policy/empty-entry", document.key(error.path),
        "this entry neither requires a field nor lets one be optional",
        "add `require: [intent]` or `optional: [intent]`",
    )  # fmt: skip


def _wrong_type(document: Document, error: _Failure) -> Iterator[_Fault]:
    path = error.path
    node = document.value(path)
    found = "a fraction" if isinstance(error.instance, float) else kind(error.instance)
    title = error.title
    if title == "used field" and isinstance(error.instance, dict):
        yield _Fault(
            "policy/type", node, "a list holds names only",
            "to constrain one, write a mapping: " + _as_mapping(document, path),
        )  # fmt: skip
        return
    wanted, mend = WANTED.get(title, ("a mapping", "such as {key: value}"))
    if isinstance(error.instance, str) and _NUMERAL.fullmatch(error.instance):
        mend = f"`{error.instance}` is text: a number would lose a part of its spelling"
        mend = mend if is_plain(node) else "remove the quotes"
    elif isinstance(error.instance, bool | int | float) and "text" in wanted:
        mend = f'put it in quotes: "{node.value}"'
    yield _Fault("policy/type", node, f"{wanted} is expected here, not {found}", mend)


def _as_mapping(document: Document, path: Path) -> str:
    """The list around `path` as the mapping its writer meant: `{intent: {}, rationale: {…}}`."""
    parts: list[str] = []
    for item in document.value(path[:-1]).value:
        if isinstance(item.value, str):
            parts.append(f"{item.value}: {{}}")
            continue
        for pair in item.value:
            if isinstance(pair, tuple):
                mark, end = pair[0].start_mark, pair[1].end_mark
                line = document.lines[mark.line]
                parts.append(line[mark.column : end.column] if end.line == mark.line else "…")
    return "{" + ", ".join(parts) + "}"


def _no_choice(document: Document, error: _Failure) -> Iterator[_Fault]:
    node = document.value(error.path)
    title = error.title
    value = error.instance
    shown = f"`{value}`" if isinstance(value, str | int | float) else kind(value)
    choices = [str(choice) for choice in error.demand]
    if title == "effect" and value == "off":
        yield _Fault(
            "policy/effect", node, "`off` is no effect here",
            f"use `optional` for a field that may be absent; effects: {_listed(choices)}",
        )  # fmt: skip
        return
    near = nearest(value, choices) if isinstance(value, str) else None
    mend = _listed(choices) + (f"; did you mean `{near}`?" if near else "")
    code = "policy/effect" if title == "effect" else "policy/value"
    yield _Fault(code, node, f"{shown} is no {title}", mend)


def _version(document: Document, error: _Failure) -> Iterator[_Fault]:
    yield _Fault(
        "policy/version", document.value(error.path),
        "this release reads version 1 of the format", "write `version: 1`",
    )  # fmt: skip


def _bad_pattern(document: Document, error: _Failure) -> Iterator[_Fault]:
    node = document.value(error.path)
    title = error.title
    if title == "place":
        yield _Fault(
            "policy/place", node, f"`{error.instance}` names no place in the arguments",
            "member names joined by dots, `[]` for each element of a list: steps[].actions[]",
        )  # fmt: skip
    elif title == "reference":
        yield _Fault(
            "policy/ref", node, "a reference leads elsewhere in the same field: it starts with #",
            "define it under `$defs` and write `$ref: '#/$defs/name'`",
        )  # fmt: skip
    elif title == "waiver id":
        yield _Fault(
            "policy/name", node, f"`{error.instance}` is no id of a waiver",
            "letters, digits, `.`, `_` and `-`, at most 64, such as W-17",
        )  # fmt: skip
    elif title == "words":
        yield _Fault("policy/value", node, "this is empty", "say it in words")
    else:
        mend = WRITTEN.get(title, '"@name"')
        yield _Fault("policy/name", node, f"`{error.instance}` is no {title}", mend)


def _out_of_range(document: Document, error: _Failure) -> Iterator[_Fault]:
    node = document.value(error.path)
    least, most = error.schema.get("minimum"), error.schema.get("maximum")
    if least is not None and most is not None:
        words = f"this must be between {least} and {most}"
        yield _Fault("policy/value", node, words, f"write a number from {least} to {most}")
    else:
        yield from _too_little(document, error)


def _too_little(document: Document, error: _Failure) -> Iterator[_Fault]:
    node = document.value(error.path)
    if error.keyword in ("minimum", "exclusiveMinimum"):
        least = error.keyword == "minimum"
        yield _Fault(
            "policy/value", node,
            f"this must be {'at least' if least else 'more than'} {error.demand}",
            f"write {error.demand} or more" if least else "write a number above 0",
        )  # fmt: skip
        return
    yield _Fault("policy/value", node, "this is empty", "name at least one, or remove the key")


def _twice(document: Document, error: _Failure) -> Iterator[_Fault]:
    seen: list[Any] = []
    for index, item in enumerate(error.instance):
        if item in seen:
            node = document.value([*error.path, index])
            yield _Fault("policy/value", node, f"`{item}` is named twice", "remove one")
        seen.append(item)


def _other(document: Document, error: _Failure) -> Iterator[_Fault]:
    node = document.value(error.path)
    yield _Fault(
        "policy/value",
        node,
        f"this does not meet `{error.keyword}` of the published schema",
        "see its description there",
    )


def kind(value: Any) -> str:
    """What a JSON value is, to a person: "text", "a list", …"""
    if isinstance(value, bool):
        return "true" if value else "false"
    names = ((str, "text"), (int | float, "a number"), (list, "a list"), (dict, "a mapping"))
    return next((name for types, name in names if isinstance(value, types)), "null")


def _listed(choices: list[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


_TELLERS: Final[dict[str, _Teller]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing,
    "anyOf": _neither,
    "type": _wrong_type,
    "enum": _no_choice,
    "const": _version,
    "pattern": _bad_pattern,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "exclusiveMinimum": _too_little,
    "minLength": _too_little,
    "minItems": _too_little,
    "minProperties": _too_little,
    "uniqueItems": _twice,
}
