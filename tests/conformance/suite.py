"""The rows of the official JSON Schema suite, and why some of them are not the product's to pass.

A field is one scalar, its text is normalised, and its patterns are RE2: these three differences
are the whole list of reasons to skip a row. Schemas that go beyond the keywords of a field are no
rows: the product must refuse to load them, which is tested too.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema
import re2

FOLDER: Final = Path(__file__).parent / "json-schema-test-suite" / "draft2020-12"

SUBSCHEMAS: Final = frozenset({"not", "if", "then", "else"})
SUBSCHEMA_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf"})
KEYWORDS: Final = (
    SUBSCHEMAS
    | SUBSCHEMA_LISTS
    | {"type", "minLength", "maxLength", "pattern", "enum", "const", "$ref", "$defs"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
ANNOTATIONS: Final = frozenset(
    {"$schema", "$comment", "title", "description", "default", "examples", "format"}
    | {"deprecated", "readOnly", "writeOnly"}
    | {"contentEncoding", "contentMediaType", "contentSchema"}
)
BLANK_FILLERS: Final = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")

Schema = dict[str, Any] | bool


class Row(NamedTuple):
    """One instance of the suite: its file without ending, what it shows, schema and answer."""

    file: str
    shows: str
    schema: Schema
    value: Any
    valid: bool

    @property
    def id(self) -> str:
        return f"{self.file}: {self.shows}"


def rows() -> list[Row]:
    """Every row whose schema keeps to the keywords of a field."""
    return [row for row in _all_rows() if not foreign_keywords(row.schema)]


def foreign_schemas() -> list[Row]:
    """The first row of every schema that goes beyond the keywords of a field."""
    found: dict[str, Row] = {}
    for row in _all_rows():
        if foreign_keywords(row.schema):
            found.setdefault(json.dumps(row.schema), row)
    return list(found.values())


def _all_rows() -> Iterator[Row]:
    for path in sorted(FOLDER.rglob("*.json")):
        file = path.relative_to(FOLDER).with_suffix("").as_posix()
        for group in json.loads(path.read_text(encoding="utf-8")):
            for test in group["tests"]:
                shows = f"{group['description']}: {test['description']}"
                yield Row(file, shows, group["schema"], test["data"], test["valid"])


def subschemas(schema: Schema) -> Iterator[dict[str, Any]]:
    """The schema and all below it that are mappings."""
    if isinstance(schema, bool):
        return
    yield schema
    for key, value in schema.items():
        if key in SUBSCHEMAS:
            yield from subschemas(value)
        elif key in SUBSCHEMA_LISTS:
            for item in value:
                yield from subschemas(item)
        elif key == "$defs":
            for item in value.values():
                yield from subschemas(item)


def foreign_keywords(schema: Schema) -> set[str]:
    """What the schema uses that a field's schema may not, remote references included."""
    foreign: set[str] = set()
    for part in subschemas(schema):
        foreign |= part.keys() - KEYWORDS - ANNOTATIONS
        if not part.get("$ref", "#").startswith("#"):
            foreign.add("$ref")
    return foreign


def reason_to_skip(row: Row) -> str | None:
    """The name of the class that a row belongs to, if the product need not answer as JSON
    Schema does."""
    if no_scalar(row):
        return "fields/type"
    if changed_by_normalising(row):
        return "length of normalised text"
    if pattern_of_another_dialect(row):
        return "RE2 patterns"
    return None


def no_scalar(row: Row) -> bool:
    """The instance is null, an object or an array, or the schema speaks of such."""
    return not _is_scalar(row.value) or any(map(_speaks_of_others, subschemas(row.schema)))


def _speaks_of_others(part: dict[str, Any]) -> bool:
    types = part.get("type", [])
    named = {types} if isinstance(types, str) else set(types)
    values = [*part.get("enum", []), *([part["const"]] if "const" in part else [])]
    return bool(named & {"null", "object", "array"}) or not all(map(_is_scalar, values))


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float)


def changed_by_normalising(row: Row) -> bool:
    """The instance is text that is absent or of another length once it is normalised."""
    text = row.value
    return isinstance(text, str) and (
        not text
        or text != unicodedata.normalize("NFKC", text).strip()
        or all(unicodedata.category(char)[0] in "MZ" for char in text)
        or any(unicodedata.category(char)[0] == "C" or char in BLANK_FILLERS for char in text)
    )


def pattern_of_another_dialect(row: Row) -> bool:
    """A pattern of the schema is none of RE2's, or means one thing to ECMA 262 and another to
    Python, so that the suite and the oracle disagree about it."""
    patterns = [part["pattern"] for part in subschemas(row.schema) if "pattern" in part]
    if not patterns:
        return False
    return not all(map(_compiles, patterns)) or oracle(row.schema, row.value) != row.valid


def _compiles(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return False
    return True


def oracle(schema: Schema, value: object) -> bool:
    """What `jsonschema` says of the value."""
    return jsonschema.Draft202012Validator(schema).is_valid(value)
