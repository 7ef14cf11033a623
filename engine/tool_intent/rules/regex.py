r"""Compiling the regular expressions of policies: RE2's syntax, Unicode classes, bounded programs.

In rules `\w` is L, M, N and Pc, `\d` is Nd and `\s` is White_Space, all of Unicode 14; `\b` is
translated at outer edges (see `regex_edges`). In a field's `pattern` all four keep RE2's meaning,
which is ASCII.
"""

from __future__ import annotations

from typing import Final

from tool_intent.rules.regex_edges import translate
from tool_intent.rules.regex_emit import emit
from tool_intent.rules.regex_literals import required
from tool_intent.rules.regex_parse import parse
from tool_intent.rules.regex_parts import parts
from tool_intent.rules.regex_tree import Node, PatternError, Perl, walk
from tool_intent.runtime.re2_engine import program
from tool_intent.runtime.regex import Pattern

__all__ = ["FLAGS", "MAX_PROGRAM", "PatternError", "compile_pattern"]

#: Flags a rule may write behind the closing slash.
FLAGS: Final = "ims"
#: Instructions a program may have. One Unicode `\w` takes about 1,350.
MAX_PROGRAM: Final = 10_000
#: Code points a pattern may have.
MAX_LENGTH: Final = 10_000


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
        text, ascii_text = head + emit(tree), head + emit(tree, "ascii")
    else:
        text = ascii_text = head + pattern
    literals, fold = required(tree)
    size = _size(text, tree, small=False)
    ascii_size = size if ascii_text == text else _size(ascii_text, tree, small=True)
    # A field's `pattern` reads what a field holds, which is short.
    alternatives = parts(tree, head) if unicode_classes else ()
    return Pattern(text, ascii_text, size, ascii_size, literals, fold, alternatives)


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
    wide = not small and any(isinstance(node, Perl) for node in walk(tree))
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
