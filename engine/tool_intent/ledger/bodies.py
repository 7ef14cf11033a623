"""The bodies of decisions and outcomes. Credentials are left out here, once and for all readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

from tool_intent.ledger.encoding import encode
from tool_intent.ledger.recorder import Changed, Image, Told
from tool_intent.ledger.records import LONGEST_TEXT, Record, kept_value
from tool_intent.ledger.touching import actions, kept_arguments
from tool_intent.runtime.decision import bare
from tool_intent.runtime.decision import said as said_by
from tool_intent.runtime.pointer import escape
from tool_intent.runtime.secrets import redacted
from tool_intent.runtime.wire import dump

#: Findings of one call that are recorded; more say nothing new.
_MOST_RULES: Final = 256


class Redactor:
    """Leaves credentials out of texts, and notes where."""

    def __init__(self) -> None:
        self.notes: list[Record] = []

    def value(self, at: str, value: Any) -> Any:
        """A value as a record keeps it; `at` is its JSON Pointer in the arguments."""
        if not isinstance(value, str):
            value = kept_value(value)
        if not isinstance(value, str):
            return value
        # A credential must not be cut in two, and so become one that is not known.
        text, kinds = redacted(value[: LONGEST_TEXT + 4_096])
        self.notes += [{"at": at, "kind": kind} for kind in dict.fromkeys(kinds)]
        return text[:LONGEST_TEXT]


def decision_body(
    told: Told,
    session: Mapping[str, Any],
    actor: Mapping[str, Any],
    surface: str,
    server: str | None,
    files: Iterable[Image],
    mended: str | None,
    start: str | None = None,
) -> Record:
    """The members of a decision's record, in the order of the format. `start` is where relative
    paths of the call start, if that is not the actor's work tree."""
    redactor = Redactor()
    entries = [_entry(said, redactor) for said in said_by(told.decision)]
    members = {
        "session": session,
        "actor": actor,
        "call": _call(told, surface, server, start),
        "entries": entries,
        "actions": _actions(told),
        "args": _args(told, redactor),
        "decision": _decision(told, mended),
        "files": [{"path": image.path, "pre": image.pre} for image in files],
        "redactions": redactor.notes,
    }
    return {name: value for name, value in members.items() if value}


def outcome_body(of: str, ok: bool, files: Iterable[Changed]) -> Record:
    """The members of an outcome's record."""
    told = [
        {"path": file.path, "pre": file.pre, "post": file.post}
        | ({"entries": list(file.entries)} if file.entries else {})
        for file in files
    ]
    return {"of": of, "ok": ok} | ({"files": told} if told else {})


def executed_digest(told: Told) -> str:
    """What makes two calls the same but for their reasons."""
    return arguments_digest(bare(told.decision), told.omitted)


def _entry(said: Mapping[str, Any], redactor: Redactor) -> Record:
    at = said["at"]
    return {
        name: value if name == "at" else redactor.value(f"{at}/{escape(name)}", value)
        for name, value in said.items()
    }


def _args(told: Told, redactor: Redactor) -> Record:
    executed = bare(told.decision)
    digests = {"original": arguments_digest(told.call.args, told.omitted)}
    if executed is None:
        return digests
    before = len(redactor.notes)
    kept = {
        name: redactor.value(f"/{escape(name)}", value)
        for name, value in kept_arguments(told, executed).items()
    }
    return (
        digests
        | {"executed": arguments_digest(executed, told.omitted)}
        | ({"kept": kept} if kept else {})
        | ({"redacted": True} if len(redactor.notes) > before else {})
    )


def _actions(told: Told) -> list[Record]:
    silent = Redactor()
    return [{k: silent.value("", v) for k, v in action.items()} for action in actions(told)]


def _call(told: Told, surface: str, server: str | None, start: str | None) -> Record:
    members = {
        "id": kept_value(told.call.id),
        "tool": told.call.tool,
        "server": server,
        "surface": surface,
        "parent": told.parent,
        "cwd": start,
    }
    return {name: value for name, value in members.items() if value is not None}


def _decision(told: Told, mended: str | None) -> Record:
    decision = told.decision
    rules: list[Record] = [
        {"id": f.rule, "effect": f.effect, "at": f.at}
        | ({} if f.origin is None else {"origin": str(f.origin)})
        | ({} if f.waived is None else {"waived": f.waived, "was": f.was})
        for f in decision.findings[:_MOST_RULES]
    ]
    said: Record = {"verdict": decision.decision, "rules": rules, "policy": decision.policy}
    if mended is not None:
        said["mended"] = mended
    return {name: value for name, value in said.items() if value}


def arguments_digest(args: Any, omitted: tuple[Any, ...] = ()) -> str:
    """What a record names arguments by; `omitted` describes texts that the host kept to itself."""
    value = {"args": args, "omitted": list(omitted)} if omitted else args
    try:
        text = encode(value)
    except (ValueError, TypeError, RecursionError):
        # Not what JSON can say, or nested without end: the call is denied for it.
        try:
            text = dump(value)
        except (TypeError, RecursionError):
            text = ""
    return f"sha256:{sha256(text.encode('ascii')).hexdigest()}"
