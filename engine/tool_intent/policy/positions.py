"""A parsed file whose keys and values know their places, and the list of what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from tool_intent.rules.diagnostics import Diagnostic
from tool_intent.runtime.model import Origin, Rank

#: A way into JSON data: member names and list indices.
Path: TypeAlias = Sequence[str | int]


class Span(NamedTuple):
    """A stretch of a file: 1-based lines and columns in code points, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


#: The start of a file, for what is wrong with all of it.
START = Span(1, 1, 1, 1)
_LONGEST_MESSAGE = 500


def split_lines(text: str) -> list[str]:
    """The lines of a text as editors count them; at least one."""
    return text.replace("\r\n", "\n").split("\n")


class Document:
    """A YAML file: `data` is its JSON value, `root` the node tree of the same shape.

    `root` is None where the file holds no tree; `data` leaves out what could not be read.
    """

    def __init__(self, file: str, text: str, root: Node | None, data: Any) -> None:
        self.file = file
        self.text = text
        self.root = root
        self.data = data

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines, without their ends."""
        return split_lines(self.text)

    def span(self, node: Node) -> Span:
        """The place of a node; one that runs over several lines is marked on its first."""
        start, end = node.start_mark, node.end_mark
        if start.line >= len(self.lines):  # what is empty may be said to begin behind the file
            line, column = len(self.lines), len(self.lines[-1]) + 1
            return Span(line, column, line, column)
        line, column = start.line + 1, start.column + 1
        if end.line == start.line:
            return Span(line, column, line, max(end.column + 1, column))
        return Span(line, column, line, max(len(self.lines[start.line]) + 1, column))

    def value(self, path: Path) -> Node:
        """The node of the value at a path; the last one on the way that exists."""
        return self._walk(path)[1]

    def key(self, path: Path) -> Node:
        """The node of the key that ends a path; of the value where the path ends in an index."""
        return self._walk(path)[0]

    def _walk(self, path: Path) -> tuple[Node, Node]:
        assert self.root is not None
        key = node = self.root
        for step in path:
            if isinstance(node, SequenceNode) and isinstance(step, int):
                key = node = node.value[step]
            elif isinstance(node, MappingNode):
                pairs = [pair for pair in node.value if pair[0].value == step]
                if not pairs:
                    break
                key, node = pairs[0]
        return key, node


def origin(node: Node, file: str, rank: Rank) -> Origin:
    """The place of a node as an effective policy records it."""
    mark = node.start_mark
    return Origin(file, mark.line + 1, mark.column + 1, rank)


def is_plain(node: Node) -> bool:
    """Whether a node is a scalar written without quotes."""
    return isinstance(node, ScalarNode) and not node.style


def texts(value: Any) -> list[str]:
    """The texts of a text or of a list; whatever else stands there is passed over."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def text_nodes(value: Any, node: Node) -> list[tuple[str, Node]]:
    """What `texts` gives, each with its node."""
    if isinstance(value, str):
        return [(value, node)]
    if isinstance(value, list):
        return [pair for pair in zip(value, node.value, strict=True) if isinstance(pair[0], str)]
    return []


def members(value: dict[str, Any], node: Node) -> Iterator[tuple[str, Any, Node, Node]]:
    """The members of a mapping: key, value, and the node of each."""
    for (key_node, value_node), (key, inner) in zip(node.value, value.items(), strict=True):
        yield key, inner, key_node, value_node


def _visible(text: str) -> str:
    """A message that holds names out of a file: on one line, nothing hidden, of bounded length."""
    if len(text) > _LONGEST_MESSAGE:
        text = text[:_LONGEST_MESSAGE] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Report:
    """What is wrong, each thing once, in the order found."""

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}

    def error(self, code: str, file: str, span: Span, message: str, mend: str = "") -> None:
        """Something that makes the policy unusable. `mend` says how to put it right."""
        self.extend([Diagnostic(code, "error", file, *span, _visible(message), _visible(mend))])

    def warning(self, code: str, file: str, span: Span, message: str, mend: str = "") -> None:
        """Something most likely not meant, that can be read all the same."""
        self.extend([Diagnostic(code, "warning", file, *span, _visible(message), _visible(mend))])

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take over what another report found."""
        self._found.update(dict.fromkeys(diagnostics))

    def told(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take over what the rule language's checker says of text out of a file."""
        self.extend(
            replace(d, message=_visible(d.message), help=_visible(d.help)) for d in diagnostics
        )

    def of(self, severity: Literal["error", "warning"]) -> tuple[Diagnostic, ...]:
        """Everything of one severity, by file and place."""
        chosen = [d for d in self._found if d.severity == severity]
        order = {file: n for n, file in enumerate(dict.fromkeys(d.file for d in chosen))}
        return tuple(sorted(chosen, key=lambda d: (order[d.file], d.line, d.column)))
