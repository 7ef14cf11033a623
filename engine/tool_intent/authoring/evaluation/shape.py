"""Rows and headers held against the published JSON Schema, and what fails told in words."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator
from typing import Any, Final, Literal

from jsonschema import Draft202012Validator, ValidationError

from tool_intent.authoring.evaluation.lines import Faults, Line
from tool_intent.policy import sources
from tool_intent.rules.diagnostics import nearest

#: What JSON Schema calls types, in words.
_TYPES: Final = {
    "string": "a text", "object": "an object", "array": "a list", "number": "a number",
    "integer": "a whole number", "boolean": "true or false", "null": "null",
}  # fmt: skip
_CALLED: Final = {"label": "unlabelled", "id": "no-id"}


def unshaped(line: Line, kind: Literal["header", "row"], faults: Faults) -> bool:
    """Whether a line is no header or row; what is wrong with it joins the faults."""
    before = len(faults.found)
    for key, near in _misspelt(line, kind):
        faults.add(
            line, "unknown-key", f"a {kind} has no key `{key}`", f"did you mean `{near}`?", near=key
        )
    failures = sorted(_validator(kind).iter_errors(line.value), key=lambda f: f.json_path)
    for failure in failures:
        _tell(failure, line, faults)
    return len(faults.found) > before


def _tell(failure: ValidationError, line: Line, faults: Faults) -> None:
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in failure.absolute_path)
    path = path.removeprefix(".")
    name = f"`{path}`"
    last = next((p for p in reversed(failure.absolute_path) if isinstance(p, str)), "")
    value: Any = failure.instance
    demand: Any = failure.validator_value
    match failure.validator:
        case "required":
            key = next(k for k in demand if k not in value)
            where = f" in {name}" if path else ""
            code = _CALLED.get(key, "no-" + key)
            faults.add(line, code, f"`{key}` is missing{where}", _mend(key), near=last)
        case "enum" | "const":
            known = list(map(str, [demand] if failure.validator == "const" else demand))
            near = nearest(str(value), known) if isinstance(value, str) else None
            mend = f"did you mean `{near}`?" if near else f"write {_either(known)}"
            code = "unlabelled" if last == "label" else "value"
            is_key = "propertyNames" in failure.absolute_schema_path
            said = f"`{value}` is no tier of {name}" if is_key else f"{name} is {_shown(value)}"
            faults.add(line, code, said, mend, near=value if isinstance(value, str) else last)
        case "type":
            wanted = [_TYPES[one] for one in ([demand] if isinstance(demand, str) else demand)]
            mend = f"write {_either(wanted)}"
            faults.add(line, "type", f"{name} is {_shown(value)}", mend, near=last)
        case "additionalProperties":
            _tell_keys(failure, name if path else "a header", line, faults)
        case "minLength" | "minItems":
            faults.add(line, "empty-value", f"{name} is empty", "write it, or remove it", near=last)
        case "minimum" | "maximum":
            faults.add(
                line, "value", f"{name} is {_shown(value)}", "write a share from 0 to 1", near=last
            )
        case _:
            faults.add(line, "value", f"{name}: {failure.message}", "see the schema", near=last)


def _tell_keys(failure: ValidationError, where: str, line: Line, faults: Faults) -> None:
    schema: Any = failure.schema
    given: Any = failure.instance
    known = list(schema["properties"])
    for key in (k for k in given if k not in known):
        near = nearest(key, known)
        if near and where == "a header":
            continue  # `_misspelt` says it
        mend = f"did you mean `{near}`?" if near else f"known are {', '.join(known)}"
        faults.add(line, "unknown-key", f"{where} has no key `{key}`", mend, near=key)


def _misspelt(line: Line, kind: str) -> Iterator[tuple[str, str]]:
    """Unknown keys that are near to a known one which is not there: of a row other keys are free,
    and what is meant by them is not to be passed over."""
    known = _schema()["$defs"][kind]["properties"]
    for key in line.value:
        if key not in known:
            near = nearest(key, known)
            if near and near not in line.value:
                yield key, near


def _mend(key: str) -> str:
    if key == "label":
        return "say what should come of the call: good, bad (or fluff) or borderline"
    return f"add `{key}`"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:39]}…"


@functools.cache
def _schema() -> dict[str, Any]:
    path = os.path.join(sources.shipped(), "schema", "corpus.schema.json")
    with open(path, encoding="utf-8") as file:
        schema: dict[str, Any] = json.load(file)
    return schema


@functools.cache
def _validator(kind: str) -> Draft202012Validator:
    schema = {k: v for k, v in _schema().items() if k != "oneOf"}
    return Draft202012Validator({**schema, "$ref": f"#/$defs/{kind}"})
