r"""Compiling the regular expressions of policies: RE2's syntax, Unicode classes, bounded programs.

In rules `\w` is L, M, N and Pc, `\d` is Nd and `\s` is White_Space, all of Unicode 14; `\b` is
translated at outer edges (see `regex_edges`). In a field's `pattern` all four keep RE2's meaning,
which is ASCII.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tool_intent.rules.regex_edges import children, translate
from tool_intent.rules.regex_literals import required
from tool_intent.rules.regex_parse import parse
from tool_intent.rules.regex_tree import (
    Alternate,
    Assertion,
    Bracket,
    Char,
    Concat,
    Flags,
    Group,
    Node,
    Opaque,
    PatternError,
    Perl,
    Repeat,
    Span,
    perl_ranges,
)
from tool_intent.runtime.regex import Pattern, program

__all__ = ["FLAGS", "MAX_PROGRAM", "PatternError", "compile_pattern"]

#: Flags a rule may write behind the closing slash.
FLAGS: Final = "ims"
#: Instructions a program may have. One Unicode `\w` takes about 1,350.
MAX_PROGRAM: Final = 10_000
#: Code points a pattern may have.
MAX_LENGTH: Final = 10_000

# White_Space has the vertical tab, which RE2's own `\s` has not; and no class that is negated here
# holds a character beyond ASCII, where folding could bring `k` or `s` back in.
_ASCII: Final = {
    "w": "0-9A-Za-z_",
    "W": r"\x00-/:-@\[-\^`\{-\x7F",
    "d": "0-9",
    "D": r"\x00-/:-\x7F",
    "s": r"\t-\r ",
    "S": r"\x00-\x08\x0E-\x1F!-\x7F",
}


def compile_pattern(pattern: str, flags: str = "", *, unicode_classes: bool) -> Pattern:
    r"""A pattern ready for `tool_intent.runtime.regex.search`.

    `flags` are letters of `FLAGS`; `unicode_classes` is true for rules and false for a field's
    `pattern`. Raises PatternError, whose offset counts code points from the pattern's start.
    """
    for flag in flags:
        if flag not in FLAGS:
            raise PatternError(
                f"`{flag}` is no flag of a pattern", f"known are {', '.join(FLAGS)}", len(pattern)
            )
    _check_text(pattern)
    tree = parse(pattern, flags)
    head = f"(?{''.join(sorted(set(flags)))})" if flags else ""
    if unicode_classes:
        tree = translate(tree)
        text, ascii_text = head + _emit(tree, small=False), head + _emit(tree, small=True)
    else:
        text = ascii_text = head + pattern
    literals, fold = required(tree)
    size = _size(text, tree, small=False)
    ascii_size = size if ascii_text == text else _size(ascii_text, tree, small=True)
    return Pattern(text, ascii_text, size, ascii_size, literals, fold)


def _check_text(pattern: str) -> None:
    if len(pattern) > MAX_LENGTH:
        raise PatternError(
            f"the pattern has {len(pattern):,} characters; the limit is {MAX_LENGTH:,}",
            "put the phrases in a word list and say `mentions`",
            MAX_LENGTH,
        )
    half = next((n for n, char in enumerate(pattern) if "\ud800" <= char <= "\udfff"), None)
    if half is not None:
        raise PatternError(
            "half of a surrogate pair is no character", "write the whole character", half
        )


def _size(text: str, tree: Node, *, small: bool) -> int:
    """How many instructions RE2 makes of it; raises PatternError if too many or if it refuses."""
    import re2

    try:
        size = int(program(text).programsize)
    except re2.error as error:
        said = error.args[0] if error.args else b""
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        if "too large" in reason:
            raise _too_large("over 100,000", tree, small=small) from None
        raise _refused(reason) from None
    if size > MAX_PROGRAM:
        raise _too_large(f"{size:,}", tree, small=small)
    return size


def _too_large(size: str, tree: Node, *, small: bool) -> PatternError:
    wide = not small and any(isinstance(node, Perl) for node in _walk(tree))
    return PatternError(
        f"the pattern is too large: {size} instructions, the limit is {MAX_PROGRAM:,}",
        "write `[A-Za-z0-9_]` for `\\w` where ASCII is meant, or lower the counts"
        if wide
        else "lower the counts, or split it in two conditions",
        0,
    )


def _refused(reason: str) -> PatternError:
    if "repetition size" in reason:
        return PatternError(
            "counts inside counts multiply to over 1,000",
            "lower one of them, or split it in two conditions",
            0,
        )
    return PatternError(
        f"RE2 refuses the pattern: {reason}", "see https://github.com/google/re2/wiki/Syntax", 0
    )


def _walk(node: Node) -> list[Node]:
    return [node, *(found for child in children(node) for found in _walk(child))]


def _emit(node: Node, *, small: bool) -> str:
    """The tree as RE2 text, for ASCII texts if `small`."""
    if isinstance(node, Concat):
        return "".join(_emit(item, small=small) for item in node.items)
    if isinstance(node, Alternate):
        return "|".join(_emit(branch, small=small) for branch in node.branches)
    if isinstance(node, Group):
        return f"{node.head}{_emit(node.body, small=small)})"
    if isinstance(node, Repeat):
        return _emit(node.body, small=small) + node.text
    if isinstance(node, Perl):
        return f"[{_perl(node.letter, small=small)}]"
    if isinstance(node, Bracket):
        inner = "".join(_item(item, small=small) for item in node.items)
        return f"[{'^' if node.negated else ''}{inner}]"
    if isinstance(node, Char | Opaque | Assertion | Flags):
        return node.text
    raise AssertionError(node)


def _item(item: Perl | Opaque | Span, *, small: bool) -> str:
    return _perl(item.letter, small=small) if isinstance(item, Perl) else item.text


@lru_cache(maxsize=16)
def _perl(letter: str, *, small: bool) -> str:
    if small:
        return _ASCII[letter]
    return "".join(f"\\x{{{low:X}}}-\\x{{{high:X}}}" for low, high in perl_ranges(letter))
