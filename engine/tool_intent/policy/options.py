"""What `options:` of policies sets: values for the `option`s of packs and rule files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from yaml import Node

from tool_intent.policy.files import PolicyFile
from tool_intent.policy.positions import Report, members
from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import Rank

_Ranked = Sequence[tuple[PolicyFile, Rank]]


class _Setting(NamedTuple):
    value: Any
    file: PolicyFile
    line: int


class Settings:
    """The values of options, by the file that declares them and the rank it is judged at.

    A policy sets options of what it extends and of files at its own rank.
    """

    def __init__(self, ranked: _Ranked, report: Report) -> None:
        self._report = report
        self._set: dict[tuple[int, Rank], dict[str, _Setting]] = {}
        for file, rank in ranked:
            options = file.data.get("options")
            if isinstance(options, dict):
                peers = [f for f, r in ranked if r == rank]
                self._read(file, rank, options, peers)

    def of(self, file: PolicyFile, rank: Rank) -> Mapping[str, Any]:
        """What the options of a file are set to at a rank; those left as declared are not in it."""
        return {name: s.value for name, s in self._set.get((id(file), rank), {}).items()}

    def _read(
        self, file: PolicyFile, rank: Rank, options: dict[str, Any], peers: list[PolicyFile]
    ) -> None:
        within = list(dict.fromkeys([*file.closure(), *peers]))
        for pack, values, key, node in members(options, file.document.value(["options"])):
            if not isinstance(values, dict):
                continue
            named = [f for f in within if pack in (f.policy, f.shown)]
            if not named:
                self._unknown_pack(file, pack, key, within)
                continue
            holders = [f for n in named for f in n.closure()]
            for name, value, at, place in members(values, node):
                holder = next((f for f in holders if name in _declared(f)), None)
                if holder is None:
                    self._unknown_option(file, pack, name, at, holders)
                elif self._fits(file, _declared(holder)[name], value, place):
                    self._keep(holder, rank, name, _Setting(value, file, _line(at)), at)

    def _keep(self, holder: PolicyFile, rank: Rank, name: str, setting: _Setting, at: Node) -> None:
        kept = self._set.setdefault((id(holder), rank), {})
        before = kept.setdefault(name, setting)
        if before.value != setting.value:
            self._error(
                setting.file, at,
                f"`{name}` is set to {_shown(before.value)} in {before.file.shown} on line "
                f"{before.line}",
                "set it once",
            )  # fmt: skip

    def _fits(self, file: PolicyFile, option: t.Option, value: Any, node: Node) -> bool:
        wanted, found = _kind(option.value), _kind(value)
        if found != wanted and (wanted, found) != ("a number", "a whole number"):
            if found == "a number":
                found = "a fraction"
            if found is not None:  # else the published schema says it
                self._error(
                    file, node, f"`{option.name}` is {wanted}, not {found}",
                    f"such as {_shown(option.value)}, which it is unless set",
                )  # fmt: skip
            return False
        if option.low is None or option.high is None:
            return True
        if option.low.value <= value <= option.high.value:
            return True
        self._error(
            file, node,
            f"`{option.name}` is between {option.low.text} and {option.high.text}, and this is "
            f"{value}",
            f"it is {_shown(option.value)} unless set",
        )  # fmt: skip
        return False

    def _unknown_pack(
        self, file: PolicyFile, pack: str, key: Node, within: list[PolicyFile]
    ) -> None:
        known = [f.policy for f in within if any(_declared(h) for h in f.closure())]
        near = nearest(pack, known)
        mend = "no pack or rule file of this policy has any"
        if near:
            mend = f"did you mean `{near}`?"
        elif known:
            mend = "options are declared in " + ", ".join(dict.fromkeys(known))
        self._error(file, key, f"no pack or rule file of this policy is called `{pack}`", mend)

    def _unknown_option(
        self, file: PolicyFile, pack: str, name: str, key: Node, holders: list[PolicyFile]
    ) -> None:
        known = [option for holder in holders for option in _declared(holder)]
        near = nearest(name, known)
        mend = f"did you mean `{near}`?" if near else ""
        mend = mend or ("it has " + ", ".join(known) if known else "it has none: remove the line")
        self._error(file, key, f"`{pack}` has no option `{name}`", mend)

    def _error(self, file: PolicyFile, node: Node, message: str, mend: str) -> None:
        span = file.document.span(node)
        self._report.error("policy/option", file.shown, span, message, mend)


def _declared(file: PolicyFile) -> dict[str, t.Option]:
    return {option.name: option for option in _options(file)}


def _options(file: PolicyFile) -> Iterator[t.Option]:
    for statement in file.rules.tree.statements if file.rules is not None else ():
        if isinstance(statement, t.Option):
            yield statement


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _kind(value: Any) -> str | None:
    """What a value of an option is, in words; None for what no option is."""
    match value:
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case str():
            return "a text"
        case [*items] if items and all(isinstance(item, str) for item in items):
            return "a list of texts"
        case _:
            return None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
