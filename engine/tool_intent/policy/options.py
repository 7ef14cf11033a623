"""What `options:` of policies sets: values for the `option`s of packs and rule files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from yaml import Node

from tool_intent.policy.files import PolicyFile
from tool_intent.policy.permitting import Standings
from tool_intent.policy.positions import Report, members
from tool_intent.rules import tree as t
from tool_intent.rules.diagnostics import nearest
from tool_intent.runtime.model import SENIORITY, Rank

_Ranked = Sequence[tuple[PolicyFile, Rank]]


#: In place of an option: the values are those that the declaring file gives, whatever the files
#: that this one extends set.
RESET: Final = "$reset"
_Instance: TypeAlias = tuple[int, Rank]


class _Setting(NamedTuple):
    value: Any
    file: PolicyFile
    rank: Rank
    key: Node


class Settings:
    """The values of options, by the file that declares them and the rank it is judged at.

    A policy sets options of what it extends, of files at its own rank, and within their bounds
    those of stronger ranks that none as strong has set.
    """

    def __init__(self, ranked: _Ranked, standing: Standings, report: Report) -> None:
        self._ranked = ranked
        self._standing = standing
        self._report = report
        self._set: dict[_Instance, dict[str, list[_Setting]]] = {}
        #: Files whose settings a policy that extends them takes back.
        self._reset: dict[_Instance, set[int]] = {}
        for file, rank in ranked:
            options = file.data.get("options")
            if isinstance(options, dict):
                self._read(file, rank, options)

    def of(self, file: PolicyFile, rank: Rank) -> Mapping[str, Any]:
        """What the options of a file are set to at a rank; those left as declared are not in it."""
        taken_back = self._reset.get((id(file), rank), set())
        values: dict[str, Any] = {}
        for name, said in self._set.get((id(file), rank), {}).items():
            standing = [s for s in said if id(s.file) not in taken_back]
            if standing:
                strongest = min(SENIORITY[s.rank] for s in standing)
                values[name] = self._agreed(
                    name, [s for s in standing if SENIORITY[s.rank] == strongest]
                )
        return values

    def _agreed(self, name: str, said: Sequence[_Setting]) -> Any:
        first = said[0]
        for other in said[1:]:
            if other.value != first.value:
                self._error(
                    other.file, other.key,
                    f"`{name}` is set to {_shown(first.value)} in {first.file.shown} on line "
                    f"{_line(first.key)}",
                    "set it once",
                )  # fmt: skip
        return first.value

    def _read(self, file: PolicyFile, rank: Rank, options: dict[str, Any]) -> None:
        own = [f for f, r in self._ranked if r == rank]
        own = list(dict.fromkeys([*file.closure(), *own]))
        above = [(f, r) for f, r in self._ranked if SENIORITY[r] < SENIORITY[rank]]
        within = [*((f, rank) for f in own), *above]
        for pack, values, key, node in members(options, file.document.value(["options"])):
            if not isinstance(values, dict):
                continue
            named = [(f, r) for f, r in within if pack in (f.policy, f.shown)]
            if not named:
                self._unknown_pack(file, pack, key, [f for f, _ in within])
                continue
            holders = list(dict.fromkeys((h, r) for n, r in named for h in n.closure()))
            for name, value, at, place in members(values, node):
                if name == RESET:
                    self._take_back(file, rank, holders, value, place)
                else:
                    self._one(file, rank, pack, holders, (name, value, at, place))

    def _one(
        self,
        file: PolicyFile,
        rank: Rank,
        pack: str,
        holders: Sequence[tuple[PolicyFile, Rank]],
        setting: tuple[str, Any, Node, Node],
    ) -> None:
        name, value, key, node = setting
        declaring = [(h, r) for h, r in holders if name in _declared(h)]
        if not declaring:
            self._unknown_option(file, pack, name, key, [h for h, _ in holders])
            return
        first = declaring[0][0]
        said = _Setting(value, file, rank, key)
        if self._fits(file, _declared(first)[name], value, node):
            counted = [self._keep(h, r, name, said) for h, r in declaring if h is first]
            if None not in counted:
                self._locked(said, name, next(why for why in counted if why is not None))

    def _keep(self, holder: PolicyFile, rank: Rank, name: str, said: _Setting) -> str | None:
        """Note a setting; or why it does not count at that rank."""
        if said.rank != rank:
            if _declared(holder)[name].low is None:
                return "it has no bounds"
            why = self._standing(holder, rank)
            if why is not None:
                return f"its bounds do not count: {why}"
            why = self._standing.of_others(said.file, said.rank)
            if why is not None:
                return why
        self._set.setdefault((id(holder), rank), {}).setdefault(name, []).append(said)
        return None

    def _locked(self, said: _Setting, name: str, why: str) -> None:
        self._report.warning(
            "policy/not-permitted", said.file.shown, said.file.document.span(said.key),
            f"`{name}` of a stronger rank cannot be set here: {why}",
            "it changes nothing: remove it, or ask whoever keeps the rules",
        )  # fmt: skip

    def _take_back(
        self,
        file: PolicyFile,
        rank: Rank,
        holders: Sequence[tuple[PolicyFile, Rank]],
        value: Any,
        node: Node,
    ) -> None:
        if value is not True:
            self._error(file, node, f"`{RESET}` is true or left out", f"write {RESET}: true")
            return
        extended = {id(f) for f in file.closure()} - {id(file)}
        for holder, at in holders:
            if at == rank:
                self._reset.setdefault((id(holder), rank), set()).update(extended)

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
        case [*items] if all(isinstance(item, str) for item in items):
            return "a list of texts"
        case _:
            return None


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
