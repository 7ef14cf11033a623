"""The waivers that one file holds, each read and checked by itself.

A waiver only lowers, so one that is wrong counts for nothing and breaks nothing; what is wrong with
it is an error all the same, which `check` shows.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import Any, Final, Literal

from yaml import Node

from tool_intent.policy import dates, schema_errors, sources
from tool_intent.policy.model import Scope, Waiver, is_built_in
from tool_intent.policy.positions import Document, Report, origin, text_nodes, texts
from tool_intent.policy.yaml_nodes import parse
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.globs import GlobError, compile_glob
from tool_intent.runtime.model import Rank

#: Keywords of a field's schema that a finding can be of.
_KEYWORDS: Final = (
    "enum", "const", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "anyOf", "oneOf", "not", "if", "false",
)  # fmt: skip
#: Built-in findings that can be waived. The others say that a call was not understood, or that a
#: policy was not.
WAIVABLE: Final = (
    *(f"fields/{word}" for word in ("missing", "type", "unreadable", "misspelt", *_KEYWORDS)),
    "entries/missing", "entries/type", "tools/unlisted",
)  # fmt: skip
_NEVER: Final = ("args/", "policy/", "engine/")
_COLLISION: Final = "fields/collision"
_KEYS: Final = "waivers"


class WaiversFile:
    """A file that holds nothing but waivers, within the folders `held` if there are any. `source`
    are its bytes; those of a protected branch have no `path`."""

    def __init__(
        self, path: str, shown: str, data: bytes, report: Report, held: tuple[str, ...] = ()
    ) -> None:
        self.path = path
        self.held = held
        self.shown = shown
        self.source = data
        self.digest = sources.fingerprint(data)
        own = Report()
        self.document = parse(data, shown, own)
        report.extend(own.of("error"))
        #: Whether it can be told what stands in it.
        self.sound = self.document.root is not None and not own.of("error")


def waivers(
    document: Document,
    schema: Literal["policy", "waivers"],
    rank: Rank,
    groups: Collection[str],
    now: float,
    report: Report,
) -> Iterator[Waiver]:
    """The sound waivers of a document of this schema, found at a rank that knows `groups`."""
    unsound = schema_errors.check_waivers(document, schema, report)
    data = document.data
    if None in unsound or not isinstance(data, dict) or not isinstance(data.get(_KEYS), list):
        return
    for index, entry in enumerate(data[_KEYS]):
        if index not in unsound:
            waiver = _Entry(document, index, entry, rank, report).waiver(groups, now)
            if waiver is not None:
                yield waiver


class _Entry:
    """One entry, of which the published schema has nothing to say."""

    def __init__(
        self, document: Document, index: int, said: dict[str, Any], rank: Rank, report: Report
    ) -> None:
        self._document = document
        self._index = index
        self._said = said
        self._rank = rank
        self._report = report
        self._sound = True

    def waiver(self, groups: Collection[str], now: float) -> Waiver | None:
        said = self._said
        self._check_rule(said["rule"])
        scope = said.get("scope", {})
        self._check_globs(scope)
        self._check_groups(scope, groups)
        until = self._dates(now)
        if not self._sound or until is None:
            return None
        return Waiver(
            id=said["id"],
            rule=said["rule"],
            effect=said.get("effect", "note"),
            scope=Scope(*(tuple(texts(scope.get(k))) for k in ("paths", "tools", "agents"))),
            owner=said["owner"],
            approved_by=tuple(texts(said.get("approved_by"))),
            ticket=said.get("ticket"),
            reason=said["reason"],
            created=said.get("created"),
            expires=said["expires"],
            until=until,
            max_uses=None if said.get("max_uses") is None else int(said["max_uses"]),
            origin=origin(self._node(), self._document.file, self._rank),
            digest=sha256(json.dumps(said, sort_keys=True).encode()).hexdigest(),
        )

    def _check_rule(self, rule: str) -> None:
        node = self._node("rule")
        if any(c in rule for c in "*?"):
            self._error(
                "over-broad", node, f"a waiver is of one rule, and `{rule}` may be many",
                "write a waiver for each, by the rule's id",
            )  # fmt: skip
        elif rule.startswith(_NEVER) or rule == _COLLISION:
            self._error(
                "rule", node, f"`{rule}` cannot be waived: it is about what is not understood",
                "mend what it says; rules, fields, entries and unlisted tools can be waived",
            )  # fmt: skip
        elif is_built_in(rule) and rule not in WAIVABLE:
            near = nearest(rule, WAIVABLE)
            self._error(
                "rule", node, f"no finding is called `{rule}`",
                f"did you mean `{near}`?" if near else "findings: " + ", ".join(WAIVABLE),
            )  # fmt: skip

    def _check_globs(self, scope: dict[str, Any]) -> None:
        for text, node in text_nodes(scope.get("paths"), self._node("scope", "paths")):
            try:
                compile_glob(text)
            except GlobError as error:
                self._error("scope", node, error.message, error.help)

    def _check_groups(self, scope: dict[str, Any], groups: Collection[str]) -> None:
        for text, node in text_nodes(scope.get("tools"), self._node("scope", "tools")):
            if text.startswith("@") and text not in groups:
                near = nearest(text, groups)
                self._error(
                    "scope", node, f"no group of this or a stronger rank is called `{text}`",
                    f"did you mean `{near}`?" if near else "name the tools",
                )  # fmt: skip

    def _dates(self, now: float) -> float | None:
        """When it is over. One that says it was written later than it is has no age to go by."""
        until = self._date("expires", dates.ends)
        if "created" in self._said:
            created = self._date("created", dates.begins)
            if created is not None and created > now:
                self._error(
                    "created", self._node("created"), f"`{self._said['created']}` is not yet",
                    "write the day on which it was written",
                )  # fmt: skip
            elif created is not None and until is not None and created >= until:
                self._error(
                    "created", self._node("expires"),
                    f"it expires before it was created (`{self._said['created']}`)",
                    "exchange the dates, or mend one",
                )  # fmt: skip
        return until

    def _date(self, key: str, meaning: Any) -> float | None:
        try:
            found: float = meaning(self._said[key])
        except ValueError as error:
            self._error("date", self._node(key), str(error), dates.HOW_TO_WRITE)
            return None
        return found

    def _node(self, *keys: str) -> Node:
        return self._document.value([_KEYS, self._index, *keys])

    def _error(self, code: str, node: Node, message: str, mend: str) -> None:
        self._sound = False
        span = self._document.span(node)
        self._report.error(f"waivers/{code}", self._document.file, span, message, mend)
