"""The same work by other libraries. Each tells every fault where its interface can.

None knows the product's meaning of text: they take a text with a visible character for present.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from jsonschema import Draft202012Validator
from workloads import APPROVED, PROTECTS, RESTATES, SAYS_NOTHING, SECRET

Args = dict[str, Any]
Check = Callable[[Args], object]

_TEXT = {"type": "string", "pattern": r"\S"}
_FIELDS = {
    "type": "object",
    "required": ["intent", "rationale"],
    "properties": {"intent": _TEXT, "rationale": _TEXT},
}
_EDIT = {
    "type": "object",
    "required": ["edits"],
    "properties": {"edits": {"type": "array", "minItems": 1, "items": _FIELDS}},
}

_BELAY = """\
version: 1
name: bench
default: allow
rules:
  - {id: no-intent, action: deny, message: intent is required,
     match: {tool: write, args: {intent: {exists: false}}}}
  - {id: blank-intent, action: deny, message: intent must be text,
     match: {tool: write, args: {intent: {not: {regex: '\\S'}}}}}
  - {id: no-rationale, action: deny, message: rationale is required,
     match: {tool: write, args: {rationale: {exists: false}}}}
  - {id: blank-rationale, action: deny, message: rationale must be text,
     match: {tool: write, args: {rationale: {not: {regex: '\\S'}}}}}
"""


#: W3 as far as it can be said: a schema cannot compare the rationale to the intent.
_W3 = {
    "type": "object",
    "required": ["intent", "rationale"],
    "properties": {
        "intent": {
            **_TEXT,
            "allOf": [
                {"pattern": r"^\s*\S+\s+\S+\s+\S"},
                {"not": {"pattern": f"(?i){RESTATES}"}},
            ],
        },
        "rationale": {**_TEXT, "allOf": [{"not": {"pattern": f"(?i){p}"}} for p in SAYS_NOTHING]},
        "content": {"not": {"pattern": SECRET}},
    },
    "if": {"properties": {"path": {"pattern": f"^{PROTECTS}"}}, "required": ["path"]},
    "then": {"properties": {"rationale": {"pattern": f"(?i){APPROVED}"}}},
}
_SCHEMAS = {"write": _FIELDS, "edit": _EDIT, "w3": _W3}


def jsonschema(work: str) -> Check:
    """`iter_errors` of a validator made beforehand: (path, message) of each, None if there is
    none."""
    validator = Draft202012Validator(_SCHEMAS[work])

    def check(args: Args) -> object:
        return [(error.json_path, error.message) for error in validator.iter_errors(args)] or None

    return check


def pydantic(tool: str) -> Check:
    """A model of the arguments: its errors, None if there is none."""
    from pydantic import BaseModel, Field, StringConstraints, ValidationError

    text = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]

    class Fields(BaseModel):
        intent: text  # type: ignore[valid-type]
        rationale: text  # type: ignore[valid-type]

    class Edit(BaseModel):
        edits: Annotated[list[Fields], Field(min_length=1)]

    validate = (Fields if tool == "write" else Edit).model_validate

    def check(args: Args) -> object:
        try:
            validate(args)
        except ValidationError as error:
            return error.errors(include_url=False)
        return None

    return check


def _belay_w3() -> str:
    """W3 as far as it can be said: no rule can compare the rationale to the intent."""
    matches = [
        {"intent": {"not": {"regex": r"^\s*\S+\s+\S+\s+\S"}}},
        {"intent": {"regex": f"(?i){RESTATES}"}},
        *({"rationale": {"regex": f"(?i){pattern}"}} for pattern in SAYS_NOTHING),
        {
            "path": {"regex": f"^{PROTECTS}"},
            "rationale": {"not": {"regex": f"(?i){APPROVED}"}},
        },
        {"content": {"regex": SECRET}},
    ]
    rules = [
        {"id": f"w3-{n}", "action": "deny", "message": "no", "match": {"tool": "write", "args": m}}
        for n, m in enumerate(matches)
    ]
    return _BELAY + "".join(f"  - {json.dumps(rule)}\n" for rule in rules)


def agentbelay(work: str) -> Check:
    """A guard with one rule for each way that a call of `write` can fail; None where it allows."""
    from agentbelay import Guard, Policy

    guard = Guard(Policy.from_yaml(_BELAY if work == "write" else _belay_w3()))

    def check(args: Args) -> object:
        decision = guard.check("write", args)
        return None if decision.allowed else decision.hits

    return check
