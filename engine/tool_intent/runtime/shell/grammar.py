"""From tokens to nested lists of commands, by way of tree-sitter-bash.

The scanner has taken out all that makes shell text hard to parse and slow for the parser
(quotes, expansions, here-documents, comments): tree-sitter gets one placeholder a word. Its
tree is read by a closed table; whatever is not in it is refused.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tool_intent.runtime.shell.tokens import RefusedError, Script, Token

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language, Node

Kind = Literal["list", "subshell", "branch", "loop", "function"]

_KINDS: Final[dict[str, Kind]] = {
    "program": "list",
    "compound_statement": "list",
    "do_group": "list",
    "subshell": "subshell",
    "if_statement": "branch",
    "elif_clause": "branch",
    "else_clause": "branch",
    "case_statement": "branch",
    "case_item": "branch",
    "while_statement": "loop",
    "for_statement": "loop",
    "function_definition": "function",
}
# tree-sitter-bash nests `a | b && c` the wrong way round, so these are read as one flat list.
_FLAT: Final = frozenset({"list", "pipeline", "redirected_statement"})
_HEADER: Final = frozenset({"word", "variable_name", "extglob_pattern"})
_KEYWORDS: Final = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "while",
        "until",
        "for",
        "select",
        "in",
        "do",
        "done",
        "case",
        "esac",
        "function",
        "{",
        "}",
        "(",
        ")",
        ";;",
        ";&",
        ";;&",
        "|",
    ]
)
_CONNECTORS: Final = frozenset({"&&", "||", "|", "|&", ";", "&", "\n"})
_CASE_ENDS: Final = frozenset({";;", ";&", ";;&"})
_CHUNK: Final = 4096


class Simple(NamedTuple):
    """A simple command, or the redirections after a compound one: its tokens in order.

    `joint` is the operator before it in its list (";" at the start).
    """

    joint: str
    tokens: tuple[Token, ...]
    only_redirects: bool = False


class Group(NamedTuple):
    """A list or compound command; `words` are the words of its head (`for NAME in WORDS`).

    `end` is the operator after its last item: "&" where that runs in the background.
    """

    joint: str
    kind: Kind
    items: tuple[Simple | Group, ...]
    words: tuple[Token, ...] = ()
    end: str = ";"


def parse(script: Script) -> Group:
    """The structure of `script`; raises RefusedError where the grammar finds an error."""
    source = _source(script.tokens)
    if not source.strip():
        return Group(";", "list", ())
    from tree_sitter import Parser

    tree = Parser(_language()).parse(_reader(source))
    if tree is None or tree.root_node.has_error or tree.root_node.end_byte < len(source.rstrip()):
        raise RefusedError("not a command of the shell language")
    return _group(tree.root_node, source, script.tokens, ";")


@cache
def _language() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def _reader(source: bytes) -> Callable[[int, object], bytes]:
    """Chunks of `source` for the parser, which backs up on hostile text: the reads are counted."""
    left = 64 + 8 * (len(source) // _CHUNK)

    def read(offset: int, _point: object) -> bytes:
        nonlocal left
        left -= 1
        return source[offset : offset + _CHUNK] if left >= 0 else b""

    return read


def _source(tokens: tuple[Token, ...]) -> bytes:
    parts = []
    for index, token in enumerate(tokens):
        if token.kind == "operator" or token.reserved:
            # The parser knows no `! { …; }`, and a negation changes nothing here.
            parts.append(token.text if token.text != "!" else "")
        else:
            parts.append(f"> w{index}" if token.loose else f"w{index}")
    return (" ".join(parts) + "\n").encode() if parts else b""


def _group(node: Node, source: bytes, tokens: tuple[Token, ...], joint: str) -> Group:
    """`node`, which is compound; recursion is as deep as the scanner let commands nest."""
    items: list[Simple | Group] = []
    words: list[Token] = []
    pending = end = ";"
    stack = list(reversed(node.children))
    while stack:
        child = stack.pop()
        kind = child.type
        if kind in _FLAT:
            stack += reversed(child.children)
        elif kind in _CONNECTORS and not (kind == "|" and node.type == "case_item"):
            pending = kind
            end = kind if kind != "\n" else end
        elif kind in _KEYWORDS:
            if kind in _CASE_ENDS and not node.type.startswith("case_"):
                raise RefusedError(f"{kind} outside of case")
            pending = ";"
        elif kind in ("command", "file_redirect"):
            items.append(_simple(child, source, tokens, pending))
            pending = end = ";"
        elif kind in _HEADER:
            words.append(_token(child, source, tokens))
        elif kind in _KINDS:
            items.append(_group(child, source, tokens, pending))
            pending = end = ";"
        else:
            raise RefusedError(f"{kind} in a place this reader does not know")
    return Group(joint, _KINDS[node.type], tuple(items), tuple(words), end)


def _simple(node: Node, source: bytes, tokens: tuple[Token, ...], joint: str) -> Simple:
    leaves = _leaves(node, source, tokens)
    if node.type == "command":
        return Simple(joint, leaves)
    if [token.kind for token in leaves] != ["redirect"]:
        raise RefusedError("a word after a compound command")
    return Simple(joint, leaves, True)


def _leaves(node: Node, source: bytes, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    found = []
    for child in node.children:
        if child.type == ">" and node.type == "file_redirect":
            continue
        leaf = child.children[0] if child.type == "command_name" else child
        if leaf.type != "word":
            raise RefusedError(f"{leaf.type} in a simple command")
        found.append(_token(leaf, source, tokens))
    return tuple(found)


def _token(node: Node, source: bytes, tokens: tuple[Token, ...]) -> Token:
    text = source[node.start_byte : node.end_byte]
    if text[:1] != b"w" or not text[1:].isdigit():
        raise RefusedError("a reserved word where a word was expected")
    return tokens[int(text[1:])]
