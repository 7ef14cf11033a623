"""Corpora: labelled calls as JSON lines, read with the place of whatever is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tool_intent.authoring.evaluation.lines import Faults, Line, json_lines
from tool_intent.authoring.evaluation.shape import unshaped
from tool_intent.policy.sources import Unreadable, fingerprint, read
from tool_intent.rules.diagnostics import Diagnostic, nearest
from tool_intent.runtime.wire import NotJson, parse

#: Whether something should be found; None for borderline rows, which count nowhere.
_BAD: Final[Mapping[str, bool | None]] = {
    "good": False, "bad": True, "fluff": True, "borderline": None,
}  # fmt: skip
_FIELDS: Final = ("intent", "rationale")
#: What the text of an earlier call stands for, where no catalog knows the tool.
_USUAL: Final = "path"

#: A tool, its arguments or the text that stands for them, and its fields.
Earlier: TypeAlias = tuple[str, dict[str, Any] | str, dict[str, str]]


class CorpusError(Exception):
    """A corpus cannot be used; `diagnostics` say why, all at once."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(f"{d.file}:{d.line}: {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True)
class Header:
    """What a corpus is of. `kinds` maps each kind to its tier, `rules` rules to the kinds they are
    for, `thresholds` tiers to figures that a policy has to reach."""

    name: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """One row: a call and what should be found. `bad` is None for a borderline one; `texts` are
    its intents and rationales, wherever they stand; `earlier` are the calls before it, a text in
    place of arguments standing for the command or path."""

    id: str
    line: int
    tool: str
    args: dict[str, Any]
    bad: bool | None
    kinds: tuple[str, ...]
    lang: str
    notes: tuple[str, ...]
    family: str | None
    earlier: tuple[Earlier, ...]

    @property
    def is_hard(self) -> bool:
        """Whether it is a good call that is easily taken for a bad one."""
        return self.bad is False and any(note.startswith("hard") for note in self.notes)

    @property
    def texts(self) -> tuple[str, ...]:
        """Its intents and rationales, at whatever depth they stand."""
        return tuple(_texts(self.args))


@dataclass(frozen=True, slots=True)
class Corpus:
    """Labelled calls. `file` is its name for people, `digest` the SHA-256 of its bytes."""

    file: str
    header: Header
    items: tuple[Item, ...]
    digest: str

    @property
    def counted(self) -> tuple[Item, ...]:
        """The items that are good or bad."""
        return tuple(item for item in self.items if item.bad is not None)

    @property
    def name(self) -> str:
        """What it calls itself, else its file."""
        return self.header.name or self.file


def read_corpus(path: str) -> Corpus:
    """The corpus in a file, in the format of `policies/schema/corpus.schema.json`.

    Raises CorpusError: a file that cannot be read (at most 16 MiB), lines that are no JSON, rows
    without a label or with kinds that the header does not name, no row at all.
    """
    try:
        data = read(path, "user")
    except Unreadable as error:
        at = Diagnostic(
            "corpus/unreadable", "error", path, 1, 1, 1, 1, f"it cannot be read: {error.reason}",
            "name a file of JSON lines, a labelled call on each",
        )  # fmt: skip
        raise CorpusError((at,)) from None
    faults = Faults(path)
    lines = list(json_lines(data, faults))
    header = _header(lines, faults)
    items = tuple(_items(lines, header, faults))
    if not faults.found and not items:
        faults.add(
            Line(1, "", None), "empty", "the corpus holds no row",
            'write a labelled call a line: {"id": "1", "tool": "bash", "args": {"command": "ls"},'
            ' "intent": "…", "rationale": "…", "label": "good"}',
        )  # fmt: skip
    if faults.found:
        raise CorpusError(faults.sorted())
    return Corpus(path, header, items, fingerprint(data))


def _header(lines: list[Line], faults: Faults) -> Header:
    """The header, taken off the lines, if the first one is one."""
    if not lines or not isinstance(lines[0].value, dict) or "corpus" not in lines[0].value:
        return Header()
    line = lines.pop(0)
    if unshaped(line, "header", faults):
        kinds = line.value.get("kinds")
        return Header(kinds=kinds if isinstance(kinds, dict) else {})
    said = line.value
    kinds = dict(said.get("kinds", {}))
    rules = {rule: tuple(of) for rule, of in said.get("rules", {}).items()}
    for kind in dict.fromkeys(kind for of in rules.values() for kind in of):
        _expect_kind(kind, kinds, line, faults)
    thresholds = {tier: dict(figures) for tier, figures in said.get("thresholds", {}).items()}
    return Header(said["corpus"], kinds, rules, thresholds)


def _items(lines: list[Line], header: Header, faults: Faults) -> Iterator[Item]:
    seen: dict[str, int] = {}
    for line in lines:
        if unshaped(line, "row", faults):
            continue
        item = _item(line, faults)
        if item.id in seen:
            faults.add(
                line, "repeated-id", f"the id `{item.id}` is that of line {seen[item.id]} too",
                "give each row an id of its own", near="id",
            )  # fmt: skip
        seen.setdefault(item.id, line.number)
        for kind in item.kinds if header.kinds else ():
            _expect_kind(kind, header.kinds, line, faults)
        if item.kinds and item.bad is False:
            faults.add(
                line, "kinds-of-good", "a good call has no kinds of what is wrong with it",
                "remove `kinds`, or label it `bad`", near="kinds",
            )  # fmt: skip
        yield item


def _item(line: Line, faults: Faults) -> Item:
    row = line.value
    return Item(
        id=row["id"],
        line=line.number,
        tool=row["tool"],
        args={**row["args"], **_fields(row)},
        bad=_BAD[row["label"]],
        kinds=tuple(row.get("kinds", ())),
        lang=row.get("lang", ""),
        notes=tuple(part.strip() for part in row.get("note", "").split(";") if part.strip()),
        family=row.get("family"),
        earlier=tuple(_earlier(before, line, faults) for before in row.get("history", ())),
    )


def _earlier(row: Mapping[str, Any], line: Line, faults: Faults) -> Earlier:
    args = row["args"]
    if isinstance(args, str) and args.lstrip().startswith("{"):
        # The text of all its arguments, or a command that starts with a brace.
        try:
            read_as = parse(args)
        except NotJson:
            read_as = None
        args = read_as if isinstance(read_as, dict) else args
    if not isinstance(args, dict) and not args:
        faults.add(
            line, "earlier-args", f"an earlier call of `{row['tool']}` has an empty text as `args`",
            "write its command or path, or its arguments as an object", near="history",
        )  # fmt: skip
    return row["tool"], args, _fields(row)


def arguments(earlier: Earlier, roles: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """The arguments of an earlier call, fields among them. A text is the command of a tool that
    has one, else its path; `roles` maps the tool's roles to argument names, as catalogs do."""
    _, args, fields = earlier
    if isinstance(args, str):
        args = {(roles.get("command") or roles.get("path") or (_USUAL,))[0]: args}
    return {**args, **fields}


def _fields(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: row[name] for name in _FIELDS if row.get(name) is not None}


def _expect_kind(kind: str, known: Mapping[str, str], line: Line, faults: Faults) -> None:
    if kind not in known:
        near = nearest(kind, known)
        mend = f"did you mean `{near}`?" if near else f"known are {', '.join(known) or 'none'}"
        faults.add(
            line, "unknown-kind", f"the header names no kind `{kind}`",
            f"{mend}; a new one needs its tier in the header's `kinds`", near=kind,
        )  # fmt: skip


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name in _FIELDS:
            if isinstance(value.get(name), str):
                yield value[name]
        for name, member in value.items():
            if name not in _FIELDS:
                yield from _texts(member)
    elif isinstance(value, list):
        for element in value:
            yield from _texts(element)
