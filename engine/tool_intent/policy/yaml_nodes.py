"""One YAML document as JSON data with positions: JSON types only, nothing guessed, all slips named.

YAML 1.1 turns `off`, `0755`, `22:22` and dates into other things than their text. Here a plain
scalar is `true`, `false`, a JSON number whose spelling loses nothing, or text.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode

from tool_intent.policy.collecting import no_collections
from tool_intent.policy.encoding import decode, reads_alike
from tool_intent.policy.positions import START, Document, Report, is_plain
from tool_intent.policy.yaml_errors import syntax_error

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]

#: How many nodes aliases may add to what the file itself holds.
ALIAS_BUDGET: Final = 10_000
#: How deep a document may nest: three times what the deepest sensible policy needs.
DEPTH: Final = 32
#: Longest spelling of a number, as in calls.
NUMBER_LENGTH: Final = 400

_UNTAGGED: Final = ""
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.(?:0|[0-9]*[1-9]))?([eE][+-]?[0-9]+)?")
_ANY_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
#: First characters of plain scalars that may be anything but text.
_SPECIAL: Final = frozenset("-0123456789tfn~")
_WORDS: Final = {"true": True, "false": False}
_NULLS: Final = frozenset(("", "~", "null"))
#: Members whose plain text a comment, or a folded style, would change in silence.
_FREE_TEXT: Final = frozenset(("when", "pattern", "description", "fix"))
_FOLDABLE: Final = frozenset(("when", "rules"))
#: Members that can be nothing but numbers: there `1.10` is one, and its zero says nothing.
_NUMERIC: Final = frozenset(
    ("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
     "multipleOf")
)  # fmt: skip
_WATCHED: Final = _FREE_TEXT | _FOLDABLE
#: Mappings whose members may say nothing, as `{}`.
_OPEN: Final = frozenset(("require", "optional", "fields"))


class _Loader(_BaseLoader):
    """Composes nodes; leaves the type of what has no tag to this module."""

    def resolve(self, *_: Any) -> str:
        return _UNTAGGED


def parse(data: bytes, file: str, report: Report, *, nulls: bool = False) -> Document:
    """The document in `data`, known to people as `file`. What is wrong with it goes to `report`.

    `nulls` lets a plain `null` stand for JSON's: tool schemas hold them, policies do not.
    """
    text = decode(data, file, "yaml", report)
    if text is None:
        return Document(file, "", None, None)
    if not reads_alike(text, file, "yaml", report):
        return Document(file, text, None, None)
    root = _compose(text, file, report)
    document = Document(file, text, root, None)
    if root is None:
        return document
    if "&" in text and not _aliases_fit(document, root, report):
        document.root = None
        return document
    document.data = _Converter(document, report, nulls).value(root, 0)
    return document


@no_collections()
def _compose(text: str, file: str, report: Report) -> Node | None:
    """The node tree of the first document; a second one is an error."""
    try:
        loader = _Loader(text)
        try:
            root: Node | None = loader.get_node() if loader.check_node() else None
            again = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        report.extend([syntax_error(error, text, file)])
        return None
    except RecursionError:
        report.error("yaml/depth", file, START, "the file nests too deep to read", "flatten it")
        return None
    if again is not None:
        span = Document(file, text, None, None).span(again)
        report.error(
            "yaml/documents", file, span, "a second document starts here: one file, one policy",
            "remove the `---`, or move this part to a file of its own",
        )  # fmt: skip
    if root is None:
        report.error("yaml/empty", file, START, "the file is empty", "start it with `version: 1`")
    return root


def _aliases_fit(document: Document, root: Node, report: Report) -> bool:
    """Whether aliases neither go round nor multiply the file past the budget."""
    sizes: dict[int, int] = {}
    above: set[int] = set()
    added = 0

    def size(node: Node, depth: int) -> int:
        nonlocal added
        mark = id(node)
        if mark in above or depth > DEPTH:
            raise _BadAlias(node, mark in above)
        if mark in sizes:
            added += sizes[mark]
            if added > ALIAS_BUDGET:
                raise _BadAlias(node, False)
            return sizes[mark]
        above.add(mark)
        total = 1
        if isinstance(node, SequenceNode):
            total += sum(size(child, depth + 1) for child in node.value)
        elif isinstance(node, MappingNode):
            total += sum(size(k, depth + 1) + size(v, depth + 1) for k, v in node.value)
        above.discard(mark)
        sizes[mark] = total
        return total

    try:
        size(root, 0)
    except _BadAlias as bad:
        if bad.circular:
            message = "an alias stands inside the value that it repeats"
        else:
            message = f"aliases multiply the file: they add over {ALIAS_BUDGET:,} values"
        span = document.span(bad.node)
        report.error("yaml/alias", document.file, span, message, "write the values out")
        return False
    return True


class _BadAlias(Exception):
    def __init__(self, node: Node, circular: bool) -> None:
        super().__init__()
        self.node = node
        self.circular = circular


class _Converter:
    """Nodes to JSON data. What is refused leaves None, or nothing, in its place."""

    def __init__(self, document: Document, report: Report, nulls: bool) -> None:
        self._document = document
        self._report = report
        self._nulls = nulls

    def value(self, node: Node, depth: int, under: str = "") -> Any:
        if depth > DEPTH:
            self._error("depth", node, f"values nest more than {DEPTH} deep here", "flatten them")
            return None
        if node.tag and node.tag != "!":
            self._error(
                "tag", node, f"`{_tag(node.tag)}` is a tag: values are JSON's and need none",
                "remove it",
            )  # fmt: skip
        if node.__class__ is ScalarNode:
            return node.value if node.style else self._plain(node, under)
        if node.__class__ is SequenceNode:
            return [self.value(child, depth + 1) for child in node.value]
        return self._mapping(node, depth, under)

    def _plain(self, node: Node, under: str) -> Any:
        text: str = node.value
        if text and text[0] not in _SPECIAL:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text in _NULLS:
            if not self._nulls:
                self._null(node, text)
            return None
        number = (_ANY_NUMBER if under in _NUMERIC else _NUMBER).fullmatch(text)
        return text if number is None else self._number(node, text, number)

    def _number(self, node: Node, text: str, match: re.Match[str]) -> Any:
        value: int | float | None = None
        if len(text) <= NUMBER_LENGTH:
            value = int(text) if match.lastindex is None else float(text)
        if value is None or value in (float("inf"), float("-inf")):
            self._error("number", node, "this number is outside the range of numbers", "quote it")
            return None
        return value

    def _null(self, node: Node, text: str) -> None:
        if text:
            message = f"`{text}` is null, and null is no value here"
        else:
            message = "there is no value here"
        self._error("null", node, message, "write a value, or remove the line")

    def _mapping(self, node: Node, depth: int, under: str) -> dict[str, Any]:
        out: dict[str, Any] = {}
        kept: list[tuple[Node, Node]] = []
        for pair in node.value:
            key_node, value_node = pair
            key = self._key(key_node)
            if key is None:
                continue
            if key in out:
                self._duplicate(kept, key_node, key)
                continue
            kept.append(pair)
            if not (value_node.value or self._nulls) and is_plain(value_node):
                self._no_value(key_node, key, under)
                out[key] = None
                continue
            if key in _WATCHED and self._spoilt(node, key, value_node):
                out[key] = None
                if _is_split(node, key, value_node):
                    break  # the rest of the mapping is part of the condition
                continue
            out[key] = self.value(value_node, depth + 1, key)
        node.value = kept  # node and data keep one shape
        return out

    def _key(self, node: Node) -> str | None:
        if node.__class__ is not ScalarNode:
            self._error("key", node, "a key is a text, not a list or mapping", "quote it")
            return None
        text: str = node.value
        if node.tag and node.tag != "!":
            self._error("tag", node, f"`{_tag(node.tag)}` is a tag: keys are text", "remove it")
        if node.style or (text and text[0] not in _SPECIAL and text != "<<"):
            return text
        if text == "<<":
            self._error(
                "merge-key", node, "`<<` merges mappings: what applies would not be seen here",
                "write the keys out",
            )  # fmt: skip
            return None
        if text in _WORDS or text in _NULLS or _NUMBER.fullmatch(text):
            shown = f"`{text}` is no text" if text else "an empty key is no text"
            self._error("key", node, f"{shown}: a key is a text", f'quote it: "{text}"')
            return None
        return text

    def _duplicate(self, kept: list[tuple[Node, Node]], key_node: Node, key: str) -> None:
        first = next(k for k, _ in kept if k.value == key)
        message = f"`{key}` is already given on line {first.start_mark.line + 1}"
        self._error("duplicate-key", key_node, message, "write a list under one key")

    def _no_value(self, node: Node, key: str, under: str) -> None:
        mend = f"write `{key}: {{}}`" if under in _OPEN else "write a value, or remove the line"
        self._error("null", node, f"`{key}` has no value", mend)

    def _spoilt(self, mapping: Node, key: str, node: Node) -> bool:
        """Complain of text that YAML changed; whether it is a sentence, of which a part would say
        something else than the whole."""
        if node.__class__ is not ScalarNode:
            return False
        if node.style == ">" and key in _FOLDABLE:
            self._error(
                "folded", node, f"`>` folds the lines of `{key}` into one",
                f"write `{key}: |`, which keeps them",
            )  # fmt: skip
            return True
        if node.style or key not in _FREE_TEXT:
            return False
        end = node.end_mark
        rest = self._document.lines[end.line][end.column :].lstrip(" \t")
        spoilt = rest.startswith("#")
        if spoilt:
            self._error(
                "comment", node,
                f"YAML reads ` #` as a comment: only `{node.value}` was kept",
                f"put the {'condition' if key == 'when' else key} in single quotes",
            )  # fmt: skip
        if _is_split(mapping, key, node):
            self._error(
                "split", node, "YAML split the condition at its comma",
                "put `when:` on its own line",
            )  # fmt: skip
            spoilt = True
        return spoilt and key in _FOLDABLE

    def _error(self, code: str, node: Node, message: str, mend: str) -> None:
        span = self._document.span(node)
        self._report.error(f"yaml/{code}", self._document.file, span, message, mend)


def _is_split(mapping: Any, key: str, node: Node) -> bool:
    """Whether a condition inside { } goes on behind a comma."""
    if key != "when" or not mapping.flow_style or not is_plain(node):
        return False
    return bool(node.value.count("(") > node.value.count(")"))


def _tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")
