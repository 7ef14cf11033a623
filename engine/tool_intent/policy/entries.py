"""What one file at one rank says, as flat definitions and requirements with origins."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from yaml import Node

from tool_intent.policy import constraints
from tool_intent.policy.files import PolicyFile
from tool_intent.policy.model import FieldDefinition, FieldUse, Requirement, Unlisted
from tool_intent.policy.positions import Report, members, origin, text_nodes, texts
from tool_intent.policy.sentences import read_condition
from tool_intent.rules.diagnostics import nearest
from tool_intent.rules.environment import Environment
from tool_intent.rules.tree import Condition
from tool_intent.runtime.model import STRENGTH, Effect, Keeping, Origin, Rank


class FileReader:
    """Turns a file's data into the effective policy's parts. Parts of the wrong shape are passed
    over: the published schema has named them, and a policy with errors denies."""

    def __init__(self, file: PolicyFile, rank: Rank, report: Report) -> None:
        self._file = file
        self._rank: Rank = rank
        self._report = report
        self._known = file.fields()
        self._shown = file.shown
        self._policy = file.policy

    def definitions(self) -> Iterator[FieldDefinition]:
        """The definitions under `fields:`."""
        for name, schema, key, node in self._members("fields"):
            if isinstance(schema, dict | bool):
                self._check(schema, node, self._known[name])
                place = origin(key, self._shown, self._rank)
                yield FieldDefinition(
                    name, schema, place, self._origins(schema, node, place), self._policy
                )

    def requirements(self, environments: Callable[[], Environment]) -> Iterator[Requirement]:
        """The entries under `tools:`; `environments` gives what names in conditions mean."""
        for key, value, key_node, node in self._members("tools"):
            if value.__class__ is dict:
                yield self._entry(key, value, node, key_node, environments)
            elif value.__class__ is list:
                for entry, inner in zip(value, node.value, strict=True):
                    if entry.__class__ is dict:
                        yield self._entry(key, entry, inner, inner, environments)

    def unlisted(self) -> Iterator[Unlisted]:
        """What the file says of tools that no key matches: at most one; `allow` is effect off."""
        value = self._file.data.get("unlisted")
        effect = "off" if value == "allow" else value
        if effect is not None and _is_effect(effect):
            node = self._file.document.value(["unlisted"])
            yield Unlisted(effect, origin(node, self._shown, self._rank))

    def max_retries(self) -> Iterator[int]:
        """After how many refusals of one tool the file wants an end: at most one."""
        value = self._file.data.get("max_retries")
        if value.__class__ is int and value > 0:
            yield value

    def keeping(self) -> Keeping:
        """What the file asks of the record of calls."""
        ledger = self._file.data.get("ledger")
        audit = self._file.data.get("audit")
        ledger = ledger if isinstance(ledger, dict) else {}
        keep = ledger.get("keep")
        return Keeping(
            isinstance(audit, dict) and audit.get("required") is True,
            ledger.get("durability") == "full",
            tuple(texts(keep)) if keep is not None else (),
        )

    def targets(self) -> Iterator[tuple[str, Node]]:
        """Every name, glob and group that the file's entries apply to or except."""
        for key, value, key_node, node in self._members("tools"):
            yield key, key_node
            entries = zip(value, node.value, strict=True) if isinstance(value, list) else ()
            for entry, inner in [(value, node), *entries]:
                if entry.__class__ is dict and "except" in entry:
                    for word, excepted, _, place in members(entry, inner):
                        if word == "except":
                            yield from text_nodes(excepted, place)

    def groups(self) -> Iterator[tuple[str, list[tuple[str, Node]]]]:
        """The groups the file declares, each with its members."""
        for name, value, _, node in self._members("groups"):
            yield name, text_nodes(value, node)

    def _members(self, section: str) -> Iterator[tuple[str, Any, Node, Node]]:
        value = self._file.data.get(section)
        if isinstance(value, dict):
            yield from members(value, self._file.document.value([section]))

    def _entry(
        self,
        key: str,
        entry: dict[str, Any],
        node: Node,
        at: Node,
        environments: Callable[[], Environment],
    ) -> Requirement:
        uses: list[FieldUse] = []
        when: Condition | None = None
        for word, value, _, inner in members(entry, node):
            if word == "require":
                uses += self._uses(value, inner, True)
            elif word == "optional":
                uses += self._uses(value, inner, False)
            elif word == "when" and value and isinstance(value, str):
                when = read_condition(
                    value, self._file.document, inner, key, environments(), self._report
                )
        if "optional" in entry and "require" in entry:
            self._contradictions(entry, node)
        effect = entry.get("effect", "deny")
        return Requirement(
            key,
            _steps(entry["at"]) if isinstance(entry.get("at"), str) else (),
            tuple(uses),
            tuple(texts(entry["except"])) if "except" in entry else (),
            effect if _is_effect(effect) else "deny",
            origin(at, self._shown, self._rank),
            self._policy,
            when,
        )

    def _uses(self, value: Any, node: Node, required: bool) -> Iterator[FieldUse]:
        known, file, rank = self._known, self._shown, self._rank
        if value.__class__ is dict:
            for name, schema, key, inner in members(value, node):
                if name not in known:
                    self._unknown_field(name, key)
                elif isinstance(schema, dict | bool):
                    self._check(schema, inner, known[name])
                    place = origin(key, file, rank)
                    yield FieldUse(
                        name, required, schema, place, self._origins(schema, inner, place)
                    )
            return
        for name, inner in text_nodes(value, node):
            if name not in known:
                self._unknown_field(name, inner)
                continue
            mark = inner.start_mark
            place = Origin(file, mark.line + 1, mark.column + 1, rank)
            yield FieldUse(name, required, {}, place, {"": place})

    def _contradictions(self, entry: dict[str, Any], node: Node) -> None:
        required = entry["require"]
        required = list(required) if isinstance(required, dict) else texts(required)
        for word, value, _, inner in members(entry, node):
            if word == "optional":
                for name, key in _named(value, inner):
                    if name in required:
                        self._error(
                            "policy/contradiction", key,
                            f"`{name}` is required and optional in one entry", "name it once",
                        )  # fmt: skip

    def _unknown_field(self, name: str, node: Node) -> None:
        if not name:  # empty, which the published schema says
            return
        near = nearest(name, self._known)
        mend = f"did you mean `{near}`?" if near else f"define it: fields: {{{name}: {{}}}}"
        self._error("policy/unknown-field", node, f"no field is called `{name}`", mend)

    def _check(self, schema: Any, node: Node, types: frozenset[str]) -> None:
        for fault in constraints.faults(schema, types):
            key, value = node, node
            for step in fault.path:
                if isinstance(step, int):
                    key = value = value.value[step]
                else:
                    key, value = next(pair for pair in value.value if pair[0].value == step)
            span = self._file.document.span(key if fault.at_key else value)
            say = self._report.error if fault.severity == "error" else self._report.warning
            say(fault.code, self._shown, span, fault.message, fault.help)

    def _origins(self, schema: Any, node: Node, place: Origin) -> dict[str, Origin]:
        places = {"": place}
        if schema.__class__ is dict and schema:
            self._add_origins(schema, node, "", places)
        return places

    def _add_origins(self, value: Any, node: Node, at: str, places: dict[str, Origin]) -> None:
        if value.__class__ is dict:
            for key, inner, key_node, inner_node in members(value, node):
                pointer = f"{at}/{key.replace('~', '~0').replace('/', '~1')}"
                places[pointer] = origin(key_node, self._shown, self._rank)
                self._add_origins(inner, inner_node, pointer, places)
        elif value.__class__ is list:
            for index, (inner, inner_node) in enumerate(zip(value, node.value, strict=True)):
                places[f"{at}/{index}"] = origin(inner_node, self._shown, self._rank)
                self._add_origins(inner, inner_node, f"{at}/{index}", places)

    def _error(self, code: str, node: Node, message: str, mend: str) -> None:
        span = self._file.document.span(node)
        self._report.error(code, self._shown, span, message, mend)


@functools.lru_cache(maxsize=256)
def _steps(at: str) -> tuple[str, ...]:
    """`steps[].actions[]` as ("steps", "[]", "actions", "[]")."""
    steps: list[str] = []
    for part in at.split("."):
        name = part.rstrip("[]")
        steps += [name] + ["[]"] * part[len(name) :].count("[]")
    return tuple(steps)


def _is_effect(value: Any) -> TypeGuard[Effect]:
    return isinstance(value, str) and value in STRENGTH


def _named(value: Any, node: Node) -> list[tuple[str, Node]]:
    if isinstance(value, dict):
        return [(name, key) for name, _, key, _ in members(value, node)]
    return text_nodes(value, node)
